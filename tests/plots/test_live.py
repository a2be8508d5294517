"""Live figures: the page's own test, the explorers, and no heavy import."""

import html
import itertools
import json
import re
import subprocess
import sys

import pytest

from stacklib import hardware, plots, roofline
from stacklib.evidence import guard
from stacklib.plots import spec as grammar
from stacklib.plots.live import choices, compare, decode
from stacklib.plots.live import roofline as roof

EXPLORERS = {"compare": compare, "decode": decode, "roofline": roof}
FEW = ("h100_sxm", "mi300x", "tpu_v5p", "rtx_4090", "wse3", "m4_max")


def start(module):
    return {c["name"]: c["value"] for c in module.controls()}


def show(key="decode"):
    return plots.live(call=f"stacklib.plots.live.{key}:explore",
                      controls=EXPLORERS[key].controls(),
                      name=f"{key}-explorer", alt="an explorer")  # fmt: skip


@pytest.mark.parametrize("key", EXPLORERS)
def test_the_test_in_the_page_is_what_the_function_says(key):
    found = show(key)
    stored = re.search(r'data-test="([^"]*)"', found.html)[1]
    test = json.loads(html.unescape(stored))
    assert test == found.test
    control = next(c for c in found.controls if c["name"] == test["control"])
    kind = control["type"]
    steps = control.get("values") or [value for value, _ in control["options"]]
    to = steps[steps.index(control["value"]) + 1]
    moved = {**start(EXPLORERS[key]), control["name"]: to}
    assert test["keys"] == [{"range": "ArrowRight", "select": "ArrowDown"}[kind]]
    readouts = EXPLORERS[key].explore(**moved)["readouts"]
    assert {r["name"]: r["text"] for r in readouts}[test["readout"]] == test["text"]


@pytest.mark.parametrize("key", EXPLORERS)
def test_the_page_holds_controls_figure_readouts_and_entry(key):
    found = show(key)
    page = found.html
    assert f'id="live-{key}-explorer"' in page
    script = re.search(r"<script[^>]*>(.*?)</script>", page, re.S)[1]
    assert json.loads(script) == json.loads(json.dumps(found.controls))
    assert f'id="fig-{key}-explorer"' in page
    for readout in found.spec["readouts"]:
        assert html.escape(readout["text"]) in page
    bundle = found._repr_mimebundle_()
    assert guard.faults([bundle[guard.MIME]]) == []
    assert bundle == show(key)._repr_mimebundle_()


def few(control):
    """The choices of a menu; of devices one of each sort."""
    values = [value for value, _ in control["options"]]
    return [v for v in values if v in FEW] if "groups" in control else values


@pytest.mark.parametrize("key", ["decode", "roofline"])
def test_every_menu_choice_draws_and_passes_the_guard(key):
    module = EXPLORERS[key]
    menus = {c["name"]: few(c) for c in module.controls() if c["type"] == "select"}
    first = start(module)
    for combination in itertools.product(*menus.values()):
        chosen = {**first, **dict(zip(menus, combination, strict=True))}
        found = module.explore(**chosen)
        grammar.check(found)
        assert guard.faults([grammar.guard_entry(found, "f")]) == [], chosen
        supported = chosen["dtype"] in hardware.get(chosen["device"]).formats
        assert supported or ("publishes no" in found["message"] and not found["marks"])


@pytest.mark.parametrize("key", ["decode", "roofline"])
def test_every_device_of_the_menu_draws_and_passes_the_guard(key):
    module = EXPLORERS[key]
    first = start(module)
    for device, _ in choices.devices():
        found = module.explore(**{**first, "device": device})
        grammar.check(found)
        assert guard.faults([grammar.guard_entry(found, "f")]) == [], device


def test_a_menu_of_devices_is_grouped_and_holds_what_can_be_drawn():
    menu = choices.device("device", "Device", "h100_sxm")
    keys = [key for key, _ in menu["options"]]
    assert len(menu["groups"]) == len(keys) == len(set(keys))
    assert [hardware.get(key).vendor for key in keys] == menu["groups"]
    runs = [g for i, g in enumerate(menu["groups"]) if g not in menu["groups"][:i]]
    assert runs == sorted(runs, key=str.lower), "a vendor stands in one group"
    names = [name for _, name in menu["options"]]
    assert len(names) == len(set(names)), "two devices read alike"
    for key in hardware.names():
        device = hardware.get(key)
        fields = [device.fields[f] for f in ("memory_bandwidth", "memory_capacity")]
        drawn = None not in fields and bool(device.formats)
        assert (key in keys) == (drawn and key != hardware.THIS_MACHINE), key


def test_an_explorer_in_the_browser_reads_only_the_devices_chosen():
    code = (
        "from stacklib import hardware\n"
        "from stacklib.plots.live import compare\n"
        "compare.explore(first='h100_sxm', second='mi300x', third='tpu_v5p',"
        " dtype='bf16')\n"
        "print(hardware._load.cache_info().currsize)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.stdout == "3\n", run.stderr


# -- comparison ---------------------------------------------------------------


def compared(**changed):
    """Cells of the comparison's table by row, for three devices."""
    found = compare.explore(**{**start(compare), **changed})
    grammar.check(found)
    assert guard.faults([grammar.guard_entry(found, "f")]) == []
    return found, {row["head"]: row["cells"] for row in found["table"]["rows"]}


def test_fields_are_compared_with_the_first_device():
    _, rows = compared(first="h100_sxm", second="h200_sxm", third="tpu_v5p")
    first, second, third = rows["memory bandwidth"]
    base = hardware.get("h100_sxm").memory_bandwidth
    assert first["text"] == base.text(digits=4) and "note" not in first
    for cell, key in ((second, "h200_sxm"), (third, "tpu_v5p")):
        ratio = hardware.get(key).memory_bandwidth.si / base.si
        assert cell["note"] == f"{ratio:.3g} times"
        assert cell["tree"]["source"]
    assert rows["bf16, dense"][1]["note"] == "the same"


def test_what_a_device_lacks_has_no_roof_and_no_ratio():
    found, rows = compared(first="b200_sxm", second="h100_sxm", third="h200_sxm",
                           dtype="fp4")  # fmt: skip
    assert "H100, H200: no fp4 rate published" in found["message"]
    assert {mark["device"] for mark in found["marks"]} == {"b200_sxm"}
    assert rows["fp4, dense"][1] == {"text": "none"}


def test_one_device_three_times_is_one_column():
    found, _ = compared(first="h100_sxm", second="h100_sxm", third="h100_sxm")
    assert found["table"]["head"] == ["Field", "H100"]


def test_the_page_shows_the_table_before_python_starts():
    page = show("compare").html
    assert "st-live-table" in page and "memory bandwidth" in page
    assert "data-share" not in page
    shared = plots.live(call="stacklib.plots.live.compare:explore",
                        controls=compare.controls(), name="compare", alt="x",
                        share=True)  # fmt: skip
    assert "data-share" in shared.html


def test_the_decode_explorer_agrees_with_the_model():
    found = decode.explore(device="h200_sxm", dtype="fp8", chips=1, batch=8,
                           context=2048)  # fmt: skip
    step = roofline.decode_step("llama-3-70b", on="h200", dtype="fp8", batch=8,
                                context=2048)  # fmt: skip
    texts = {r["name"]: r["text"] for r in found["readouts"]}
    assert texts["time"] == step.time.text("ms")
    assert found["marks"][-1]["y"] == [pytest.approx(step.time.to("ms").value)]


def test_what_does_not_fit_gets_the_sum_and_no_speed():
    found = decode.explore(device="h100_sxm", dtype="bf16", chips=1, batch=1,
                           context=4096)  # fmt: skip
    assert "> 80 GB on H100: does not fit" in found["message"]
    assert {r["name"] for r in found["readouts"]} == {"need", "have"}
    assert [m["kind"] for m in found["marks"]] == ["band"]


def test_the_roofline_explorer_puts_the_point_on_the_roof():
    found = roof.explore(device="h100_sxm", dtype="bf16", operation="gemv", size=4096)
    point = found["marks"][-1]
    bound = roofline.bound_on(roofline.gemv(n=4096, k=4096), "h100")
    assert point["y"] == [pytest.approx(bound.rate.to("TFLOP/s").value)]
    assert "memory" in found["title"]


# -- planted faults -----------------------------------------------------------


def planted(*, size):
    """A function with one argument, for calls named below."""
    return roof.explore(device="h100_sxm", dtype="bf16", operation="gemv", size=size)


def dead(*, size):
    """A function that ignores its argument."""
    return planted(size=128)


SIZE = choices.slider("size", "Size", (128, 256), 128)


@pytest.fixture
def call_planted(monkeypatch):
    monkeypatch.setitem(sys.modules, "planted_live", sys.modules[__name__])

    def call(function, *controls):
        return plots.live(call=f"planted_live:{function}", controls=controls,
                          name="planted", alt="x")  # fmt: skip

    return call


def test_a_planted_function_shows(call_planted):
    assert call_planted("planted", SIZE).test["control"] == "size"


def test_a_slider_at_its_end_is_tested_the_other_way(call_planted):
    assert call_planted("planted", {**SIZE, "value": 256}).test["keys"] == ["ArrowLeft"]


@pytest.mark.parametrize(
    ("function", "control", "says"),
    [
        ("dead", SIZE, "changes any readout"),
        ("planted", {**SIZE, "value": 7}, "starts at 7"),
        ("planted", {**SIZE, "name": "depth"}, "do not match"),
        ("planted", {**SIZE, "type": "dial"}, "type is one of"),
        (
            "planted",
            {**choices.select("size", "Size", [(1, "one")], 1), "groups": []},
            "a group for each option",
        ),
        ("missing", SIZE, "planted_live:missing"),
    ],
)
def test_a_bad_live_figure_is_refused(call_planted, function, control, says):
    with pytest.raises(plots.SpecError, match=says):
        call_planted(function, control)


BLOCKED = """
import sys
for name in ("numpy", "pandas", "matplotlib"):
    sys.modules[name] = None
import stacklib.plots.live.compare as c
import stacklib.plots.live.decode as d, stacklib.plots.live.roofline as r
from stacklib import plots
from stacklib import pages
from stacklib.evidence import guard, numbers, results
for m in (c, d, r):
    m.explore(**{one["name"]: one["value"] for one in m.controls()})
assert callable(plots.live) and plots.roofline_spec(["h100"], title="t")
[n.tree() for n in numbers.all()]
assert not any(row.failure for row in pages.claims())
try:
    plots.figure
except ImportError:
    print("plain")
"""


def test_evidence_and_live_functions_run_without_numpy():
    run = subprocess.run([sys.executable, "-c", BLOCKED], capture_output=True,
                         text=True, timeout=60)  # fmt: skip
    assert run.stdout == "plain\n", run.stderr

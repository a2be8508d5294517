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
from stacklib.plots.live import choices, decode
from stacklib.plots.live import roofline as roof

EXPLORERS = {"decode": decode, "roofline": roof}


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
    at = control["values"].index(control["value"])
    moved = {**start(EXPLORERS[key]), control["name"]: control["values"][at + 1]}
    assert test["keys"] == ["ArrowRight"]
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


@pytest.mark.parametrize("key", EXPLORERS)
def test_every_menu_choice_draws_and_passes_the_guard(key):
    module = EXPLORERS[key]
    menus = {c["name"]: [v for v, _ in c["options"]]
             for c in module.controls() if c["type"] == "select"}  # fmt: skip
    for combination in itertools.product(*menus.values()):
        chosen = {**start(module), **dict(zip(menus, combination, strict=True))}
        found = module.explore(**chosen)
        grammar.check(found)
        assert guard.faults([grammar.guard_entry(found, "f")]) == [], chosen
        supported = chosen["dtype"] in hardware.get(chosen["device"]).formats
        assert supported or ("publishes no" in found["message"] and not found["marks"])


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
import stacklib.plots.live.decode as d, stacklib.plots.live.roofline as r
from stacklib import plots
from stacklib.evidence import claims, guard, numbers, results
for m in (d, r):
    m.explore(**{c["name"]: c["value"] for c in m.controls()})
assert callable(plots.live) and plots.roofline_spec(["h100"], title="t")
[n.tree() for n in numbers.all()]
[claims.judge(i) for i in claims.checked()]
try:
    plots.figure
except ImportError:
    print("plain")
"""


def test_evidence_and_live_functions_run_without_numpy():
    run = subprocess.run([sys.executable, "-c", BLOCKED], capture_output=True,
                         text=True, timeout=60)  # fmt: skip
    assert run.stdout == "plain\n", run.stderr

"""The explorers: three devices side by side, one token, one operation."""

import itertools
import subprocess
import sys
from functools import partial

import pytest

from stacklib import hardware, plots, roofline
from stacklib.models.weights.mixtures import way
from stacklib.pages.hardware import compare
from stacklib.pages.roofline.decode import live as decode
from stacklib.pages.roofline.roofline import live as roof
from stacklib.plots.live import choices
from stacklib.quantity.stored import products
from stacklib.quantity.times import in_times

from ..live_figures import ask, values

EXPLORERS = {
    module: partial(ask, module.explore, module.controls())
    for module in (compare, decode, roof)
}
HERE = pytest.mark.parametrize("module", [decode, roof], ids=["decode", "roofline"])
FEW = {"h100_sxm", "mi300x", "tpu_v5p", "rtx_4090", "wse3", "m4_max"}


def few(control):
    """The choices of a menu; of devices one of each sort."""
    return [v for v in values(control) if v in FEW or "groups" not in control]


def test_every_menu_choice_draws_and_passes_the_guard():
    menus = {c["name"]: few(c) for c in roof.controls() if c["type"] == "select"}
    for combination in itertools.product(*menus.values()):
        chosen = dict(zip(menus, combination, strict=True))
        found, _ = EXPLORERS[roof](**chosen)
        supported = chosen["dtype"] in hardware.get(chosen["device"]).formats
        assert supported or ("publishes no" in found["message"] and not found["marks"])


def test_weights_in_any_format_draw_wherever_a_chip_multiplies_in_16_bits():
    devices, formats = (values(c) for c in decode.controls()[:2])
    for key, dtype in zip(itertools.cycle(sorted(FEW & {*devices})), formats):
        found, said = EXPLORERS[decode](device=key, dtype=dtype, batch=2)
        chip = hardware.get(key)
        step = roofline.decode_step("llama-3-70b", on=chip, dtype=dtype, batch=2, tp=2)
        if not step.fit.fits:
            assert found["message"] == step.fit.explanation, dtype
            continue
        runs = products(way(dtype).numbers, chip.formats).name
        assert said["time"] == step.time.text("ms") and found["marks"], dtype
        assert f"products in {runs}" in said["formats"]
    unfit, _ = EXPLORERS[decode](device="rubin_cpx", dtype="q4_k_m")
    assert "publishes no bf16 rate; it has fp4" in unfit["message"]


@HERE
def test_every_device_of_the_menu_draws_and_passes_the_guard(module):
    for device, _ in choices.devices():
        EXPLORERS[module](device=device)


def test_an_explorer_in_the_browser_reads_only_the_devices_chosen():
    code = (
        "from stacklib.hardware import devices\n"
        "from stacklib.pages.hardware import compare\n"
        "compare.explore(first='h100_sxm', second='mi300x', third='tpu_v5p',"
        " dtype='bf16')\n"
        "print(devices._load.cache_info().currsize)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.stdout == "3\n", run.stderr


# -- comparison ---------------------------------------------------------------


def compared(**changed):
    """Cells of the comparison's table by row, for three devices."""
    found, _ = EXPLORERS[compare](**changed)
    return found, {row["head"]: row["cells"] for row in found["table"]["rows"]}


def test_fields_are_compared_with_the_first_device():
    _, rows = compared(first="h100_sxm", second="h200_sxm", third="tpu_v5p")
    first, second, third = rows["memory bandwidth"]
    base = hardware.get("h100_sxm").memory_bandwidth
    assert first["text"] == base.text(digits=4) and "note" not in first
    for cell, key in ((second, "h200_sxm"), (third, "tpu_v5p")):
        ratio = hardware.get(key).memory_bandwidth.si / base.si
        words = "times|about the same|times less"
        assert cell["note"] == in_times(ratio, words, 3)
        assert cell["tree"]["source"]
    assert rows["bf16, dense"][1]["note"] == "the same"


def test_what_a_device_lacks_has_no_roof_and_no_ratio():
    found, rows = compared(
        first="b200_sxm", second="h100_sxm", third="h200_sxm", dtype="fp4"
    )
    assert "H100, H200: no fp4 rate published" in found["message"]
    assert {mark["device"] for mark in found["marks"]} == {"b200_sxm"}
    assert rows["fp4, dense"][1] == {"text": "none"}


def test_one_device_three_times_is_one_column():
    found, _ = compared(first="h100_sxm", second="h100_sxm", third="h100_sxm")
    assert found["table"]["head"] == ["Field", "H100"]


def test_the_page_shows_the_table_before_python_starts():
    call = f"{compare.__name__}:explore"
    show = partial(plots.live, call=call, controls=compare.controls(), name="compare")
    page = show(alt="x").html
    assert "st-live-table" in page and "memory bandwidth" in page
    assert "data-share" not in page
    assert "data-share" in show(alt="x", share=True).html


# -- one token, one operation -------------------------------------------------


def test_the_decode_explorer_agrees_with_the_model():
    found = decode.explore(
        device="h200_sxm", dtype="fp8", chips=1, batch=8, context=2048
    )
    step = roofline.decode_step(
        "llama-3-70b", on="h200", dtype="fp8", batch=8, context=2048
    )
    texts = {r["name"]: r["text"] for r in found["readouts"]}
    assert texts["time"] == step.time.text("ms")
    assert found["marks"][-1]["y"] == [pytest.approx(step.time.to("ms").value)]


def test_what_does_not_fit_gets_the_sum_and_no_speed():
    found = decode.explore(
        device="h100_sxm", dtype="bf16", chips=1, batch=1, context=4096
    )
    assert "> 80 GB on H100: does not fit" in found["message"]
    assert {r["name"] for r in found["readouts"]} == {"need", "have"}
    assert [m["kind"] for m in found["marks"]] == ["band"]


def test_the_roofline_explorer_puts_the_point_on_the_roof():
    found = roof.explore(device="h100_sxm", dtype="bf16", operation="gemv", size=4096)
    point = found["marks"][-1]
    bound = roofline.bound_on(roofline.gemv(n=4096, k=4096), "h100")
    assert point["y"] == [pytest.approx(bound.rate.to("TFLOP/s").value)]
    assert "memory" in found["title"]

"""Which GPU: what the live table says is what ``decode_step`` returns."""

from functools import partial

import pytest

from stacklib import hardware, models, roofline
from stacklib.pages.roofline.journey import which_gpu
from stacklib.plots import spec as grammar

from ...live_figures import ask

which = partial(ask, which_gpu.explore, which_gpu.controls())


@pytest.mark.rows("model", which_gpu.MODELS)
@pytest.mark.rows("device", ["b200_sxm", "rtx_4090", "mi300x"])
def test_the_fewest_chips_are_the_fewest(model, device):
    found = which_gpu.choose(model, device, "bf16", 1, 4096)
    fewer = [c for c in which_gpu.CHIPS if c < found.chips]
    for chips in fewer:
        step = roofline.decode_step(model, on=device, dtype="bf16", tp=chips)
        assert not step.fit.fits
    assert found.step.fit.fits or found.chips == 8


def test_what_is_predicted_is_the_bound_over_the_share_that_kernels_get():
    found, said = which(
        model="llama-3-70b", device="h100_sxm", dtype="bf16", batch=1, context=4096
    )
    step = roofline.decode_step("llama-3-70b", on="h100_sxm", tp=2)
    share = hardware.efficiency_quantity("dram_read").si
    least, time = (float(said[k].split()[0]) for k in ("least", "time"))
    assert least == pytest.approx(step.time.si * 1e3, rel=5e-3)
    assert time == pytest.approx(least / share, rel=5e-3)
    assert "rows never seen" in said["band"] and found["message"] is None


def test_what_does_not_fit_has_no_time():
    found, said = which(
        model="llama-3-70b", device="rtx_4090", dtype="bf16", batch=64, context=65536
    )
    assert "does not fit" in found["message"] and "time" not in said
    (row,) = [r for r in found["table"]["rows"] if r["head"] == "RTX 4090"]
    assert row["cells"][2]["text"] == "does not fit"


@pytest.mark.rows("dtype", ["fp8", "q8_0", "q4_k_m", "awq", "nvfp4"])
def test_weights_that_a_chip_cannot_multiply_are_widened(dtype):
    asked = {"model": "llama-3-8b", "dtype": dtype, "batch": 1, "context": 1024}
    found, said = which(device="rtx_3090", **asked)
    assert found["message"] is None and "products in bf16" in said["formats"]
    step = roofline.decode_step("llama-3-8b", on="rtx_3090", dtype=dtype, context=1024)
    assert said["least"] == step.time.text("ms")


def test_a_chip_without_a_rate_says_which_it_has():
    asked = {"model": "llama-3-8b", "dtype": "q4_k_m", "batch": 1, "context": 1024}
    found, said = which(device="rubin_cpx", **asked)
    assert "publishes no bf16 rate; it has fp4" in found["message"] and not said


def test_every_choice_is_a_figure():
    for model in which_gpu.MODELS:
        made = which_gpu.explore(
            model=model, device="b200_sxm", dtype="bf16", batch=8, context=4096
        )
        grammar.check(made)
        assert models.get(model).name in made["title"]

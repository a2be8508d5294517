"""The claims of chapter 7: what each stands on, held to an oracle."""

import math

import numpy as np
import pytest

from stacklib import hardware
from stacklib.pages.accelerators.bytes import claims as bytes_
from stacklib.pages.quantizers.blocks import claims as blocks
from stacklib.pages.quantizers.decode import claims as decode
from stacklib.pages.quantizers.formats import claims as formats
from stacklib.pages.quantizers.integers import claims as integers
from stacklib.pages.quantizers.kv import claims as kv
from stacklib.pages.quantizers.quality import claims as quality
from stacklib.pages.quantizers.training import claims as training
from stacklib.pages.quantizers.weights import claims as weights
from stacklib.quantizers import FORMATS, SCHEMES, Format, Row, byte_split


def test_a_format_that_ends_elsewhere_loses_its_verdict(monkeypatch):
    assert formats.reach("e4m3fn").to.si == 448
    monkeypatch.setitem(FORMATS, "e4m3fn", Row(4, 3, 7, "ieee"))
    assert formats.reach("e4m3fn").to.si == 240


@pytest.mark.parametrize(("name", "kind"), [("fp32", np.float32), ("fp16", np.float16)])
def test_digits_and_range_are_those_that_numpy_states(name, kind):
    told = np.finfo(kind)
    assert formats.kept_digits(name) == told.precision
    assert formats.digits(name) == pytest.approx((told.nmant + 1) * math.log10(2))
    assert Format(name).largest == float(told.max)
    assert Format(name).least_normal == float(told.smallest_normal)


def test_blackwell_multiplies_one_four_bit_float_and_papers_have_two():
    assert formats.four_bit_layouts(("e2m1", "e3m0", "e4m3fn", "int4")) == [
        "e2m1",
        "e3m0",
    ]
    assert formats.layouts().computed.si == 1


def test_the_sample_loses_what_plain_numpy_says():
    x = integers.sample().astype(np.float64)
    for scheme, axis in (("int8_channel", 1), ("int8_tensor", None)):
        step = np.abs(x).max(axis=axis, keepdims=True) / 127
        error = np.abs(x - np.clip(np.round(x / step), -128, 127) * step).mean()
        assert integers.mean_error(scheme) == pytest.approx(error, rel=1e-3)
    assert integers.expected_error() == pytest.approx(0.00677, rel=0.005)
    assert integers.mean_error("int8_channel") > 3 * 0.002


def test_a_sample_that_is_smaller_loses_less():
    assert integers.mean_error("int8_channel", 64) < integers.mean_error("int8_channel")


# -- log grids and bytes -----------------------------------------------------------


def test_the_ladder_on_a_log_grid_is_off_as_a_search_finds():
    speeds = [10_000 ** (-i / 64) for i in range(64)]
    step = math.log(speeds[0] / speeds[-1]) / 255
    grid = [math.exp(-step * code) for code in range(256)]
    worst = max(min(abs(g / s - 1) for g in grid) for s in speeds)
    assert bytes_.on_spread_grid(10_000, 128) == pytest.approx(worst, rel=0.03)
    assert bytes_.on_dividing_grid(10_000, 128) == 0
    assert bytes_.worst_error(10_000, 128, bytes_.dividing_step(10_000, 128) * 1.01) > 0
    linear = [round(255 * s) for s in speeds]
    assert bytes_.lost(10_000, 128) == linear.count(0)


def test_two_lanes_multiply_every_sample_exactly():
    sample = np.arange(1 << int(bytes_.SAMPLE.si))[:, None]
    other = np.arange(-128, 128)[None]
    assert (byte_split(sample, other).product == sample * other).all()


# -- blocks ------------------------------------------------------------------------


def test_finer_blocks_gain_with_exact_scales_and_lose_with_powers_of_two():
    for name in blocks.DRAWN:
        fine, coarse = (blocks.with_exact_scales(name, n) for n in (32, 128))
        assert fine > coarse
        told = blocks.signal_to_error(name, "fp8_1x128")
        assert coarse == pytest.approx(told, abs=0.05)
        assert blocks.signal_to_error(name, "mxfp8_e4m3") < told


def test_grids_of_four_bits():
    assert min(blocks.steps("e2m1")) == pytest.approx(0.5 / 6)
    assert blocks.steps("int4") == pytest.approx([1 / 7] * 15)
    assert blocks.within("e2m1", 1 / 4) == 7 and blocks.within("int4", 1 / 4) == 3
    assert blocks.overhead("fp8_128x128") == 32 / 128**2


def test_a_scheme_with_other_blocks_changes_its_check(monkeypatch):
    other = type(SCHEMES["nvfp4"])("nvfp4", "nvfp4", 4, 32, 8, "e2m1", "", "planted")
    before = blocks.weights_per_byte().computed.si
    monkeypatch.setitem(SCHEMES, "nvfp4", other)
    assert before == 8 / 4.5 and blocks.weights_per_byte().computed.si == 8 / 4.25


# -- peaks, power, memory ------------------------------------------------------------


def test_a_generation_splits_into_silicon_and_bits():
    total = decode.over_volta("b200_sxm", "fp4").si
    same = decode.over_volta("b200_sxm", "bf16").si
    assert total == pytest.approx(same * 16 / 4, rel=0.01)
    volta = hardware.get("v100_sxm2_16gb").peak("fp16")
    assert same == pytest.approx(
        (hardware.get("b200_sxm").peak("bf16") / volta).si, rel=0.01
    )


def test_eight_bits_save_energy_and_no_power():
    for account in ("circuit", "board"):
        assert 0.4 < kv.energy_saved(account).si < 0.5
        assert kv.power_saved(account).si < 0
        shared = kv.saved_at_one_rate(account).si
        assert 0 < shared < kv.energy_saved(account).si
    assert kv.saved_at_one_rate("circuit").si < kv.saved_at_one_rate("board").si


def test_a_page_of_keys_is_as_small_as_its_bits():
    for scheme in ("fp8_1x128", "int4_g128", "q8_0", "q4_0"):
        assert kv.cut(scheme).si == pytest.approx(16 / SCHEMES[scheme].bits)


def test_quantizing_costs_the_inverse_of_the_columns():
    one = training.overhead(training.moved(1, 1), training.expert_width())
    two = training.overhead(training.moved(1, 1), 2 * training.expert_width())
    assert one.si == pytest.approx(2 * two.si)
    chip, n = hardware.get("b200_sxm"), training.expert_width().si
    by_hand = (3 + 1 / 32) / chip.memory_bandwidth.si * chip.peak("fp8").si / (2 * n)
    assert one.si == pytest.approx(by_hand)
    both = training.overhead(training.moved(1, 2), training.expert_width())
    assert one.si < both.si < 2 * one.si


def test_a_tile_is_scaled_in_the_ratio_of_the_peaks():
    for name in ("h100_sxm", "b200_sxm"):
        chip = hardware.get(name)
        ratio = chip.peak("fp8").si / chip.peak("fp32").si / 128
        assert training.promotion(name).si == pytest.approx(ratio)


def test_qlora_of_seven_billion_fits_and_of_seventy_does_not():
    capacity = hardware.get(training.CARD).memory_capacity
    shape = {"rank": training.RANK, "batch": training.BATCH}
    small, large = (
        training.qlora_memory(name, context=training.CONTEXT, **shape)
        for name in (training.TUNED, "llama-2-70b")
    )
    assert small.left(capacity).si > 0 > large.left(capacity).si


def test_awq_stores_every_channel_in_as_many_bits():
    found = weights.scaled().quantized
    codes = np.asarray(found.codes)
    assert len(np.unique(codes)) <= 16
    assert found.bits == SCHEMES[weights.SCHEME].bits
    plain, better = weights.errors()
    assert better < plain and weights.output_gain() > 1
    assert weights.scaled().alpha > 0


def test_losses_are_those_of_the_published_rows():
    assert quality.loss("G-0118").si == pytest.approx(1 - 80.0 / 80.4)
    assert quality.loss("G-0119").si == pytest.approx(1 - 80.3 / 80.9)
    assert quality.perplexity_rise().si == pytest.approx(12.843 / 12.212 - 1)

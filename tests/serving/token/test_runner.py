"""How a runner's kernels meet the tokens of a prompt: by device, format and date."""

import pytest

from stacklib.hardware import efficiency, efficiency_override, get
from stacklib.quantity.keys import keys_of
from stacklib.roofline.bound import hierarchy
from stacklib.serving import estimate
from stacklib.serving.estimates import losses, steady
from stacklib.serving.estimates.step import step_of
from stacklib.serving.token import runner
from stacklib.serving.token.runner import INT8, LANES, WIDENED
from stacklib.serving.token.shape import PRODUCTS

NARROW, WIDE = "q4_k_m", "fp16"


def step(device, dtype=NARROW, model="llama-3-8b"):
    return step_of((*keys_of(model, device, dtype, None), 1, 1), "engine", "calibrated")


@pytest.mark.rows(
    ("device", "dtype", "kernels", "found"),
    [
        ("rtx_4090", NARROW, INT8, INT8),
        ("rtx_4090", NARROW, WIDENED, WIDENED),
        ("rtx_4090", WIDE, INT8, WIDENED),
        ("rtx_2080_ti", NARROW, INT8, INT8),
        ("v100_pcie_32gb", NARROW, INT8, WIDENED),  # no tensor cores for integers
        ("rx_7900_xtx", NARROW, INT8, WIDENED),
        ("tesla_p40", NARROW, WIDENED, LANES),  # no tensor cores, whatever the date
        ("mi50_32gb", NARROW, INT8, LANES),
        ("mi50_32gb", WIDE, INT8, ""),
        ("p100_sxm2", NARROW, INT8, ""),  # nor a rate of integers
        ("rtx_4090", NARROW, "", ""),  # no runner
        ("m1_max", NARROW, WIDENED, ""),  # widened in registers
    ],
)
def test_the_way_follows_device_format_and_date(device, dtype, kernels, found):
    assert runner.way(step(device, dtype).frame, kernels) == found


def test_a_kernel_of_metal_takes_what_an_engines_does():
    one = step("m1_max")
    assert losses.widened(one, 512.0) == one.line(PRODUCTS, 512.0)


def test_integers_are_of_the_units_for_many_rows_and_of_the_memory_for_few():
    one, device = step("rtx_4090"), get("rtx_4090")
    read = one.frame.shape.parts[PRODUCTS].bytes
    read /= device.memory_bandwidth.si * efficiency("dram_gemm")
    assert runner.integers_time(one.frame, 2.0)[1] == pytest.approx(read)
    assert losses.widened(one, 2.0) > read
    slow, fast = (losses.widened(one, rows) for rows in (8192.0, 4096.0))
    assert slow == pytest.approx(2 * fast, rel=0.02)


def test_lanes_take_as_much_longer_as_they_make_fewer_operations_a_cycle():
    """Of one model, times at equal clock and units: the sheet's rates decide."""
    p40, rtx = (step(d) for d in ("tesla_p40", "rtx_2080_ti"))
    slow, fast = (runner.integers_time(x.frame, 512.0)[0] for x in (p40, rtx))
    a, b = get("tesla_p40"), get("rtx_2080_ti")
    cycles = b.compute_units.si * b.peak_clock("int8").si * runner.WARP
    assert slow / fast == pytest.approx(cycles / a.peak("int8").si, rel=0.02)
    # published, of a Q8_0 in December 2023: 894 tokens a second
    old = step("tesla_p40", "q8_0", "llama-2-7b")
    assert 512 / losses.widened(old, 512.0) == pytest.approx(894, rel=0.3)


def test_few_rows_of_an_expert_are_a_tile_all_the_same():
    """A sixteenth of the rows, but each of 128 experts is unpacked as often."""
    one = step("rtx_4090", model="qwen3-30b-a3b")
    few, many = (losses.widened(one, rows) for rows in (256.0, 4096.0))
    assert 16 * few > 2.5 * many


def test_sums_in_16_bits_are_twice_as_fast_on_a_geforce_alone():
    for device, times in (("rtx_3090", 0.5), ("a100_pcie_80gb", 1.0)):
        one = step(device, WIDE)
        found, widening = runner.widened_time(one.frame, 512.0)
        assert widening == 0
        assert found == pytest.approx(times * one.line(PRODUCTS, 512.0), rel=0.1)


def test_widening_reads_and_writes_every_weight_once_a_pass():
    frame, device = step("a100_pcie_80gb").frame, get("a100_pcie_80gb")
    _, found = runner.widened_time(frame, 512.0)
    numbers = frame.shape.parts[PRODUCTS].flops / 2
    moved = frame.shape.parts[PRODUCTS].bytes + 2 * numbers
    drawn = device.memory_bandwidth.si * efficiency("dram_gemm")
    asked = hierarchy.delivered(device, runner.TURN, drawn)
    assert found == pytest.approx(moved / asked) and asked < 0.6 * drawn
    assert runner.widened_time(frame, 64.0)[1] == found


def test_experts_are_unpacked_by_their_kernel_and_pay_for_their_grouping_once():
    """117 GB would be written otherwise, and an engine's loss stand beside a share."""
    one = step("strix_halo_395", "mxfp4_moe", "gpt-oss-120b")
    assert runner.way(one.frame) == runner.WIDENED
    multiplied, widening = runner.widened_time(one.frame, 512.0)
    assert widening < 0.2 * one.experts(512.0) < multiplied
    told = steady.prompt_time(one, 512.0, 512, runner.INT8)
    both = losses.uneven(one, 512.0) + losses.widened(one, 512.0)
    assert losses.widened(one, 512.0) < told < both
    asked = {"on": "strix-halo-395", "dtype": "mxfp4_moe", "prompt": 512}
    found = estimate("gpt-oss-120b", **asked, software="runner")
    assert found.ttft.si == pytest.approx(told, rel=0.02)


def test_what_is_kept_does_not_hide_a_factor():
    one = step("rtx_3090", WIDE)
    before = losses.widened(one, 512.0)
    with efficiency_override({"runner_library": efficiency("runner_library") / 2}):
        assert losses.widened(one, 512.0) == pytest.approx(2 * before)
    assert losses.widened(one, 512.0) == before

"""Peaks by hand, by counting and as printed; tiles and waves; the instruction table."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib import gpu, hardware
from stacklib.gpu.tensor.peaks import count_peak, matching_bases, peak_by_hand, per_mac
from stacklib.gpu.tensor.tile_waves import run_blocks
from stacklib.hardware import UnknownSpec
from stacklib.quantity import Quantity, UnknownName

from ...rows import refusals


@given(
    st.integers(1, 40),
    st.integers(1, 8),
    st.integers(1, 6),
    st.integers(1, 5),
    st.integers(1, 9),
)
def test_the_count_equals_the_product_when_work_shares_out(u, cores, log, each, rounds):
    macs = 2**log
    counted = count_peak(
        units=u,
        cores=cores,
        macs_per_core=macs,
        clock=1e9,
        each=each * macs,
        count=u * cores * rounds,
    )
    assert counted == pytest.approx(peak_by_hand(u, cores * macs, 1e9))
    short = count_peak(
        units=u,
        cores=cores,
        macs_per_core=macs,
        clock=1e9,
        each=each * macs,
        count=u * cores * rounds + 1,
    )
    assert short < counted or u * cores == 1


HEADLINES = [
    ("rtx-4090", "fp16", "fp16", False, 330),
    ("rtx-5090", "fp16", "fp16", False, 419),
    ("rtx-5090", "fp16", "fp16", True, 838),
    ("a100", "fp16", None, False, 312),
    ("h100", "bf16", None, False, 989),
    ("h100", "fp8", None, False, 1979),
    ("b200", "bf16", None, False, 2250),
    ("b200", "fp4", None, False, 9000),
    ("mi300x", "bf16", None, False, 1307),
    ("l40s", "fp16", None, False, 362),
]


@pytest.mark.rows(("key", "dtype", "sums", "sparse", "tflops"), HEADLINES)
def test_headlines(key, dtype, sums, sparse, tflops):
    row = gpu.peak_of(key, dtype, sums)
    gain = row.device.peaks[row.name].sparse_factor if sparse else 1
    assert row.built.si * gain / 1e12 == pytest.approx(tflops, rel=0.015)


def test_widths_of_a_unit():
    assert gpu.peak_of("b200", "fp4").macs.si == 16384
    assert gpu.peak_of("h100", "fp8").macs.si == 4096


def test_every_built_rate_is_near_the_printed_one_or_the_file_says_why():
    far = [r for r in gpu.peaks() if abs(r.gap) > 0.02 and not r.implied]
    for row in far:
        assert f"peak.{row.name}" in row.device.inconsistent, (row.device.key, row.name)
    assert len(far) < 10 < 100 < len({r.device.key for r in gpu.peaks()})


def test_an_implied_clock_returns_its_own_peak():
    row = gpu.peak_of("b200", "bf16")
    assert row.implied and row.gap == pytest.approx(0, abs=1e-12)
    assert not gpu.peak_of("h100", "bf16").implied


def test_bases_of_a_printed_rate():
    def texts(key, rate):
        return [b.text for b in matching_bases(key, rate, ("fp16",))]

    assert texts("rtx-4090", 330e12) == [
        "fp16, fp32 sums, sparse",
        "fp16, fp16 sums, dense",
    ]
    assert texts("l40s", Quantity(362, "TFLOP/s")) == ["fp16, fp32 sums, dense"]
    assert texts("h100", 123e12) == []
    with pytest.raises(ValueError, match="above zero"):
        matching_bases("h100", 0)


def test_peak_by_hand_takes_quantities_and_arrays():
    clock = Quantity(1.83, "GHz", label="clock")
    macs = Quantity(2048, "MAC/cycle", label="multiply-adds")
    built = peak_by_hand(132, macs, clock, each=per_mac("bf16"))
    assert built.to("TFLOP/s").value == pytest.approx(989.43)
    many = peak_by_hand(np.array([1, 2]), 2.0, 3.0)
    assert many.tolist() == [12, 24]


@given(
    st.integers(1, 600),
    st.integers(1, 600),
    st.sampled_from([16, 64, 128]),
    st.sampled_from([32, 256]),
    st.integers(1, 9),
    st.integers(1, 3),
)
@settings(max_examples=60, deadline=None)
def test_waves_equal_blocks_handed_out(m, n, rows, columns, units, at_once):
    closed = gpu.tile_waves(
        m=m, n=n, rows=rows, columns=columns, units=units, at_once=at_once
    )
    asked = [
        min(rows, m - i) * min(columns, n - j)
        for i in range(0, m, rows)
        for j in range(0, n, columns)
    ]
    done = run_blocks([1.0] * len(asked), units * at_once)
    assert closed.blocks == len(asked) and closed.waves == done.time
    assert closed.wave_share == pytest.approx(done.share)
    assert closed.tile_share == pytest.approx(
        sum(asked) / (len(asked) * rows * columns)
    )
    assert closed.share <= 1


def test_one_block_too_many():
    full = gpu.tile_waves(m=128 * 132, n=256, rows=128, columns=256, units=132)
    more = gpu.tile_waves(m=128 * 133, n=256, rows=128, columns=256, units=132)
    assert (full.share, more.waves) == (1, 2)
    assert more.share == pytest.approx(133 / 264)


def test_blocks_of_unlike_length():
    done = run_blocks([3, 1, 1, 1], 2)
    assert (done.time, done.by_unit, done.share) == (3, (1, 3), 1)


@pytest.mark.rows(
    ("on", "name", "threads", "shape"),
    [
        ("7.0", "mma.sync", 32, "m8n8k4"),
        ("a100", "mma.sync", 32, "m16n8k16"),
        ("h100", "wgmma.mma_async", 128, "m64n256k16"),
        ("b200", "tcgen05.mma", 1, "m256n256k16"),
        ("rtx-5090", "mma.sync", 32, "m16n8k16"),
    ],
)
def test_instruction_of_an_architecture(on, name, threads, shape):
    found = gpu.instruction(on)
    form = "fp16"
    assert (found.name, found.threads, found.shape(form)) == (name, threads, shape)
    rows, columns, k = (
        int(x) for x in shape[1:].replace("n", " ").replace("k", " ").split()
    )
    assert found.macs(form) == rows * columns * k


def test_only_the_widest_of_blackwell_needs_a_pair_of_units():
    """No unit holds more than 128 rows of sums; with 256, two blocks share them."""
    for on in ("v100_sxm2_16gb", "a100", "h100", "b200", "rtx_5090"):
        found = gpu.instruction(on)
        assert found.units == math.ceil(found.rows[-1] / 128)
    assert gpu.instruction("b200").units == 2


def test_every_nvidia_tensor_device_has_an_instruction():
    for key in hardware.names():
        device = hardware.get(key)
        if device.vendor == "NVIDIA" and device.compute_capability not in (
            "",
            "6.0",
            "6.1",
        ):
            try:
                gpu.instruction(device)
            except UnknownSpec as unknown:
                assert device.compute_capability in ("10.7", "11.0"), unknown


ONE = {"units": 1, "cores": 1, "macs_per_core": 1, "clock": 1, "each": 4, "count": 1}


test_bad_input = refusals(
    (lambda: peak_by_hand(0, 1, 1), "units = 0"),
    (lambda: peak_by_hand(1, float("nan"), 1), "macs = nan"),
    (lambda: peak_by_hand(1, True, 1), "macs = True"),
    (lambda: gpu.tile_waves(m=0, n=1, rows=1, columns=1, units=1), "m = 0"),
    (lambda: run_blocks([], 3), "no blocks"),
    (lambda: run_blocks([1.0, float("nan")], 3), "a block takes nan"),
    (lambda: run_blocks([1.0], True), "places = True"),
    (lambda: count_peak(**{**ONE, "macs_per_core": 3}), "take no whole cycles at 3"),
    (lambda: count_peak(**{**ONE, "clock": -1}), "clock = -1"),
    (lambda: count_peak(**{**ONE, "cores": True}), "cores = True"),
)


def test_unknown_things_are_named():
    with pytest.raises(UnknownSpec, match=r"10\.7"):
        gpu.instruction("rubin")
    with pytest.raises(UnknownSpec, match="unknown"):
        gpu.peak_of("rubin", "fp4")
    with pytest.raises(UnknownName, match="fp16"):
        gpu.instruction("7.0").shape("fp8")

"""nvidia-smi read into a spec sheet: rates now and at best, and what misleads."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stacklib import gpu, hardware
from stacklib.gpu.chip.spec_sheet import busy_share, device_of_reading, pcie_rate
from stacklib.hardware import UnknownSpec, read_smi, smi_sample
from stacklib.hardware.nvidia_smi import SmiReading
from stacklib.quantity import Quantity

BUSY = read_smi(smi_sample("h100_busy"))[0]
IDLE = read_smi(smi_sample("rtx4090_idle"))[0]
# name as printed, highest memory clock as printed (MHz), device
NAMES = (
    ("NVIDIA H100 80GB HBM3", 2619, "h100_sxm"),
    ("NVIDIA GeForce RTX 4090", 10501, "rtx_4090"),
    ("NVIDIA GeForce RTX 5090", 14001, "rtx_5090"),
    ("NVIDIA A100-SXM4-80GB", 1593, "a100_sxm_80gb"),
    ("Tesla V100-SXM2-16GB", 877, "v100_sxm2_16gb"),
    ("Tesla T4", 5001, "t4"),
    ("NVIDIA B200", 3996, "b200_sxm"),
)


@pytest.mark.rows(("name", "clock", "key"), NAMES)
def test_two_transfers_a_clock_whatever_the_memory(name, clock, key):
    """Pins times twice the printed clock is the published bandwidth."""
    device = device_of_reading(SmiReading(name=name))
    assert device.key == key
    built = device.memory_pins.si * 2 * clock * 1e6 / 8
    assert built == pytest.approx(device.memory_bandwidth.si, rel=0.02)


def test_a_busy_h100():
    sheet = gpu.spec_sheet(BUSY)
    assert sheet.bandwidth.si == pytest.approx(5120 * 2 * 2619e6 / 8)
    assert sheet.peak_now.si == pytest.approx(sheet.peak.si * 1395 / 1830)
    assert sheet.ridge_now.si < sheet.ridge.si
    assert sheet.memory.si == 81559 * 2**20 > sheet.device.memory_capacity.si
    assert sheet.link.si == sheet.link_now.si
    said = " ".join(sheet.findings)
    assert "SW Power Cap" in said and "never without a kernel" in said
    assert "lanes:" not in said and "generation" not in said


def test_an_idle_4090_in_a_narrow_slot():
    sheet = gpu.spec_sheet(IDLE)
    assert sheet.link_now.si == pytest.approx(2e9)
    assert sheet.link.si == pytest.approx(31.5e9, rel=0.01)
    said = " ".join(sheet.findings)
    assert "8 of 16 lanes" in said and "it is idle" in said and "ecc, mig" in said


def test_generation_one_under_load_is_a_fault():
    state = replace(IDLE, state="P2", reasons=())
    assert "under load it should not" in " ".join(gpu.spec_sheet(state).findings)
    mig = replace(BUSY, mig=True, ecc=False)
    said = " ".join(gpu.spec_sheet(mig).findings)
    assert "MIG is on" in said and "Error correction is off" in said


@pytest.mark.rows(("generation", "rate"), [(1, 4), (2, 8), (3, 15.75), (4, 31.5)])
def test_pcie_by_hand(generation, rate):
    gen = Quantity(generation, label="generation")
    full = pcie_rate(gen, Quantity(16, label="lanes"))
    half = pcie_rate(gen, Quantity(8, label="lanes"))
    assert full.si == pytest.approx(rate * 1e9, rel=0.001)
    assert half.si == pytest.approx(full.si / 2)


def test_what_is_missing_is_named():
    with pytest.raises(UnknownSpec, match="memory_clock"):
        gpu.spec_sheet(replace(BUSY, memory_clock=None))
    with pytest.raises(UnknownSpec, match="no product name"):
        gpu.spec_sheet(replace(BUSY, name=None))
    with pytest.raises(LookupError, match="did you mean"):
        gpu.spec_sheet(replace(BUSY, name="NVIDIA H1000"))
    with pytest.raises(hardware.UnknownSpec, match="fp4"):
        gpu.spec_sheet(BUSY, "fp4")


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(0, 20)), max_size=8))
def test_utilization_is_the_seconds_with_any_kernel(kernels):
    """Counted second by second; overlaps count once, the rest of the period not."""
    spans = [(float(begin), float(begin + length)) for begin, length in kernels]
    seconds = {s for begin, length in kernels for s in range(begin, begin + length)}
    counted = len([s for s in seconds if s < 50]) / 50
    assert busy_share(spans, 50.0) == pytest.approx(counted)


def test_one_thread_is_full_utilization():
    assert busy_share([(0.0, 2.0)], 1.0) == 1.0
    with pytest.raises(ValueError, match="period = 0"):
        busy_share([], 0)
    with pytest.raises(ValueError, match="period = nan"):
        busy_share([], float("nan"))
    with pytest.raises(ValueError, match=r"from 2\.0 s to 1\.0 s"):
        busy_share([(2.0, 1.0)], 3.0)

"""nvidia-smi's output: both formats, old and new names, and what is not its output."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stacklib.hardware import read_smi, smi_sample
from stacklib.hardware.nvidia_smi import SmiError, smi_samples

from ..rows import refusals

BUSY, IDLE = smi_sample("h100_busy"), smi_sample("rtx4090_idle")


def test_the_tree():
    (found,) = read_smi(BUSY)
    assert found.name == "NVIDIA H100 80GB HBM3" and found.driver == "580.95.05"
    assert found.memory.to("MiB").value == 81559
    assert (found.clock.to("MHz").value, found.clock_max.to("MHz").value) == (
        1395,
        1980,
    )
    assert found.power.to("W").value == pytest.approx(697.12)
    assert (found.generation.si, found.lanes.si, found.lanes_max.si) == (5, 16, 16)
    assert found.ecc is True and found.mig is False and found.busy.si == 1
    assert found.reasons == ("SW Power Cap",) and found.unknown == ()


def test_the_table():
    (found,) = read_smi(IDLE)
    assert found.memory.to("MiB").value == 24564 and found.state == "P8"
    assert (found.generation.si, found.generation_max.si) == (1, 4)
    assert (found.lanes.si, found.lanes_max.si) == (8, 16)
    assert found.reasons == ("Idle",) and found.unknown == ("ecc", "mig")


def test_bar1_is_not_the_memory():
    """The planted trap: another Total, further down."""
    assert read_smi(BUSY)[0].memory.to("MiB").value != 131072


def test_old_names_are_read():
    old = BUSY.replace("Clocks Event Reasons", "Clocks Throttle Reasons")
    old = old.replace("GPU Power Readings", "Power Readings")
    old = old.replace("Average Power Draw   ", "Power Draw           ")
    old = old.replace("Current Power Limit", "Power Limit        ")
    old = old.replace("ECC Mode", "Ecc Mode").replace("  GPU       ", "  Gpu       ")
    assert read_smi(old) == read_smi(BUSY)


def test_two_gpus():
    head, gpu = BUSY[: BUSY.index("GPU 0000")], BUSY[BUSY.index("GPU 0000") :]
    two = read_smi(head + gpu + "\n" + gpu.replace("1395", "1200"))
    assert [g.clock.to("MHz").value for g in two] == [1395, 1200]
    assert two[1].driver == "580.95.05"
    assert len(read_smi(IDLE + IDLE.splitlines()[-1])) == 2


def test_without_units_in_the_table():
    plain = "name, memory.total [MiB], clocks.sm [MHz]\nNVIDIA L4, 23034, 2040\n"
    (found,) = read_smi(plain)
    assert found.memory.to("MiB").value == 23034 and found.clock.to("GHz").value == 2.04


@given(st.integers(0, 0x1FF))
def test_every_mask_of_reasons(bits):
    text = f"name, clocks_throttle_reasons.active\nNVIDIA L4, 0x{bits:016x}\n"
    assert len(read_smi(text)[0].reasons) == bits.bit_count()


test_what_is_not_its_output = refusals(
    ("", "nothing to read"),
    (None, "None: the text"),
    (b"GPU 0", "the text"),
    ("# only a comment\n", "nothing to read"),
    ("| NVIDIA-SMI 580.95  Driver Version: 580 |\n", "plain table"),
    ("NVIDIA L4, 23034\n", "keep the header"),
    ("name, memory.total [MiB]\n", "no GPU under it"),
    ("name, memory.total [MiB]\nNVIDIA L4\n", "1 values under 2 columns"),
    ("name, memory.total [MiB]\nNVIDIA L4, 22.5 GiB\n", "not a number of MiB"),
    ("name, memory.total [MiB]\nNVIDIA L4, lots\n", "'lots' is not a number"),
    ("name, memory.total [MiB]\nNVIDIA L4, 1.2.3\n", "'1.2.3' is not a number"),
    ("name, mig.mode.current\nNVIDIA L4, maybe\n", "neither Enabled nor Disabled"),
    ("name, clocks_event_reasons.active\nL4, none\n", "no hex mask"),
    (BUSY.replace("Product Name", "Product Nome"), "without a Product Name"),
    by=read_smi,
    error=SmiError,
)


def test_samples_say_what_they_are():
    assert len(smi_samples()) >= 2
    for name in smi_samples():
        assert "illustration, not a recording" in smi_sample(name).splitlines()[0]
    with pytest.raises(LookupError, match="h100_busy"):
        smi_sample("h100_bussy")

"""One table of a device's levels: sizes as printed, rates and latencies as measured."""

import re
from dataclasses import replace

import pytest

from stacklib import hardware
from stacklib.hardware import UnknownSpec
from stacklib.hardware.microarchitectures import LEVELS
from stacklib.quantity import Quantity, UnitError, UnknownName

DEVICES = hardware.names()
SIZES = {
    "register": "registers_per_unit",
    "shared": "shared_per_unit",
    "l2": "l2_capacity",
    "dram": "memory_capacity",
}


@pytest.mark.rows("key", DEVICES)
def test_sizes_are_those_printed_times_the_units_that_have_one(key):
    device = hardware.get(key)
    for name, field in SIZES.items():
        level, printed = hardware.level(key, name), device.fields[field]
        assert level.capacity is printed
        if printed is None:
            with pytest.raises(UnknownSpec, match=f"{key}: {name} capacity is unknown"):
                _ = level.total
        elif level.shared_by == "chip":
            assert level.total.si == printed.si
        elif device.fields["compute_units"] is not None:
            assert level.total.si == printed.si * device.compute_units.si


@pytest.mark.rows("key", DEVICES)
def test_latencies_and_widths_are_those_of_the_architecture(key):
    device = hardware.get(key)
    known = hardware.microarchitecture(device).constants
    clock = device.fields["clock"]
    for level in (hardware.level(device, name) for name in LEVELS):
        printed = known.get(f"{level.name}_latency")
        if printed is None or clock is None:
            continue
        cycles, latency = level.known("cycles"), level.known("latency")
        assert cycles.si == pytest.approx(latency.si * clock.si)
        assert f"@{clock.si / 1e6:g}MHz" in cycles.tags
        assert printed.si in (cycles.si, latency.si)
        if f"{level.name}_bytes_per_cycle" in known:
            assert level.width is known[f"{level.name}_bytes_per_cycle"]


BEYOND = ("l2", "l2_far", "dram")


@pytest.mark.rows("key", DEVICES)
def test_beyond_the_l1_a_latency_is_a_time_and_names_its_card_and_clock(key):
    for level in (hardware.level(key, name) for name in BEYOND):
        if level.latency is not None:
            label = level.latency.label
            assert re.search(r" measured on .* [MG]Hz", label)
            assert not level.latency.tags


def test_a_clock_stretches_what_runs_at_it_and_nothing_else():
    slow = Quantity(1.0, "GHz")
    for name in ("l1", "l2", "dram"):
        fast, here = (hardware.level("h100", name, clock) for clock in (None, slow))
        waits = here.latency.si / fast.latency.si
        assert waits == pytest.approx(1.98 if name == "l1" else 1)
        rates = fast.rate.si / here.rate.si
        assert rates == pytest.approx(1 if name == "dram" else 1.98)


def test_a_card_that_was_measured_keeps_its_own_latency():
    for key, ns in (("h100_pcie", 650.0 / 1.755), ("gh200_96gb", 680.4 / 1.98)):
        found = hardware.level(key, "dram").known("latency")
        assert found.si == pytest.approx(ns * 1e-9, rel=1e-3)
        assert hardware.get(key).name in found.label
    # The same memory and the same clock, on a card nobody published with its clock.
    assert hardware.level("h100_sxm", "dram").latency.key.endswith("dram_latency")


@pytest.mark.rows("key", DEVICES)
def test_a_rate_is_bytes_a_cycle_times_units_times_clock(key):
    device = hardware.get(key)
    for level in hardware.levels(key):
        if level.rate is None:
            assert level.width is None or device.fields["clock"] is None
        elif level.name == "dram":
            assert level.rate is device.memory_bandwidth and level.width is None
        else:
            told = level.width.si * device.compute_units.si * device.clock.si
            assert level.rate.si == pytest.approx(told)
            assert f"@{device.clock.si / 1e6:g}MHz" in level.rate.tags


@pytest.mark.rows("key", DEVICES)
def test_levels_stand_in_order_and_something_is_known_of_each(key):
    names = [level.name for level in hardware.levels(key)]
    assert names == [name for name in LEVELS if name in names]
    for level in hardware.levels(key):
        assert level.capacity or level.rate or level.cycles


def test_farther_levels_are_slower_and_take_longer():
    for key in ("h100-sxm", "a100-sxm-80gb", "v100-sxm2-32gb"):
        levels = {level.name: level for level in hardware.levels(key)}
        assert list(levels) == [n for n in LEVELS if n != "l2_far" or n in levels]
        cycles = [level.cycles.si for level in levels.values()]
        assert cycles == sorted(cycles)
        rates = [levels[n].rate.si for n in ("register", "shared", "l2", "dram")]
        assert rates == sorted(rates, reverse=True)
        assert levels["l2"].sector.si == 32 and levels["l2"].line.si == 128


def test_the_clocks_of_two_devices_refuse_to_meet():
    hopper, blackwell = (hardware.level(key, "l2") for key in ("h100", "b200"))
    for field in ("rate", "cycles"):
        with pytest.raises(UnitError, match="two clocks never meet"):
            getattr(hopper, field) / getattr(blackwell, field)
    with pytest.raises(UnitError, match=r"1\.98 GHz"):
        hopper.cycles / hardware.get("b200").clock
    assert (hopper.latency / blackwell.latency).si < 1  # seconds are seconds


def test_the_array_of_a_unit_and_its_most_shared_memory_are_two_sizes():
    """228 KiB is the most that a unit of an H100 shares; its array holds 256."""
    for key, array, most in (
        ("h100", 256, 228),
        ("a100", 192, 164),
        ("l40", 128, 100),
        ("v100", 128, 96),
    ):
        assert hardware.level(key, "l1").capacity.to("KiB").value == array
        assert hardware.level(key, "shared").capacity.to("KiB").value == most
    for key in hardware.names():
        one, shared = (hardware.level(key, n).capacity for n in ("l1", "shared"))
        if (
            one is not None
            and shared is not None
            and "NVIDIA" in hardware.get(key).name
        ):
            assert one.si > shared.si, key
    # Called Ampere like an A40, with the array of an A100: not known from its name.
    assert hardware.level("jetson_agx_orin_64", "l1").capacity is None
    assert hardware.level("mi300x", "l1").capacity.to("KiB").text() == "32 KiB"
    assert hardware.level("mi300x", "shared").capacity.si == 64 * 1024
    for key in ("mi355x", "tesla_p40"):
        level = hardware.level(key, "l1")
        assert level.capacity is None
        with pytest.raises(UnknownSpec, match=f"{key}: l1 capacity is unknown"):
            level.known("capacity")


def test_a_changed_device_has_levels_of_its_own():
    h100 = hardware.get("h100")
    slower = replace(h100, fields={**h100.fields, "clock": h100.tensor_clock})
    before, after = (hardware.level(d, "l2") for d in (h100, slower))
    assert after.rate.si < before.rate.si and after.cycles.si < before.cycles.si
    assert after.latency.si == before.latency.si  # its clock is not the unit's alone


def test_unknown_names_are_refused_with_the_nearest():
    with pytest.raises(UnknownName, match="did you mean: h100"):
        hardware.levels("h1000-sxm")
    with pytest.raises(UnknownName, match="unknown level 'l4'\ndid you mean: l2, l1"):
        hardware.level("h100", "l4")


def test_the_rule_of_banks_is_nvidias_alone():
    assert hardware.level("h100", "shared").width.si == 128
    for key in ("mi300x", "rx_7900_xtx", "m1_max", "arc_b580"):
        found = hardware.level(key, "shared")
        assert found.width is None and found.rate is None


def test_constants_are_found_by_a_device_s_name():
    by_name = hardware.microarchitecture("h100-sxm")
    assert by_name == hardware.microarchitecture(hardware.get("h100_sxm"))
    with pytest.raises(UnknownName, match="unknown device 'hoper'"):
        hardware.microarchitecture("hoper")

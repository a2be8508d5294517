"""Each rule over a device catches the fault it is for."""

import contextlib
import tomllib
from pathlib import Path

import pytest

from stacklib import hardware
from stacklib.evidence import measurements
from stacklib.hardware import second_sources
from stacklib.hardware.crosscheck import faults, gaps, residuals
from stacklib.hardware.load import from_dict
from stacklib.hardware.survey import audit

DATA = Path(hardware.__file__).parent / "data" / "accelerators"


def planted(plant, name="h100_sxm"):
    raw = tomllib.loads((DATA / f"{name}.toml").read_text())
    plant(raw["fields"], raw["peak"], raw)
    return from_dict(raw, "planted")


def test_the_file_without_a_fault_has_none():
    assert faults(planted(lambda f, p, d: None)) == []


FAULTS = {
    "memory_bandwidth: pins x rate differs by -30": lambda f, p, d: f[
        "memory_bandwidth"
    ].update(value=4.8),
    "peak.bf16: bf16: units x clock x rate differs by -50": lambda f, p, d: p[
        "bf16"
    ].update(value=1978.9),
    "peak.fp32: fp32: units x clock x rate differs by -7.6": lambda f, p, d: p[
        "fp32"
    ].update(clock="tensor_clock"),
    "warps x threads differs by +33": lambda f, p, d: f["max_threads_per_unit"].update(
        value=1536
    ),
    "link: link of nvlink4 differs by -50": lambda f, p, d: f["link"].update(value=900),
    "host_link: host_link of pcie5_x16 differs by -50": lambda f, p, d: f[
        "host_link"
    ].update(value=126),
    "year: year is 1992": lambda f, p, d: d.update(year=1992),
    "die_area: area of one die": lambda f, p, d: f["die_area"].update(value=1600),
    "tdp: power by area": lambda f, p, d: f["tdp"].update(value=5600),
    "transistors: transistors by area": lambda f, p, d: f["transistors"].update(
        value=800e9
    ),
    "memory_capacity: capacity of a stack": lambda f, p, d: f["memory_capacity"].update(
        value=640
    ),
    "memory_pins: pins of a stack": lambda f, p, d: f["memory_stacks"].update(value=1),
    "peak.fp8: gain by sparsity": lambda f, p, d: p["fp8"].update(sparse_factor=4),
    "peak.fp8: fp8 by bf16": lambda f, p, d: p["fp8"].update(
        value=494.7, per_unit_per_cycle=2048
    ),
    "peak.fp64/tensor: fp64/tensor by fp64": lambda f, p, d: p["fp64/tensor"].update(
        value=16.7, per_unit_per_cycle=64
    ),
    "peak.bf16 is called inconsistent, and nothing contradicts": lambda f, p, d: p[
        "bf16"
    ].update(inconsistent="an old reason"),
}


def lower(fields, share):
    """Bandwidth and the pin rate behind it: they agree with each other as before."""
    for name in ("memory_bandwidth", "memory_pin_rate"):
        fields[name].update(value=fields[name]["value"] * share)


@pytest.mark.rows("name", ["h100_sxm", "b200_sxm", "a100_sxm_80gb", "mi300x"])
@pytest.mark.rows("share", [0.9, 1.1])
def test_a_consistent_lie_meets_a_second_source(name, share):
    found = faults(planted(lambda f, p, d: lower(f, share), name))
    assert any("memory_bandwidth: a second source" in fault for fault in found), found


def test_a_peak_and_its_clock_raised_together_meet_a_second_source():
    def plant(f, p, d):
        f["tensor_clock"].update(value=f["tensor_clock"]["value"] * 1.1)
        for peak in p.values():
            if peak.get("clock") != "clock":
                peak.update(value=peak["value"] * 1.1)

    assert any("peak.bf16: a second" in fault for fault in faults(planted(plant)))


def test_a_second_source_is_another_than_the_files_own():
    for key, seconds in second_sources.rows().items():
        device = hardware.get(key)
        for second in seconds:
            own = second_sources.held(device, second.field).source
            assert second.value.source.title != own.title, (key, second.field)


def test_devices_of_measured_rows_that_one_source_knows_only_become_fewer():
    seen = set()
    for row in measurements.public():
        with contextlib.suppress(LookupError):
            seen.add(hardware.get(row.system).key)
    lonely = [
        key
        for key in seen
        if {"memory_bandwidth", "peak.bf16"}
        & {*second_sources.alone(hardware.get(key))}
    ]
    assert len(lonely) <= 14 < len(seen)


@pytest.mark.rows("message, plant", FAULTS.items())
def test_a_planted_fault_is_caught(message, plant):
    found = faults(planted(plant))
    assert any(message in fault for fault in found), found


def test_a_peak_beyond_the_boost_clock_is_caught_where_no_tensor_clock_is_known():
    found = faults(
        planted(lambda f, p, d: p["bf16"].update(value=2500), name="b200_sxm")
    )
    assert any("clock that the bf16 peak implies" in fault for fault in found)


def test_a_contradiction_with_its_reason_is_no_fault_and_stays_in_the_gaps():
    def plant(f, p, d):
        f["memory_bandwidth"].update(value=3.44, inconsistent="for this test")

    device = planted(plant)
    assert faults(device) == []
    gap = next(g for g in gaps(device) if g.predicts == "memory_bandwidth")
    assert gap.why == "for this test" and gap.gap == pytest.approx(-0.0255, abs=0.001)
    assert gap not in audit([device]).agreeing


def test_an_unknown_side_leaves_the_relation_out():
    device = planted(lambda f, p, d: f.update(memory_pins="unknown"))
    assert "pins x rate" not in residuals(device)
    assert "pins x rate" in residuals(hardware.get("h100"))


def test_waves_of_64_are_counted_as_such():
    device = hardware.get("mi300x")
    assert residuals(device)["warps x threads"] == 0

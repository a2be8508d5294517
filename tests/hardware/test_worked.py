"""The database's small rules, one row each, on devices that differ in them."""

import os
import subprocess
from dataclasses import replace
from types import MappingProxyType

import pytest

from stacklib import hardware
from stacklib.hardware import factors, second_sources, this_machine
from stacklib.hardware.constants_audit import audit_constants
from stacklib.hardware.errors import band_text, error_band
from stacklib.hardware.level_table import level, levels
from stacklib.hardware.microarchitectures import LEVELS, _nearest, constants
from stacklib.quantity import Quantity

NAMES = {
    "h100": "register shared l1 l2 l2_far dram",
    "mi300x": "register shared l1 l2 dram",
    "tpu-v5p": "shared l2 dram",
    "this_machine": "l2 dram",
}


def without(device, **changes):
    return replace(device, fields=MappingProxyType({**device.fields, **changes}))


def test_levels_are_those_with_any_figure():
    for key, names in NAMES.items():
        assert [x.name for x in levels(key)] == names.split()
    for name in LEVELS:
        of = {key: level(key, name) for key in ("h100", "mi300x", "tpu-v5p")}
        cached = name in ("l1", "l2", "l2_far")
        lines = [(x.line is None, x.sector is None) for x in of.values()]
        assert lines == [(not cached, not cached), (True, True), (True, True)]
        assert level(hardware.get("h100"), name) is of["h100"]
    unclocked = without(hardware.get("h100"), clock=None)
    for name in ("l1", "shared", "l2", "dram"):
        found, cycles = level(unclocked, name), name in ("l1", "shared")
        assert (found.cycles is None, found.latency is None) == (not cycles, cycles)
    dram = "<Level dram of tpu_v5p: 95 GiB, 2.77 TB/s>"
    assert repr(level("tpu-v5p", "dram")) == dram
    assert repr(level("tpu-v5p", "l1")).endswith("l1 of tpu_v5p: nothing known>")
    assert repr(hardware.get("h100")).startswith("<Accelerator h100_sxm: NVIDIA H100")


def test_the_clock_behind_a_peak_is_printed_or_implied():
    h100 = hardware.get("h100")
    assert h100.peak_clock("bf16").si == 1.83e9 and h100.peak_clock("fp32").si == 1.98e9
    for name in ("bf16", "fp32", "fp8"):
        each = h100.peaks[name].per_unit_per_cycle
        bare = without(h100, clock=None, tensor_clock=None)
        implied = h100.peak(name).si / (132 * each.si)
        assert bare.peak_clock(name).si == pytest.approx(implied)
        tag = f"@{h100.peak_clock(name).si / 1e6:g}MHz"
        assert tag in h100.peak_at_clock(name).tags


def test_what_a_second_source_says_besides_and_alone():
    h100 = hardware.get("h100")
    few = replace(h100, peaks=MappingProxyType({"fp16": h100.peaks["fp16"]}))
    assert second_sources.alone(few) == ["host_link"]
    assert list(second_sources.differences(h100)) == []
    lone = replace(few, key="nobody_else")
    fields = "memory_bandwidth memory_capacity l2_capacity tdp link host_link peak.fp16"
    assert second_sources.alone(lone) == second_sources.asked(lone) == fields.split()
    for share, told in ((1.02, 0), (0.98, 0), (1.03, 1), (0.97, 1)):
        rate = Quantity(3.35 * share, "TB/s per_chip")
        found = list(second_sources.differences(without(h100, memory_bandwidth=rate)))
        assert {field for field, _ in found} == {*["memory_bandwidth"][:told]}
    gone = without(h100, memory_bandwidth=None)
    assert dict(second_sources.differences(gone)) == {"memory_bandwidth": float("inf")}


def test_constants_are_counted_and_the_nearest_card_answers():
    every = list(constants())
    audit = audit_constants(every)
    assert audit.inherited == sum(one.inherited for one in every) > 0
    assert audit.constants == len(every) >= audit.held + audit.inherited
    own = next(one for one in every if one.on)
    plain, other = replace(own, on=""), replace(own, on="tpu_v5p")
    same = hardware.get(own.on).memory_type
    assert _nearest((plain, own), own.on, "none") is own.quantity
    for memory, first in ((same, own), ("none", plain)):
        marked = [replace(one, quantity=one) for one in (plain, own, other)]
        assert _nearest(tuple(marked), "nobody", memory) is first


def test_a_factor_says_where_it_is_from_and_a_band_that_there_is_none():
    table = hardware.factors.efficiency_table()
    for name, row in table.items():
        q = hardware.efficiency_quantity(name)
        if row.get("fixed"):
            assert q.kind == "measured" and q.source.title == row["source"]
        else:
            fitted = f"fitted on {row['rows']} published rows" if "rows" in row else ""
            assert (fitted or "assumed") in q.note
            assert q.kind == "assumed"
    assert band_text("Z") == "none: Z is not yet held against published measurements"
    a = error_band("A")
    assert f"{a.median:.0%} at the median" in band_text("A")
    assert f"of {a.unseen} rows" in band_text("A")


def test_cores_and_what_macos_says(monkeypatch):
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    for told, cores in ((6, 6), (None, 1)):
        monkeypatch.setattr(os, "cpu_count", lambda told=told: told)
        assert this_machine.usable_cores() == cores
    said = subprocess.CompletedProcess([], 0, "hw.ncpu: 8\nempty:\nhw.l: a: b\n")
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: said)
    assert this_machine._sysctl() == {"hw.ncpu": "8", "hw.l": "a: b"}
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        this_machine._sysctl()


def test_a_factor_of_zero_is_out_of_bounds(tmp_path, monkeypatch):
    path = tmp_path / "efficiency.toml"
    path.write_text("[x]\nvalue = 0.0\nleast = 0.0\nmost = 1.0\n")
    monkeypatch.setattr(factors, "PATH", path)
    with pytest.raises(ValueError, match="out of bounds"):
        factors.efficiency_table.__wrapped__()

"""Chases beside their predictions: published curves, this machine, family C."""

import pytest

from stacklib import hardware
from stacklib.pages.memory.ladder import by_level, chases


def test_published_curves_are_whole_and_sourced():
    assert set(chases.curves()) == {"h100_pcie", "mi210", "rx_6900_xt"}
    for key, curve in chases.curves().items():
        assert hardware.get(key).kind == "gpu"
        assert len(curve.sizes) == len(curve.cycles) == 100
        assert list(curve.sizes) == sorted(set(curve.sizes))
        assert curve.source.confidence == "measured" and curve.source.where


def test_the_published_rows_of_family_c_lie_on_their_curves():
    """The same files, read by two people: once in full, once a row a level."""
    curves = {"H100 PCIE": "h100_pcie", "MI210": "mi210", "RX6900XT": "rx_6900_xt"}
    held = 0
    for found in by_level.family().predicted:
        row = found.row
        if row.system in curves and "gpu-latency" in row.software:
            curve = chases.curves()[curves[row.system]]
            at = curve.sizes.index(int(row.number("working_set_kB")) * 1024)
            assert curve.cycles[at] == row.value, row.id
            held += 1
    assert held >= 8


def test_an_h100_shows_the_caches_of_its_spec_sheet():
    ratios = [r["found / spec"] for r in chases.published_rows("h100_pcie")]
    assert ratios[-1] is None
    assert [r.si for r in ratios[:3]] == pytest.approx([0.91, 1.08, 1.10], abs=0.01)


def test_the_predicted_curve_steps_at_the_spec_sheets_sizes():
    chip = hardware.get("h100_pcie")
    l1, l2 = chip.shared_per_unit.to("B").si, chip.l2_capacity.to("B").si
    sizes = [int(l1), int(l1 * 1.2), int(l2 / 2), int(l2 * 0.6), int(l2), int(l2 * 1.2)]
    told = chases.predicted_curve("h100_pcie", sizes)
    file = [34.2, 265.4, 265.4, 461.5, 461.5, 650]  # gpu-latency/h100_pcie.txt
    assert told == pytest.approx(file, rel=1e-3)


def test_this_machines_rows_are_those_that_were_reported():
    rows = chases.cache_rows()
    assert [r.level for r in rows] == ["L1", "L2", "L3", "memory"]
    assert rows[-1].reported is None and rows[-1].latency is not None
    for row in rows[:2]:  # private: nobody else is in them
        assert row.by_chase.si == pytest.approx(row.reported.si, rel=0.35)
    latencies = [r.latency.si for r in rows if r.latency is not None]
    assert latencies == sorted(latencies)
    *inner, last = chases.found_here()
    assert latencies[-1] == pytest.approx(last.latency)
    known = [level.size for level in inner]
    ends = [row.by_chase.si for row in rows if row.by_chase is not None]
    assert all(any(end == pytest.approx(size) for size in known) for end in ends)


def test_what_is_read_of_a_published_curve_is_what_was_found_in_it():
    for curve in chases.curves().values():
        for n, level in enumerate(curve.found):
            size, latency = curve.level(n)
            assert latency.si == pytest.approx(level.latency)
            assert (size and size.si) == pytest.approx(level.size)


def test_a_prediction_that_misses_is_counted_as_missing(monkeypatch):
    from dataclasses import replace

    whole = chases.sweep_errors()
    wrong = tuple(replace(r, predicted=r.predicted * 3) for r in chases.sweep())
    monkeypatch.setattr(chases, "sweep", lambda: wrong)
    assert sorted(chases.sweep_errors())[0] > 0.3 > sorted(whole)[0]


def test_levels_of_family_c_are_counted_once():
    rows = by_level.level_rows()
    assert sum(r["rows"] for r in rows) == len(by_level.family().predicted)
    assert all(r["read back"] + r["tests"] <= r["rows"] for r in rows)
    assert {r["measured"] for r in rows} == {"latency", "bandwidth"}
    assert not any(
        "softmax" in o.row.subject.lower() for o in by_level.family().predicted
    )

"""Chases beside their predictions: published curves, this machine, family C."""

import pytest

from stacklib import hardware
from stacklib.evidence import by_level, chases, claims, numbers


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
    assert [r.si for r in ratios[:3]] == pytest.approx([1.02, 1.08, 1.10], abs=0.01)


def test_the_predicted_curve_steps_at_the_spec_sheets_sizes():
    chip = hardware.get("h100_pcie")
    l1, l2 = chip.shared_per_unit.to("B").si, chip.l2_capacity.to("B").si
    sizes = [int(l1), int(l1 * 1.2), int(l2 / 2), int(l2 * 0.6), int(l2), int(l2 * 1.2)]
    told = chases.predicted_curve("h100_pcie", sizes)
    assert told == pytest.approx([36, 266, 266, 461.5, 461.5, 670])


def test_this_machines_rows_are_those_that_were_reported():
    rows = chases.cache_rows()
    assert [r.level for r in rows] == ["L1", "L2", "L3", "memory"]
    assert rows[-1].reported is None and rows[-1].latency is not None
    for row in rows[:2]:  # private: nobody else is in them
        assert row.by_chase.si == pytest.approx(row.reported.si, rel=0.35)
    latencies = [r.latency.si for r in rows if r.latency is not None]
    assert latencies == sorted(latencies)
    assert all(r.latency.source.confidence == "measured" for r in rows if r.latency)


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


def test_every_number_of_the_section_is_quick_and_finite():
    mine = [n for n in numbers.all() if n.name.startswith("ladder.")]
    assert len(mine) > 50 and all(n.text for n in mine)


VERDICTS = {
    "mem-register-bandwidth": ("wrong", 446.7),
    "mem-shared-bandwidth": ("close", 37.22),
    "mem-l2-bandwidth": ("close", 10.76),
    "mem-register-latency": ("close", 4),
    "mem-shared-latency": ("reproduced", 29),
    "mem-l2-latency": ("close", 266),
    "mem-hbm-register-penalty": ("close", 167.5),
    "mem-nvme-latency-cycles": ("close", 157200),
    "mem-register-capacity": ("reproduced", 262.1),
    "mem-shared-capacity": ("reproduced", 233.5),
    "b200-l2-capacity": ("reproduced", 132.6),
    "h100-l2-capacity": ("reproduced", 52.43),
    "mem-level-ratio": ("close", 14.11),
    "gpu-smem-228kb": ("reproduced", 233.5),
    "l2-40-60": ("close", 132.6),
    "smem-100-230": ("reproduced", 233.5),
    "regfile-64k": ("reproduced", 262.1),
    "registers-tens-of-kb": ("wrong", 262.1),
    "lat-register": ("wrong", 4),
    "lat-smem": ("reproduced", 29),
    "lat-l2": ("close", 266),
    "lat-hbm": ("close", 670),
    "lat-nvlink": ("close", 990),
    "lat-pcie-30000": ("close", 1434),
    "lat-order-of-magnitude": ("close", 5.838),
    "hbm-load-cycles": ("reproduced", 670),
    "within-sm-10-20": ("wrong", 0.2534),
    "bw-l2-hbm-3-8": ("reproduced", 7.7),
    "hbm-vs-register-40x": ("wrong", 167.5),
    "b200-l2-growth": ("reproduced", 2.53),
    "tier-sram-latency": ("close", 134.3),
    "tier-sram-bandwidth": ("close", 33.45),
    "tier-sram-capacity": ("close", 117.9),
    "tier-hbm-latency": ("conflict", 338.4),
}


@pytest.mark.parametrize(("id", "wanted"), VERDICTS.items())
def test_verdicts_of_the_ladder(id, wanted):
    verdict, value = wanted
    found = claims.judge(id)
    assert found.verdict == verdict
    unit = found.claim.quantity().unit
    assert found.computed.to(unit or "1").value == pytest.approx(value, rel=1e-3)
    assert claims.leaf_faults(found) == []


def test_the_slipped_column_is_right_for_other_rungs_and_chips():
    shared = claims.judge("mem-shared-bandwidth")
    assert shared.condition == "the chip is an A100"
    assert "37.2 TB/s" in claims.judge("mem-register-bandwidth").why


def test_a_copy_out_of_reach_of_the_claim_leaves_no_condition(monkeypatch):
    """The condition is shown only while it makes the claim right."""
    from stacklib.evidence.claims import chapter_03_ladder_latency as latency

    assert latency.host_latency().condition
    dear = latency.launched_copy("h100_sxm") * 3
    monkeypatch.setattr(latency, "launched_copy", lambda _: dear)
    found = latency.host_latency()
    assert not found.condition and found.then is None

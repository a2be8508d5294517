"""Published rows held to physics: a rate that no device has is found, in every file."""

import csv
import math
from dataclasses import replace
from importlib.resources import files

import pytest

from stacklib import hardware
from stacklib.evidence import calibrate, measurements, validate
from stacklib.evidence.calibrate import tables
from stacklib.evidence.calibrate.public import case_of
from stacklib.evidence.validate import limits

FILES = ("public", "found", "left_out")


def test_no_row_beyond_its_device_is_in_the_fit():
    """Nine of the rows found exceed a printed peak; a known clock explains four."""
    impossible = validate.impossible(measurements.fitted())
    assert {b.row.id for b in impossible} >= {"A-F039", "A-F040", "A-F057"}
    assert all("boost" in b.why for b in impossible if b.row.family == "A")
    caches = [b for b in impossible if b.row.family == "B"]
    # caches read faster than the memory gives them, as those that were dropped before
    assert len(caches) == 5 and {b.device for b in caches} == {"a100_sxm_80gb"}
    for told in tables.impossible_rows(b.row for b in impossible):
        assert any(told["what"] in b.row.settings for b in impossible)
    fitted = {case.id for case in calibrate.public_problem().cases}
    assert not fitted & {b.row.id for b in impossible}
    assert {"A-F043", "A-F090"} <= fitted  # a 5090 may run at 3.09 GHz, by its driver


@pytest.mark.rows("name", FILES)
def test_a_rate_times_25_is_found_in_every_file(name):
    rows = getattr(measurements, name)()
    held = [r for r in rows if r.family == "A" and not r.metric.startswith("latency")]
    some = [r for r in held if "m" in r.config][::9]
    assert some
    for row in some:
        found = validate.beyond(replace(row, value=25 * row.value))
        assert found is not None and found.times > 1.5, row.id
        assert "faulty" in found.why


def test_a_time_over_25_and_a_stream_times_25_are_found():
    for row in measurements.public():
        timed = row.family == "A" and row.metric.startswith("latency")
        sizes = [row.number(side, 1) for side in "mnk"]
        if timed and math.prod(sizes) > 1e11:
            assert validate.beyond(replace(row, value=row.value / 25)), row.id
        if row.family == "C" and "STREAM" in row.subject:
            assert validate.beyond(row) is None or row.fault
            assert validate.beyond(replace(row, value=row.value * 25)), row.id


def test_a_planted_row_is_refused_as_impossible_and_not_as_stale():
    rows = {r.id: r for r in measurements.public()}
    for id, times in [
        ("A-0312", 1 / 25),
        ("A-0481", 25),
        ("A-0405", 1 / 25),
        ("C-0125", 25),
        ("C-0078", 25),
        ("C-0053", 1 / 25),
    ]:
        planted = replace(rows[id], value=times * rows[id].value)
        found = validate.outcome(planted)
        assert found.predicted is None and "times what" in found.reason, id
        assert validate.outcome(rows[id]).predicted, id
        assert case_of(planted) is None and case_of(rows[id]) is not None, id


def test_most_public_rows_cannot_be_25_times_as_fast():
    """All but those that a launch, and no limit of the chip, holds."""
    for family, least in (("A", 0.85), ("C", 0.7), ("D", 0.1)):
        rows = [r for r in measurements.public() if r.family == family and not r.fault]
        assert not validate.impossible(rows)
        planted = [replace(r, value=r.value * _faster(r)) for r in rows]
        assert len(validate.impossible(planted)) > least * len(rows)


def _faster(row):
    timed = row.metric.startswith("latency") or row.unit.startswith("cycle")
    return 1 / 25 if timed or "latency" in row.subject.lower() else 25


def test_no_stream_by_occupancy_passes_its_memory():
    path = files("stacklib.evidence") / "data" / "in_flight.csv"
    with path.open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            most = hardware.get(row["device"]).memory_bandwidth.si / 1e9
            for kind in ("read", "scale", "triad"):
                assert not row[kind] or float(row[kind]) <= most * limits.SLACK, row


def test_the_highest_clock_widens_a_peak_and_never_narrows_it():
    card = hardware.get("rtx-5090")
    assert limits.faster(card, "bf16") == pytest.approx(3.09 / 2.407)
    assert limits.faster(hardware.get("h100-sxm"), "bf16") == 1
    slower = {**card.fields, "max_clock": card.clock / 2}
    assert limits.faster(replace(card, fields=slower), "bf16") == 1


def test_what_nothing_is_known_of_is_held_to_nothing():
    row = next(r for r in measurements.public() if r.family == "G")
    assert validate.beyond(row) is None
    assert validate.beyond(replace(row, fault="broken")) is None

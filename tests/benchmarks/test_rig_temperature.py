"""The curve's benchmark: scipy's degrees are ours, and the stored rows hold."""

import importlib
import json
from pathlib import Path

import pytest
import record

bench = importlib.import_module("rig_temperature")


def test_scipy_ends_at_the_same_degrees():
    pytest.importorskip("scipy")
    build, told = bench.built("six at 193 W")
    ours = bench.temperature(build, bench.HOURS, **told)
    theirs = bench.by_scipy(build, **told)
    assert ours.held and len(theirs) == len(ours.times)
    for at in (1, 60, -1):
        degrees = (part[at] for part in (ours.die, ours.sink, ours.case, ours.room))
        assert tuple(degrees) == pytest.approx(tuple(theirs[at]), abs=0.2)


def test_the_stored_rows_are_of_every_case():
    path = Path(record.__file__).parent / "results/rig_temperature.json"
    rows = json.loads(path.read_text())["rows"]
    assert [row["id"] for row in rows] == list(bench.CASES)
    assert all(row["off_k"] <= 0.2 for row in rows)
    assert any(row["held_s"] for row in rows) and not rows[0]["held_s"]

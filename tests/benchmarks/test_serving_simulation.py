"""Seconds of a simulation: what runs, and the stored bars."""

import importlib
import json
from pathlib import Path

import record

RESULTS = Path(record.__file__).parent / "results"


def test_every_case_runs_and_is_drained():
    bench = importlib.import_module("serving_simulation")
    for name in bench.CASES:
        row = bench.served(name, 30, 1)
        assert row["requests"] == 30 and row["steps"] > 100
        assert len(row["times_s"]) == 1


def test_the_stored_run_meets_its_bars_in_every_case():
    bench = importlib.import_module("serving_simulation")
    stored = json.loads((RESULTS / "serving_simulation.json").read_text())
    found = bench.ratios(stored)
    assert found["seconds"] <= stored["bar_s"] == bench.BAR_S
    assert found["times"] <= stored["bar_times"] == bench.BAR_TIMES
    assert found["peak_mb"] <= stored["bar_mb"] == bench.BAR_MB
    assert {row["id"] for row in stored["rows"]} == set(bench.CASES)
    assert {row["requests"] for row in stored["rows"]} == {1000, 100_000}
    assert not any(row["numpy"] for row in stored["rows"])

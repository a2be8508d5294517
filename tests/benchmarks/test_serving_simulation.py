"""Seconds of a simulation: what runs, and the stored cases."""

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


def test_every_case_is_stored_at_both_sizes_without_numpy():
    bench = importlib.import_module("serving_simulation")
    stored = json.loads((RESULTS / "serving_simulation.json").read_text())
    assert {row["id"] for row in stored["rows"]} == set(bench.CASES)
    assert {row["requests"] for row in stored["rows"]} == {1000, 100_000}
    assert not any(row["numpy"] for row in stored["rows"])

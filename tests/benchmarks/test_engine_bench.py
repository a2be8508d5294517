"""Continuous against static batches: what runs, and the stored gain."""

import importlib
import json
import statistics
from pathlib import Path

import record

RESULTS = Path(record.__file__).parent / "results"


def test_both_policies_make_the_same_tokens_in_the_steps_of_slots():
    bench = importlib.import_module("engine")
    result = bench.measure(requests=4, rounds=1)
    still, moving = result["rows"]
    assert still["tokens"] == moving["tokens"] == sum(bench.lengths(4))
    assert all(row["steps"] == row["steps_of_slots"] for row in result["rows"])


def test_the_stored_gain_meets_its_bar():
    bench = importlib.import_module("engine")
    stored = json.loads((RESULTS / "engine.json").read_text())
    assert statistics.median(bench.gains(stored)) >= stored["bar"]
    assert (stored["requests"], stored["batch"]) == (200, 8)

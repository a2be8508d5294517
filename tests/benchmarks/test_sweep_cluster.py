"""A sweep on two workers: what runs, and the stored ratios."""

import importlib
import json
from pathlib import Path

import record

RESULTS = Path(record.__file__).parent / "results"


def test_there_are_cases_enough_and_each_has_an_answer():
    bench = importlib.import_module("sweep_cluster")
    cases = list(bench.sweep.grid(**bench.CASES))
    assert len(cases) >= bench.COUNT
    used, rate, last = bench.fleet(**cases[0])
    assert 0 < used < 1 and rate > 0 and last > 0


def test_the_stored_sweeps_are_of_every_case():
    bench = importlib.import_module("sweep_cluster")
    stored = json.loads((RESULTS / "sweep_cluster.json").read_text())
    assert all(row["cases"] == bench.COUNT for row in stored["rows"])

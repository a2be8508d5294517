"""Waiting foretold and measured: what runs, and what is stored."""

import importlib
import json
import math
from pathlib import Path

import pytest
import record

from stacklib.serving.simulation.pace import Pace

FOLDER = Path(record.__file__).parent
PACE = Pace((1.5e-3, 3e-4, 6e-5, 2e-4, 5e-4, 1e-7, 1e-7), 0.9, 1.1, 256)


@pytest.fixture
def bench():
    return importlib.import_module("shadow")


def test_the_requests_are_the_share_of_what_the_machine_can_do(bench):
    for load in (0.5, 0.95):
        told = bench.foretold(load, 40, PACE)
        assert told["utilisation"] == pytest.approx(load, rel=1e-6)
        assert json.dumps(told, allow_nan=False) == json.dumps(
            bench.foretold(load, 40, PACE)
        )
        for middle, low, high in told["seconds"].values():
            assert low <= middle <= (high or math.inf)


def test_an_engine_serves_all_of_them(bench):
    rows = bench.traffic(0.8, 20, PACE)[0]
    found = bench.run(rows, PACE)
    assert set(found["seconds"]) == set(bench.foretold(0.8, 20, PACE)["seconds"])
    assert 0 < found["busy_s"] <= found["times_s"][0]
    assert found["seconds"]["ttft p50"] < found["seconds"]["e2e p50"]


def test_bars_count_errors_and_what_lies_inside(bench):
    told = {"load": 0.5}
    told["seconds"] = {
        "a": [1.0, 0.5, 2.0],
        "b": [2.0, 1.0, None],
        "c": [1.0, 0.9, 1.1],
    }
    seen = {"busy_s": 3.0, "law_s": 2.0, "seconds": {"a": 1.25, "b": 9.0, "c": 1.0}}
    found = bench.judged(told, seen)
    assert found["median_error"] == pytest.approx(0.2) and found["inside"] == 1
    assert found["step_ratio"] == 1.5
    seen["seconds"]["a"] = 2.1
    assert bench.judged(told, seen)["inside"] == pytest.approx(2 / 3)


def test_the_stored_run_is_judged_as_its_times_say(bench):
    forecast = json.loads((FOLDER / "predictions" / "shadow.json").read_text())
    stored = json.loads((FOLDER / "results" / "shadow.json").read_text())
    loads = [told["load"] for told in forecast["rows"]]
    assert tuple(loads) == bench.LOADS
    for told, seen in zip(forecast["rows"], stored["rows"], strict=True):
        assert {k: seen[k] for k in bench.judged(told, seen)} == bench.judged(
            told, seen
        )

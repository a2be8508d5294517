"""One cost evaluation: what is timed, and the stored times against their bars."""

import importlib
import json
import statistics
from pathlib import Path

import record

RESULTS = Path(record.__file__).parent / "results"


def test_one_cost_evaluation_is_a_row_for_every_model_three_ways():
    bench = importlib.import_module("cost_evaluation")
    result = bench.measure(rounds=1, calls=2)
    rows = {row["id"]: row for row in result["rows"]}
    assert len(rows) >= 3 * len(bench.CASES)
    assert rows["sweep-llama-3-70b"]["points"] == 10**6
    assert all(min(row["times_s"]) > 0 for row in rows.values())


def test_the_stored_cost_evaluations_meet_their_bars():
    stored = json.loads((RESULTS / "cost_evaluation.json").read_text())
    for row in stored["rows"]:
        took = statistics.median(row["times_s"])
        if row["id"].startswith("plain"):
            assert took <= stored["bar_s"], row["id"]
        if row["id"].startswith("sweep"):
            assert row["points"] / took >= stored["bar_points_per_s"], row["id"]
    assert {"mlsysim", "llm-analysis"} <= {row["id"] for row in stored["rows"]}

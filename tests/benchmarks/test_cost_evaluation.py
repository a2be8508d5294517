"""One cost evaluation: what is timed, and the stored times against their bars."""

import importlib
import json
import statistics
from pathlib import Path

import record

RESULTS = Path(record.__file__).parent / "results"


def test_one_cost_evaluation_is_a_row_for_every_model_five_ways():
    bench = importlib.import_module("cost_evaluation")
    result = bench.measure(rounds=1, calls=2)
    rows = {row["id"]: row for row in result["rows"]}
    assert len(rows) >= 5 * len(bench.CASES) + 2
    assert rows["sweep-llama-3-70b"]["points"] == 10**6
    assert all(min(row["times_s"]) > 0 for row in rows.values())


def test_the_stored_cost_evaluations_meet_their_bars():
    stored = json.loads((RESULTS / "cost_evaluation.json").read_text())
    for row in stored["rows"]:
        took = statistics.median(row["times_s"])
        if row["id"].startswith("plain"):
            assert took <= stored["bar_s"], row["id"]
        if "sweep" in row["id"]:
            assert row["points"] / took >= stored["bar_points_per_s"], row["id"]
    assert {"mlsysim", "llm-analysis"} <= {row["id"] for row in stored["rows"]}
    took = {row["id"]: statistics.median(row["times_s"]) for row in stored["rows"]}
    plain, token = took["plain-llama-3-70b"], took["token-llama-3-70b"]
    assert token <= stored["bar_token_steps"] * plain
    assert token < min(stored["recorded_not_rerun_s"].values())
    assert token < took["llm-analysis"] and token < took["mlsysim"]
    assert took["first-token"] <= stored["bar_first_token_s"]
    assert took["first-call"] <= stored["bar_first_call_s"]

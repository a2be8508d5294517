"""One cost evaluation: what is timed, and the stored time against peers."""

import importlib
import json
import statistics
from pathlib import Path

import record

RESULTS = Path(record.__file__).parent / "results"


def test_one_cost_evaluation_is_a_row_for_every_model_five_ways():
    bench = importlib.import_module("cost_evaluation")
    result = bench.measure(rounds=1, calls=2, side=50)
    rows = {row["id"]: row for row in result["rows"]}
    assert len(rows) >= 5 * len(bench.CASES) + 2
    assert rows["sweep-llama-3-70b"]["points"] == 50**2
    assert all(min(row["times_s"]) > 0 for row in rows.values())


def test_a_stored_token_took_less_than_any_peer_s():
    stored = json.loads((RESULTS / "cost_evaluation.json").read_text())
    took = {row["id"]: statistics.median(row["times_s"]) for row in stored["rows"]}
    assert {r["points"] for r in stored["rows"] if "sweep" in r["id"]} == {10**6}
    token = took["token-llama-3-70b"]
    assert token < min(stored["recorded_not_rerun_s"].values())
    assert token < took["llm-analysis"] and token < took["mlsysim"]

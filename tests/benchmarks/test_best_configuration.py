"""The search beside its peer: the stored winners are found again."""

import importlib
import json
from pathlib import Path
from statistics import median

import pytest
import record

RESULTS = Path(record.__file__).parent / "results"


def test_the_stored_search_found_what_is_found_now():
    bench = importlib.import_module("best_configuration")
    result = json.loads((RESULTS / "best_configuration.json").read_text())
    took = {row["id"]: median(row["times_s"]) for row in result["rows"]}
    assert took["warm"] < took["cold"] and result["best"] == "aggregated"
    found = bench.winners()
    for kind, row in found["ours"].items():
        stored = result["ours"][kind]
        assert row["layout"] == stored["layout"] and not row["refused"]
        assert row["tokens_per_gpu"] == pytest.approx(stored["tokens_per_gpu"])
    assert "> 50 ms" not in found["peers_winner_by_our_model"]["refused"]
    assert found["peers_winner_by_our_model"]["tpot_s"] > bench.SLO["tpot"]

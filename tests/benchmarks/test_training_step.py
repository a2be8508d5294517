"""The recorded comparison of training steps: what it says, recomputed."""

import json
from statistics import mean

import pytest

from stacklib.evidence import results
from stacklib.interconnect.parallelism.megatron import ROWS, predicted

STORED = results.load("training_step")


def test_the_rows_are_what_the_model_says():
    found = {row["id"]: row for row in STORED["steps"]}
    assert json.dumps(sorted(found)) == json.dumps(
        sorted(f"{r.name}-{kind}" for r in ROWS for kind in ("full", "lean"))
    )
    for row in ROWS:
        for lean in (False, True):
            told = found[f"{row.name}-{'lean' if lean else 'full'}"]
            assert told["published_s"] == row.seconds(lean)
            assert told["predicted_s"] == pytest.approx(
                predicted(row, lean).time, rel=1e-3
            )
    misses = [abs(row["calculon_miss"]) for row in STORED["steps"]]
    assert mean(misses) == pytest.approx(STORED["errors"]["calculon"]["mean"])

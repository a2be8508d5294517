"""Chases are predicted from committed files and run only after a commit."""

import json
from pathlib import Path

import pytest
import record

import pointer_chases as bench  # isort: skip

from stacklib.evidence import results, runs

FOLDER = Path(record.__file__).parent


def test_the_same_inputs_give_the_committed_bytes(folder):
    """While the calibrations it names are the ones that are there."""
    bench.predict(folder)
    again = json.loads((folder / "predictions" / "pointer_chases.json").read_text())
    kept = json.loads((FOLDER / "predictions" / "pointer_chases.json").read_text())
    hashes = [kept[k]["sha256"] for k in ("latency", "roofline")]
    if hashes != [again[k]["sha256"] for k in ("latency", "roofline")]:
        pytest.skip("the calibrations were measured anew since")
    assert again["rows"] == kept["rows"]


def test_case_ids_are_unique_and_cover_every_level():
    cases = list(bench.cases())
    assert len({c["id"] for c in cases}) == len(cases) == 4 * 8
    sizes = sorted({c["size"] for c in cases})
    assert sizes[0] <= 2**15 and sizes[-1] >= 2**28


def test_predicted_times_fall_with_chains(folder):
    bench.predict(folder)
    rows = json.loads((folder / "predictions" / "pointer_chases.json").read_text())
    for level in bench.LEVELS:
        times = [r["predicted_s"] for r in rows["rows"] if r["level"] == level]
        assert times == sorted(times, reverse=True) and times[-1] > 0


def test_measuring_is_refused_until_the_prediction_is_committed(
    commit, folder, capsys, monkeypatch
):
    assert bench.measure(folder) == 2  # nothing predicted
    monkeypatch.setattr(bench, "LEVELS", {"L1": 2**15})
    monkeypatch.setattr(bench, "SAMPLE_S", 1e-4)
    bench.predict(folder)
    assert bench.measure(folder) == 2  # no repository
    assert "not in git's HEAD" in capsys.readouterr().err
    commit(folder)
    assert bench.measure(folder) == 0
    found = json.loads((folder / "results" / "pointer_chases.json").read_text())
    assert len(found["rows"]) == 8
    assert all(min(row["times_s"]) > 0 for row in found["rows"])


def test_a_calibration_says_why_nothing_predicts_it(folder, monkeypatch):
    monkeypatch.setattr(bench, "LEVELS", {"L1": 2**15})
    monkeypatch.setattr(bench, "SAMPLE_S", 1e-4)
    assert bench.latency(folder) == 0
    monkeypatch.setenv("STACKLIB_ROOT", str(folder.parent))
    folder.rename(folder.parent / "benchmarks")
    found = results.load("host_latency")
    assert found["prediction"] is None and found["why_no_prediction"]


def test_the_committed_chases_join_their_predictions():
    done = runs.load("pointer_chases")
    assert {r.case["level"] for r in done} == {"L1", "L2", "L3", "memory"}
    memory = [r for r in done if r.case["level"] == "memory"]
    assert runs.median_error(memory).si < 0.15

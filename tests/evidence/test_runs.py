"""Results joined with the predictions committed before them."""

import hashlib
import json

import pytest

from stacklib.evidence import results, runs


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A checkout with one prediction and one result file."""
    folder = tmp_path / "benchmarks"
    (folder / "predictions").mkdir(parents=True)
    (folder / "results").mkdir()
    rows = [
        {"id": "a", "operations": 200, "bytes": 100, "predicted_s": 0.9},
        {"id": "b", "operations": 200, "bytes": 100, "predicted_s": {"h200": 2.0}},
        {"id": "c", "operations": 1, "bytes": 1, "predicted_s": None},
    ]
    prediction = folder / "predictions" / "p.json"
    prediction.write_text(json.dumps({"rows": rows}))
    result = {
        "kind": "host",
        "device": "a machine",
        "driver": "x",
        "clocks": "x",
        "versions": {},
        "date": "2026-11-21",
        "prediction": {
            "file": "benchmarks/predictions/p.json",
            "sha256": hashlib.sha256(prediction.read_bytes()).hexdigest(),
        },
        "rows": [
            {"id": "a", "m": 1, "times_s": [1.0, 3.0, 1.0, 0.9, 1.1]},
            {"id": "b", "times_s": [1.0]},
            {"id": "c", "times_s": [1.0]},
            {"id": "unpredicted", "times_s": [1.0]},
        ],
    }
    (folder / "results" / "r.json").write_text(json.dumps(result))
    monkeypatch.setenv("STACKLIB_ROOT", str(tmp_path))
    return folder


def test_runs_join_prediction_and_median(checkout):
    (run,) = runs.load("r")
    assert run.id == "a" and run.case["m"] == 1
    assert run.measured.si == 1.0
    assert run.error.si == pytest.approx(-0.1)
    assert run.intensity.si == 2
    assert run.rate.si == 200
    slow, fast = run.spread
    assert slow < run.rate and run.rate < fast
    assert run.measured.source.title == "benchmarks/results/r.json"


def test_what_was_promised_is_of_the_day_of_the_run(checkout):
    told = runs.promised("r", "a", "predicted_s", "s", "told")
    assert told.si == 0.9 and told.source.seen == "2026-11-21"


def test_predictions_by_device_need_the_device(checkout):
    assert [run.id for run in runs.load("r", device="h200")] == ["a", "b"]


def test_median_error_is_that_of_the_middle_run(checkout):
    both = runs.load("r", device="h200")
    assert runs.median_error(both).si == pytest.approx(1.0)
    with pytest.raises(ValueError, match="nothing was measured"):
        runs.median_error([])


def test_missing_run_says_how_to_measure(checkout):
    assert runs.load("absent") == []
    with pytest.raises(results.ResultError, match="make bench"):
        runs.get("r", "nope")


def test_gpu_results_are_listed_with_their_error_when_present(checkout):
    assert runs.gpu_results() == []
    result = json.loads((checkout / "results" / "r.json").read_text())
    result |= {"device": "NVIDIA H200", "device_key": "h200"}
    (checkout / "results" / "gpu_nvidia-h200.json").write_text(json.dumps(result))
    (line,) = runs.gpu_results()
    assert line == "NVIDIA H200, 2026-11-21: 4 cases, median error 100 %"
    result["device_key"] = None
    (checkout / "results" / "gpu_nvidia-h200.json").write_text(json.dumps(result))
    assert runs.gpu_results()[0].endswith("no prediction for it")


def test_broken_prediction_is_named(checkout):
    (checkout / "predictions" / "p.json").write_text("{}")
    with pytest.raises(results.ResultError, match=r"p\.json: not a prediction"):
        runs.load("r")

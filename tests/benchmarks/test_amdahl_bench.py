"""The benchmark of Amdahl's law: cases, prediction, and its refusals."""

import json
from pathlib import Path

import pytest
import record

import amdahl as bench  # isort: skip

from stacklib.roofline.bound import scaling

FOLDER = Path(record.__file__).parent


def test_every_case_is_the_same_work_but_the_one_that_grows():
    cases = list(bench.cases())
    assert len({c["id"] for c in cases}) == len(cases)
    for case in cases:
        units = case["serial"] + sum(case["parallel"])
        assert (units == bench.UNITS) != case["id"].startswith("scaled")


def test_predictions_are_amdahls():
    for case in bench.cases():
        if case["id"].startswith(("serial", "free")):
            told = bench.predict_case(case, 1e-3)["predicted_s"]
            gain = scaling.amdahl(case["serial"] / bench.UNITS, case["workers"])
            assert told == pytest.approx(bench.UNITS * 1e-3 / gain, rel=1e-5)


def test_the_committed_prediction_is_of_these_cases():
    data = json.loads((FOLDER / "predictions" / f"{bench.NAME}.json").read_text())
    again = [bench.predict_case(case, data["unit_s"]) for case in bench.cases()]
    assert data["rows"] == again


def test_measuring_waits_for_the_commit_and_joins_its_prediction(
    commit, tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr(bench, "UNITS", 2)
    monkeypatch.setattr(bench, "SERIAL", (0,))
    monkeypatch.setattr(bench, "ENOUGH", bench.FEWEST)
    monkeypatch.setattr(bench, "wait_until_quiet", lambda _: True)
    few = [c for c in bench.cases() if c["id"] in ("serial-0-w1", "serial-0-w2")]
    monkeypatch.setattr(bench, "cases", lambda: iter(few))
    assert bench.measure(tmp_path) == 2  # nothing predicted
    bench.predict(tmp_path)
    assert bench.measure(tmp_path) == 2  # no repository
    commit(tmp_path)
    assert bench.measure(tmp_path) == 0
    result = json.loads((tmp_path / "results" / f"{bench.NAME}.json").read_text())
    assert [r["id"] for r in result["rows"]] == ["serial-0-w1", "serial-0-w2"]
    assert all(len(r["times_s"]) == bench.FEWEST for r in result["rows"])
    assert "commit the file" in capsys.readouterr().err


def test_without_a_quiet_moment_nothing_is_written(tmp_path, monkeypatch):
    monkeypatch.setattr(record, "committed", lambda _: True)
    monkeypatch.setattr(bench, "wait_until_quiet", lambda _: False)
    row = bench.predict_case(next(bench.cases()), 1e-3)
    record.write(
        tmp_path / "predictions" / f"{bench.NAME}.json", {"kind": "x", "rows": [row]}
    )
    assert bench.measure(tmp_path, budget_s=0.01) == 1
    assert not (tmp_path / "results").exists()

"""The benchmark of Amdahl's law: cases, prediction, and its refusals."""

from __future__ import annotations

import importlib.util
import json
import subprocess
from pathlib import Path

import pytest
import record

from stacklib.roofline.bound import scaling

FOLDER = Path(record.__file__).parent


@pytest.fixture(scope="module")
def bench():
    spec = importlib.util.spec_from_file_location("bench_amdahl", FOLDER / "amdahl.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _commit(folder: Path) -> None:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
    for arguments in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "x"]):
        command = ["git", *identity, *arguments]
        subprocess.run(command, cwd=folder, check=True, capture_output=True)


def test_every_case_is_the_same_work_but_the_one_that_grows(bench):
    cases = list(bench.cases())
    assert len({c["id"] for c in cases}) == len(cases)
    for case in cases:
        units = case["serial"] + sum(case["parallel"])
        assert (units == bench.UNITS) != case["id"].startswith("scaled")


def test_predictions_are_amdahls(bench):
    for case in bench.cases():
        if case["id"].startswith(("serial", "free")):
            told = bench.predict_case(case, 1e-3)["predicted_s"]
            gain = scaling.amdahl(case["serial"] / bench.UNITS, case["workers"])
            assert told == pytest.approx(bench.UNITS * 1e-3 / gain, rel=1e-5)


def test_the_committed_prediction_is_of_these_cases(bench):
    data = json.loads((FOLDER / "predictions" / bench.NAME).read_text())
    again = [bench.predict_case(case, data["unit_s"]) for case in bench.cases()]
    assert data["rows"] == again


def test_measuring_waits_for_the_commit_and_joins_its_prediction(
    bench, tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr(bench, "UNITS", 2)
    monkeypatch.setattr(bench, "SERIAL", (0,))
    monkeypatch.setattr(bench, "ENOUGH", bench.FEWEST)
    monkeypatch.setattr(bench, "wait_until_quiet", lambda _: True)
    few = [c for c in bench.cases() if c["id"] in ("serial-0-w1", "serial-0-w2")]
    monkeypatch.setattr(bench, "cases", lambda: iter(few))
    run = ["measure", "--folder", str(tmp_path)]
    assert bench.main(run) == 2  # nothing predicted
    bench.main(["predict", "--folder", str(tmp_path)])
    assert bench.main(run) == 2  # no repository
    _commit(tmp_path)
    assert bench.main(run) == 0
    result = json.loads((tmp_path / "results" / bench.NAME).read_text())
    assert [r["id"] for r in result["rows"]] == ["serial-0-w1", "serial-0-w2"]
    assert all(len(r["times_s"]) == bench.FEWEST for r in result["rows"])
    assert "commit the file" in capsys.readouterr().err


def test_without_a_quiet_moment_nothing_is_written(bench, tmp_path, monkeypatch):
    monkeypatch.setattr(bench.record, "committed", lambda _: True)
    monkeypatch.setattr(bench, "wait_until_quiet", lambda _: False)
    row = bench.predict_case(next(bench.cases()), 1e-3)
    record.write(tmp_path / "predictions" / bench.NAME, {"kind": "x", "rows": [row]})
    assert bench.measure(tmp_path, budget_s=0.01) == 1
    assert not (tmp_path / "results").exists()

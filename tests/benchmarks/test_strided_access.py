"""Strided walks are predicted from committed files and run only after a commit."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest
import record

import strided_access as bench  # isort: skip

from stacklib.memory.cache.walk import sawtooth

FOLDER = Path(record.__file__).parent


@pytest.fixture
def folder(folder) -> Path:
    """With the result of another benchmark, which its predictions use."""
    shutil.copy(FOLDER / "results" / "pointer_chases.json", folder / "results")
    return folder


def test_the_same_inputs_give_the_committed_rows(folder):
    bench.predict(folder)
    again = json.loads((folder / "predictions" / "strided_access.json").read_text())
    kept = json.loads((FOLDER / "predictions" / "strided_access.json").read_text())
    names = ("roofline", "chases")
    if any(kept[n]["sha256"] != again[n]["sha256"] for n in names):
        pytest.skip("its inputs were measured anew since")
    assert again["rows"] == kept["rows"]
    assert len({row["predicted_s"] for row in again["rows"]}) == 1
    assert all(row["alone_s"] > row["predicted_s"] for row in again["rows"])


def test_measuring_is_refused_before_a_commit(folder, capsys):
    subprocess.run(["git", "init", "-q", folder], check=True)
    bench.predict(folder)
    assert bench.measure(folder) == 2
    assert "refused" in capsys.readouterr().err
    assert not (folder / "results" / "strided_access.json").exists()


def test_rows_hold_the_sum_that_was_read(monkeypatch):
    monkeypatch.setattr(bench, "STRIDES", (1, 16, 64))
    one, line, far = bench.measured_rows(sawtooth(2**16), rounds=2)
    assert [len(row["times_s"]) for row in (one, line, far)] == [6, 6, 6]
    assert (one["total"], line["total"], far["total"]) == (1024 * 120, 0, 0)
    assert one["lines"] == line["lines"] == far["lines"] == 1024
    assert (one["elements"], far["elements"]) == (2**14, 1024)

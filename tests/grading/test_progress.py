"""Progress survives: whole files, damaged files, lost solutions."""

import json
from pathlib import Path

import pytest

from stacklib.grading import Result, TestResult, progress


def result(id: str, state: str) -> Result:
    return Result(id, Path("01_x.py"), "T", "build", (TestResult("test_x", state),))


def test_two_checkouts_share_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", "state")  # relative: no path, by its rule
    assert progress.former().is_absolute()
    one, other = (progress.place(tmp_path / name) for name in ("one", "other"))
    progress.record([result("1.1", "pass")], one)
    assert one == tmp_path / "one" / "my" / ".progress.json" and one.exists()
    assert progress.load(one)["1.1"]["state"] == "pass"
    assert progress.load(other) == {}


def test_the_first_day_of_a_solution_is_kept(tmp_path):
    path = tmp_path / "deep" / "progress.json"
    progress.record([result("1.1", "pass"), result("1.2", "todo")], path)
    day = progress.load(path)["1.1"]["solved"]
    progress.record([result("1.1", "fail")], path)
    assert progress.load(path)["1.1"]["state"] == "fail"
    assert progress.load(path)["1.1"]["solved"] == day
    assert "solved" not in progress.load(path)["1.2"]


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"exercises": 3}', '{"exercises": {"1.1": 3}}', "\xff"]
)
def test_a_damaged_file_is_set_aside_and_not_lost(tmp_path, text):
    path = tmp_path / "progress.json"
    data = text.encode("latin-1")
    for number in (1, 2):
        path.write_bytes(data)
        assert progress.load(path) == {}
        assert not path.exists()
        aside = tmp_path / f"progress.damaged-{number}.json"
        assert aside.read_bytes() == data
    progress.record([result("1.1", "pass")], path)
    assert progress.load(path)["1.1"]["state"] == "pass"


def test_a_write_that_fails_leaves_the_old_file_whole(tmp_path, monkeypatch):
    path = tmp_path / "progress.json"
    progress.record([result("1.1", "pass")], path)

    def full(*args):
        raise OSError("disk full")

    monkeypatch.setattr(progress.os, "replace", full)
    with pytest.raises(OSError, match="disk full"):
        progress.record([result("1.1", "fail")], path)
    assert json.loads(path.read_text())["exercises"]["1.1"]["state"] == "pass"
    assert [p.name for p in tmp_path.iterdir()] == ["progress.json"]

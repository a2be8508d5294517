"""``stacklib check``: exit status, hints, fresh stubs, progress and watching."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from stacklib.cli import main

BOOK = Path(__file__).parents[2]
FIRST = "exercises/01-roofline"


def others(_: str, names: list[str]) -> list[str]:
    """Files of the exercises after the third, which ``copytree`` leaves out."""
    return [n for n in names if n[:2].isdigit() and n[:2] > "03"]


@pytest.fixture
def root(book, tmp_path, monkeypatch) -> Path:
    """A copy of three of the first chapter's exercises, and a state folder."""
    shutil.copytree(book / FIRST, tmp_path / FIRST, ignore=others)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path


def solve(root: Path, stem: str) -> Path:
    """Put the solution where the reader's file is."""
    chapter = root / "exercises" / "01-roofline"
    shutil.copy(chapter / "solutions" / f"{stem}.py", chapter / f"{stem}.py")
    return chapter / f"{stem}.py"


def check(root: Path, *argv: str) -> int:
    return main(["check", *argv, "--root", str(root)])


def test_all_as_shipped_fail_and_the_next_is_named(root, capsys):
    assert check(root) == 1
    out = capsys.readouterr().out
    assert "01-roofline: 0 of 3 pass  [...]" in out
    assert "next: 1.1" in out
    assert "write bytes_per_chip" in out


def test_a_solved_one_passes_and_is_remembered(book, root, capsys):
    path = solve(root, "01_one_word")
    assert check(root, "1.1") == 0
    assert "4 of 4 tests pass" in capsys.readouterr().out
    stub = (book / FIRST / path.name).read_text()
    path.write_text(stub)
    assert check(root, "1") == 1
    assert "1.1 passed on 20" in capsys.readouterr().out


def test_a_wrong_answer_is_diagnosed(root, capsys):
    path = solve(root, "01_one_word")
    path.write_text(path.read_text().replace("return 2 * 70 / 2", "return 2 * 70"))
    assert check(root, "1.1") == 1
    assert "One chip holds and reads half of the model." in capsys.readouterr().out


def test_json_is_one_object(root, capsys):
    assert check(root, "1", "--json") == 1
    found = json.loads(capsys.readouterr().out)
    assert found["passed"] is False
    assert [e["id"] for e in found["exercises"]] == ["1.1", "1.2", "1.3"]
    assert {e["state"] for e in found["exercises"]} == {"todo"}


def test_the_hint_is_the_solutions(root, capsys):
    assert check(root, "1.1", "--hint") == 0
    assert "A multiply and an add are two FLOP." in capsys.readouterr().out


def test_reset_writes_beside_and_never_over(book, root, capsys):
    path = solve(root, "01_one_word")
    solved, stub = path.read_text(), (book / FIRST / path.name).read_text()
    for name in ("01_one_word.fresh.py", "01_one_word.fresh2.py"):
        assert check(root, "1.1", "--reset") == 0
        assert f"wrote {path.with_name(name)}" in capsys.readouterr().out
        assert path.with_name(name).read_text() == stub
        assert path.read_text() == solved


def test_reset_gives_a_lost_file_back(root, capsys):
    path = root / "exercises" / "01-roofline" / "01_one_word.py"
    stub = path.read_text()
    path.unlink()
    assert check(root, "1.1") == 2
    assert "check 1.1 --reset" in capsys.readouterr().err
    assert check(root, "1.1", "--reset") == 0
    assert path.read_text() == stub


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["1.9"], "'1.9' names no exercise; the nearest is 1.3"),
        (["9"], "the nearest is 1.1"),
        (["one-word"], "the nearest is 1.1"),
        (["1", "--hint"], "--hint is for one exercise, such as 1.1"),
        (["--reset"], "--reset is for one exercise"),
        (["1.1", "--timeout", "0"], "seconds above 0 are needed"),
        (["1.1", "--timeout", "nan"], "seconds above 0 are needed"),
        (["1.1", "--watch", "--json"], "use one"),
    ],
)
def test_bad_input_is_named(root, capsys, argv, message):
    assert check(root, *argv) == 2
    assert message in capsys.readouterr().err


def test_a_root_without_exercises_is_named(tmp_path, capsys):
    assert check(tmp_path) == 2
    assert "no folder exercises/ in it" in capsys.readouterr().err


def test_a_damaged_progress_file_is_set_aside(root, capsys):
    state = root / "state" / "stacklib" / "progress.json"
    state.parent.mkdir(parents=True)
    state.write_text("{ half a file")
    assert check(root, "1.1") == 1
    assert json.loads(state.read_text())["exercises"]["1.1"]["state"] == "todo"
    aside = state.with_name("progress.damaged-1.json")
    assert aside.read_text() == "{ half a file"


def test_a_state_folder_that_cannot_be_written_does_not_stop_the_grading(
    root, monkeypatch, capsys
):
    (root / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(root / "file"))
    assert check(root, "1.1") == 1
    assert "progress not kept" in capsys.readouterr().err


def test_nothing_in_the_checkout_changes(root):
    def state() -> dict[Path, bytes]:
        files = (p for p in (root / "exercises").rglob("*") if p.is_file())
        return {p: p.read_bytes() for p in files}

    before = state()
    check(root)
    assert state() == before


class Watching:
    """``stacklib check 1.1 --watch`` in a process, read line by line."""

    def __init__(self, root: Path) -> None:
        command = [sys.executable, "-m", "stacklib.cli", "check", "1.1", "--watch"]
        self.process = subprocess.Popen(
            [*command, "--root", str(root)],
            cwd=BOOK,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def until(self, text: str) -> str:
        """What is printed up to the line that holds ``text``."""
        seen = ""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            seen += line
            if text in line:
                return seen
        raise AssertionError(f"{text!r} is not in {seen!r}")


def test_watch_grades_again_on_each_save_and_ends_with_ctrl_c(root):
    watching = Watching(root)
    try:
        assert "write bytes_per_chip" in watching.until("Ctrl-C stops")
        path = solve(root, "01_one_word")
        assert "1.1   pass" in watching.until("Ctrl-C stops")
        # Editors save by replacing the file: it is gone for a moment.
        text = path.read_text()
        path.unlink()
        time.sleep(0.5)
        path.write_text(text.replace("return 2 * 70 / 2", "return 16 * 70 / 2"))
        assert "a byte is eight bits" in watching.until("Ctrl-C stops")
        os.kill(watching.process.pid, signal.SIGINT)
        assert watching.process.wait(5) == 0
    finally:
        watching.process.kill()
        watching.process.communicate()

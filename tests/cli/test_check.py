"""``stacklib start`` and ``check``: copies, exit status, hints, progress, watching."""

from __future__ import annotations

import importlib
import json
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import termios
import time
from datetime import date
from pathlib import Path

import pytest

from stacklib import grading
from stacklib.cli import main
from stacklib.cli.checks import watch as check_watch

BOOK = Path(__file__).parents[2]
FIRST = "exercises/01-roofline"
LINES = termios.ICANON | termios.ECHO


def others(_: str, names: list[str]) -> list[str]:
    """Files of the exercises after the third, which ``copytree`` leaves out."""
    return [n for n in names if n[:2].isdigit() and n[:2] > "03"]


@pytest.fixture
def root(tmp_path, monkeypatch) -> Path:
    """A copy of three of the first chapter's exercises, and a state folder."""
    place = tmp_path / "a checkout"
    shutil.copytree(BOOK / FIRST, place / FIRST, ignore=others)
    monkeypatch.setenv("XDG_STATE_HOME", str(place / "state"))
    return place


def solve(root: Path, stem: str) -> Path:
    """Put the book's file where the reader's copy is."""
    mine = root / "my" / "01-roofline" / f"{stem}.py"
    mine.parent.mkdir(parents=True, exist_ok=True)
    return Path(shutil.copy(root / FIRST / f"{stem}.py", mine))


def stub(stem: str) -> str:
    """What a reader begins with."""
    return grading.stub((BOOK / FIRST / f"{stem}.py").read_text())


def check(root: Path, *argv: str) -> int:
    return main(["check", *argv, "--root", str(root)])


def start(root: Path, *argv: str) -> int:
    return main(["start", *argv, "--root", str(root)])


def test_start_writes_the_copies_and_says_where_to_begin(root, capsys, monkeypatch):
    monkeypatch.chdir(root)
    assert start(root, "1.2") == 0
    out = capsys.readouterr().out
    assert "your exercises, in my/: 1, 1 new" in out
    assert "begin in my/01-roofline/02_break_even_batch.py" in out
    assert start(root, "1") == 0
    assert "in my/: 3, 2 new" in capsys.readouterr().out
    assert start(root) == 0
    assert capsys.readouterr().out == "your exercises, in my/: 3\n"
    for path in (root / FIRST).glob("*.py"):
        assert (root / "my/01-roofline" / path.name).read_text() == stub(path.stem)


def test_start_after_an_update_says_what_it_renewed_and_what_it_left(root, capsys):
    start(root)
    noted = root / "my" / "01-roofline" / "02_break_even_batch.py"
    noted.write_text(noted.read_text().replace("level:", "A note.\n\nlevel:"))
    for stem in ("01_one_word", "02_break_even_batch"):
        book = root / FIRST / f"{stem}.py"
        book.write_text(book.read_text().replace("\nhint:", "\nWell.\n\nhint:"))
    capsys.readouterr()
    assert start(root) == 0
    out = capsys.readouterr().out
    assert "in my/: 3, 1 renewed" in out and "stacklib check 1.2 --reset" in out
    assert "A note." in noted.read_text() and "Well." not in noted.read_text()
    assert start(root, "--json") == 0
    rows = json.loads(capsys.readouterr().out)["exercises"]
    assert [row["state"] for row in rows] == ["kept", "both", "kept"]


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("1.9", "there is chapter 1 (1.1 to 1.3)"),
        (f"{FIRST}/01_one_word.py", "such as 1.2"),
    ],
)
def test_start_names_bad_input(root, capsys, monkeypatch, target, message):
    monkeypatch.chdir(root)
    assert start(root, target) == 2
    assert message in capsys.readouterr().err
    assert not (root / "my").exists()


def test_all_as_shipped_fail_and_the_next_is_named(root, capsys):
    assert check(root) == 1
    out = capsys.readouterr().out
    assert "01-roofline: 0 of 3 pass  [...]" in out
    assert "next: 1.1" in out
    assert "write bytes_per_chip" in out


def test_a_solved_one_passes_and_is_remembered(root, capsys):
    path = solve(root, "01_one_word")
    assert check(root, "1.1") == 0
    assert "4 of 4 tests pass" in capsys.readouterr().out
    path.write_text(stub(path.stem))
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


def test_reset_begins_anew_and_keeps_what_was_written(root, capsys):
    day = date.today().isoformat()
    for name in (f"01_one_word.{day}.py", f"01_one_word.{day}.2.py"):
        path = solve(root, "01_one_word")
        solved = path.read_text()
        assert check(root, "1.1", "--reset") == 0
        out = capsys.readouterr().out
        assert f"wrote {path}" in out and f"is in {path.with_name(name)}" in out
        assert path.with_name(name).read_text() == solved
        assert path.read_text() == stub(path.stem)
    assert check(root, "1.1", "--reset", "--json") == 0
    assert json.loads(capsys.readouterr().out)["kept"] is None


def test_a_lost_copy_comes_back(root):
    path = root / "my" / "01-roofline" / "01_one_word.py"
    for option in ((), ("--reset",)):
        assert check(root, "1.1", *option) == 1 - len(option)
        assert path.read_text() == stub(path.stem)
        path.unlink()


def test_a_file_of_the_readers_is_graded_wherever_it_lies(root, capsys, monkeypatch):
    mine = solve(root, "01_one_word").rename(root / "of one word.py")
    monkeypatch.chdir(root)
    for target in (mine.name, str(mine)):
        assert check(Path("."), target) == 0
        assert "1.1   pass" in capsys.readouterr().out
    assert not list((root / "my").glob("**/*.py"))
    mine.write_text(stub("01_one_word"))
    assert check(root, mine.name) == 1
    assert "of one word.py:" in capsys.readouterr().out
    assert check(root, f"{FIRST}/01_one_word.py") == 2
    assert "holds the book's answer" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["1.9"], "'1.9' names no exercise; there is chapter 1 (1.1 to 1.3)"),
        (["9"], "there is chapter 1 (1.1 to 1.3)"),
        (["one-words"], "one_word is 1.1"),
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
    start(root)
    state = root / "my" / ".progress.json"
    state.write_text("{ half a file")
    assert check(root, "1.1") == 1
    assert json.loads(state.read_text())["exercises"]["1.1"]["state"] == "todo"
    aside = state.with_name(".progress.damaged-1.json")
    assert aside.read_text() == "{ half a file"


def test_progress_that_cannot_be_kept_does_not_stop_the_grading(root, capsys):
    (root / "my" / ".progress.json").mkdir(parents=True)
    assert check(root, "1.1") == 1
    assert "progress not kept" in capsys.readouterr().err


def test_progress_of_an_earlier_edition_is_told_of_once(root, capsys):
    former = root / "state" / "stacklib" / "progress.json"
    former.parent.mkdir(parents=True)
    former.write_text('{"exercises": {"1.1": {"state": "pass"}}}')
    for told in (True, False):
        assert check(root, "1.1") == 1
        out, err = capsys.readouterr()
        assert (f"stays in {former}" in err) == told and "passed on" not in out


def test_nothing_in_the_checkout_changes(root):
    def state() -> dict[Path, bytes]:
        folders = (root / "exercises", root / "my")
        files = (p for folder in folders for p in folder.rglob("*") if p.is_file())
        return {p: p.read_bytes() for p in files if p.name != ".progress.json"}

    start(root)
    solve(root, "01_one_word")
    before = state()
    check(root)
    assert state() == before


class Watching:
    """``stacklib check TARGET --watch`` in a process, and what it prints; with
    ``terminal`` at a pseudo-terminal, where ``press`` types a key.
    """

    def __init__(
        self, root: Path, target: str, terminal: bool = False, plain: str = "1"
    ) -> None:
        command = [sys.executable, "-m", "stacklib.cli", "check", target, "--watch"]
        self.ours, self.theirs = pty.openpty() if terminal else os.pipe()
        self.heard = b""
        self.process = subprocess.Popen(
            [*command, "--root", str(root)],
            cwd=BOOK,
            env={**os.environ, "PYTHONUNBUFFERED": "1", "NO_COLOR": plain},
            stdin=self.theirs if terminal else subprocess.DEVNULL,
            stdout=self.theirs,
            start_new_session=True,
            # What runs in a shell's background was told to ignore Ctrl-C.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )

    def __enter__(self) -> Watching:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self.ours)
        os.close(self.theirs)

    def press(self, key: str) -> str:
        """What is printed after a key, up to the line that names the keys."""
        os.write(self.ours, key.encode())
        return self.until("q quit")

    def until(self, text: str) -> str:
        """What is printed up to ``text`` and with it."""
        while text.encode() not in self.heard:
            assert select.select([self.ours], [], [], 300)[0], self.heard.decode()
            self.heard += os.read(self.ours, 4096)
        seen, _, self.heard = self.heard.partition(text.encode())
        return seen.decode() + text


def test_watch_grades_again_on_each_save_and_ends_with_ctrl_c(root):
    with Watching(root, "1.1") as watching:
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
        assert watching.process.wait(60) == 0


def test_a_system_without_single_keys_still_watches():
    script = (
        "import sys; sys.modules['termios'] = None\n"
        "from stacklib.cli.checks import watch; print(watch.KEYED)"
    )
    command = [sys.executable, "-c", script]
    assert subprocess.run(command, capture_output=True, text=True).stdout == "False\n"


def test_at_a_terminal_watch_is_a_course_by_keys(root):
    with Watching(root, "1", terminal=True) as course:
        first = course.until("q quit")
        assert first.startswith(check_watch.CLEAR)
        assert re.search(r"01_one_word\.py:\d+: test_bytes_per_chip", first)
        assert "1.1   todo" in first and "1.2" not in first
        assert f"[{'.' * 40}] 0 of 3 pass" in first
        assert not termios.tcgetattr(course.theirs)[3] & LINES
        path = solve(root, "01_one_word")
        saved = course.until("q quit")  # and goes on by itself
        assert saved.index("1.1   pass") < saved.index("1.2   todo")
        assert f"[{'#' * 13}{'.' * 27}] 1 of 3 pass" in saved
        assert "a stay after a pass" in saved
        assert "Write N for the weights" in course.press("h")
        listed = course.press("l")
        assert "  1.1   pass  " in listed and "> 1.2   todo  " in listed
        assert "  1.3   new   " in listed
        assert "1.3   todo" in course.press("n") and "1.2   todo" in course.press("n")
        path.touch()  # where the reader saves is where the reader is
        saved = course.until("q quit")  # it passed before: the reader stays
        assert "1.1   pass" in saved and "1.2" not in saved
        kept = path.with_name(f"01_one_word.{date.today()}.py")
        solved, again = path.read_bytes(), course.press("r")
        assert kept.name in again and "1.1   todo" in again
        assert "0 of 3 pass" in again and path.read_text() == stub(path.stem)
        assert kept.read_bytes() == solved
        assert "a go on after a pass" in course.press("a")
        solve(root, "01_one_word")
        saved = course.until("q quit")
        assert "1.1   pass" in saved and "1.2" not in saved
        os.write(course.ours, b"q")
        course.until("stopped")
        assert course.process.wait(60) == 0
        # The shell gets its terminal back: whole lines, and shown as typed.
        assert termios.tcgetattr(course.theirs)[3] & LINES == LINES


def test_at_a_terminal_states_are_coloured(root):
    with Watching(root, "1", terminal=True, plain="") as course:
        assert "\x1b[33mtodo \x1b[0m" in course.until("q quit")
        os.write(course.ours, b"q")
        course.until("stopped")


def test_a_half_written_save_is_waited_for(root, monkeypatch):
    monkeypatch.setattr(check_watch, "PATIENCE", 1e9)
    path = solve(root, "01_one_word")
    saves = check_watch.Saves([grading.discover(root)[0]])
    assert len(saves.since()) == 1 and not saves.since()
    text = path.read_text()
    for half in ("", text[: len(text) // 3], text[: text.index("rel=0.002")]):
        path.write_text(half)
        assert not saves.since() and not saves.since() and not saves.since()
    path.write_text(text + "\n")
    assert not saves.since()  # it may still grow
    assert len(saves.since()) == 1 and not saves.since()
    path.write_text("no exercise any more")
    assert not saves.since()
    monkeypatch.setattr(check_watch, "PATIENCE", -1)
    assert len(saves.since()) == 1


@pytest.mark.parametrize(
    "target",
    [
        "my/01-roofline/01_one_word.py",
        "my/01-roofline/01_one_word.py:33",
        "01_one_word.py",
        "01_one_word.py:33:",
        "01_one_word",
        "one_word",
        "one-word",
    ],
)
def test_what_check_prints_is_understood_by_check(root, capsys, monkeypatch, target):
    solve(root, "01_one_word")
    monkeypatch.chdir(root)
    assert check(Path("."), target) == 0
    assert "1.1   pass" in capsys.readouterr().out


def test_a_chapters_folder_names_the_chapter(root, monkeypatch):
    seen = []
    ours = importlib.import_module("stacklib.cli.check")
    monkeypatch.setattr(ours, "check", lambda *asked: seen.append(asked[0]) or 1)
    targets = "01-roofline", "my/01-roofline/", "exercises/01-roofline"
    assert [check(root, target) for target in targets] == [1, 1, 1]
    assert [[one.id for one in each] for each in seen] == [["1.1", "1.2", "1.3"]] * 3


def test_a_course_begins_at_the_first_that_is_not_solved(root):
    path, exercises = solve(root, "01_one_word"), grading.discover(root)
    check(root)
    course = check_watch.begin(exercises, grading.Limits())
    assert course.current.id == "1.2"
    assert list(course.states.values()) == ["pass", "todo", "todo"]
    path.write_text(stub(path.stem))
    assert check_watch.begin(exercises, grading.Limits()).current.id == "1.1"


def test_keys_are_letters_typed_and_a_terminal_gone_is_q():
    ours, theirs = os.pipe()
    assert check_watch.typed(ours) == ""
    os.write(theirs, b"\x1b[H")  # the key Home is no h
    assert check_watch.typed(ours) == ""
    os.write(theirs, b"nH")
    assert check_watch.typed(ours) == "nh"
    os.close(theirs)
    assert check_watch.typed(ours) == "q"
    os.close(ours)

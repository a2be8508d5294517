"""The face of `make test`: how far it is, and its last lines."""

from pathlib import Path
from types import SimpleNamespace

import pytest
from _tools import durations, processors, progress, suite

NODES = ["tests/gpu/test_a.py::test_1", "tests/gpu/test_a.py::test_2", "tests/t.py::t"]


class Terminal:
    """A log, or a terminal whose last line is written over."""

    def __init__(self, isatty: bool) -> None:
        self.isatty, self.text = isatty, ""

    def write(self, text: str) -> None:
        self.text += text

    def write_line(self, text: str) -> None:
        self.text += text + "\n"

    def rewrite(self, text: str, erase: bool) -> None:
        self.text += "\r" + text


def ended(node: str, *outcomes: str) -> list[SimpleNamespace]:
    """Reports of one test: its setup where two are given, call and teardown."""
    phases = ("setup", "call", "teardown")[3 - len(outcomes) :]
    return [
        SimpleNamespace(
            nodeid=node, when=when, outcome=o, **{k: o == k for k in progress.KINDS}
        )
        for when, o in zip(phases, outcomes, strict=True)
    ]


@pytest.mark.parametrize("isatty", [False, True])
def test_a_line_for_each_part_and_for_each_failure(isatty: bool):
    shown = progress.Progress({"tests/gpu/test_a.py": 30.0, "tests/t.py": 10.0})
    shown.out = terminal = Terminal(isatty)
    shown.pytest_xdist_node_collection_finished(NODES)
    shown.pytest_xdist_node_collection_finished(NODES)  # of the other worker
    for report in [
        *ended(NODES[0], "passed", "passed", "passed"),
        *ended(NODES[2], "skipped", "passed"),
        *ended(NODES[1], "passed", "failed", "passed"),
    ]:
        shown.pytest_runtest_logreport(report)
    ends = [line[32:] for line in terminal.text.split("\r" if isatty else "\n")]
    said = [line.strip() for line in ends if line.strip()]
    assert said[0] == "3 tests and cells collected"
    assert [s for s in said if not s.startswith("in ")][1:] == [
        "tests: 1 skipped",
        f"FAILED {NODES[1]}",
        "tests/gpu: 1 failed, 1 passed",
    ]
    assert ("\r" in terminal.text) == isatty
    assert list(shown.failed) == [NODES[1]]


def test_what_is_left_goes_by_what_files_took():
    shown = progress.Progress({"tests/gpu/test_a.py": 30.0})
    shown.out = Terminal(False)
    shown.pytest_xdist_node_collection_finished(NODES)
    assert shown.far(shown.started + 60) == "  0%"
    for report in ended(NODES[0], "passed", "passed"):
        shown.pytest_runtest_logreport(report)
    # 15 of 45 s in a minute: the third test, never timed, counts as the others do.
    assert shown.far(shown.started + 60) == " 33%, 2 minutes left"


@pytest.fixture
def sessions(monkeypatch, repo: Path):
    """Targets of each session, which fails where it is told to."""
    seen, failing = [], []

    def session(targets, options, root):
        seen.append((list(targets), list(options), None))
        return SimpleNamespace(code=int(False in failing), failed={})

    def apart(targets, setting, root):
        seen.append((list(targets), [], setting))
        fails = True in failing
        return int(fails), ["a.ipynb::Cell 1"] if fails else [], {}

    monkeypatch.chdir(repo)
    monkeypatch.setattr(suite, "session", session)
    monkeypatch.setattr(suite, "apart", apart)
    monkeypatch.setattr(suite, "static", lambda root: 0)
    monkeypatch.setattr(processors, "drawn", lambda root: ("Nehalem", ["a.ipynb"]))
    monkeypatch.setattr(durations, "reference", lambda: durations.spent() / 50)
    (repo / "book" / "budget.toml").write_text("[suite]\nunits = 40\n")
    return seen, failing


def test_what_is_drawn_runs_once_under_its_setting(sessions, repo: Path, capsys):
    seen, _ = sessions
    assert suite.main([], repo) == 0
    (drawn, _, setting), (here, others, native) = seen
    assert (drawn, setting) == (["a.ipynb"], processors.SETTINGS["Nehalem"])
    assert "--ignore=a.ipynb" in others and native is None and "book" in here
    assert "not slow" in others
    *_, units, warning, last = capsys.readouterr().out.splitlines()
    assert units.startswith("= 50 times the reference loop") and "budget 40" in units
    assert warning.startswith("warning: 2") and "over the budget" in warning
    assert last == "as Nehalem: 1 files pass; again: make processor"


@pytest.mark.parametrize("where", [True, False])
def test_a_failure_in_either_session_fails(sessions, repo: Path, where: bool, capsys):
    sessions[1].append(where)
    assert suite.main([], repo) == 1
    last = capsys.readouterr().out.splitlines()[-1]
    again = 'FAILED; again: make processor NAME=Nehalem FILES="a.ipynb"'
    assert last.endswith(again if where else "again: make processor")


def test_all_of_it_runs_each_setting_and_starts_each_kernel(sessions, repo, capsys):
    (repo / "chapters" / "01-roofline" / "b.ipynb").write_text("{}")
    assert suite.main(["--all"], repo) == 0
    seen, _ = sessions
    possible = [n for n in processors.SETTINGS if processors.possible(n)]
    notebooks = ["chapters/01-roofline/b.ipynb"]
    assert [s for *_, s in seen[:-1]] == [processors.WHOLE[n] for n in possible]
    assert all(targets == notebooks for targets, *_ in seen[:-1])
    assert seen[-1][1] == [suite.PLAIN]  # nothing left out, no kernel forked
    told = capsys.readouterr().out
    for name in processors.SETTINGS:
        assert f"as {name}: " in told


def test_a_failed_test_runs_again_and_says_what_it_compared(tmp_path: Path, capfd):
    (tmp_path / "test_it.py").write_text("def test_it():\n    assert 6 * 7 == 41\n")
    suite.explained(["a.ipynb::Cell 1", "test_it.py::test_it"], tmp_path)
    assert "assert (6 * 7) == 41" in capfd.readouterr().out
    suite.explained(["a.ipynb::Cell 1"], tmp_path)
    assert capfd.readouterr().out == ""

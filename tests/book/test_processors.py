"""The settings of other processors, what is drawn to run under one, and its row."""

import os
import subprocess
import sys
from types import SimpleNamespace

import pytest
from _tools import processors, tree


def test_six_settings_are_named_and_threads_can_always_be_set():
    assert list(processors.SETTINGS) == [
        *("Nehalem", "Haswell", "Zen", "SkylakeX"),
        *("one-thread", "two-threads"),
    ]
    assert processors.possible("one-thread") and processors.possible("two-threads")
    assert processors.SETTINGS["two-threads"]["OMP_NUM_THREADS"] == "2"


@pytest.mark.parametrize("name", processors.SETTINGS)
def test_numpy_takes_what_a_setting_turns_off_without_a_warning(name):
    if not processors.possible(name):
        pytest.skip(f"{name}: not run (needs {', '.join(processors.missing(name))})")
    env = {**os.environ, **processors.SETTINGS[name]}
    command = [sys.executable, "-W", "error", "-c", "import numpy"]
    assert subprocess.run(command, env=env, capture_output=True).stderr == b""


def test_what_a_processor_has_not_is_not_run(monkeypatch, capsys):
    monkeypatch.setattr(processors, "FOUND", ["X86_V3"])
    assert processors.possible("Haswell") and not processors.possible("SkylakeX")
    assert processors.main(["SkylakeX"]) == 2
    assert "SkylakeX needs X86_V4" in capsys.readouterr().err
    assert processors.main(["Haswel"]) == 2
    assert "nearest: Haswell" in capsys.readouterr().err
    assert processors.main([]) == 0
    assert "SkylakeX    not here: X86_V4" in capsys.readouterr().out


def test_a_tenth_is_drawn_by_the_tree(repo):
    folder = repo / "chapters" / "01-roofline"
    for i in range(30):
        (folder / f"n{i}.ipynb").write_text("{}")
    (repo / "tests").mkdir()
    (repo / "tests" / "test_a.py").write_text("import numpy as np\n")
    (repo / "tests" / "test_b.py").write_text('"""import numpy: no."""\n')
    first = processors.drawn(repo)
    assert first == processors.drawn(repo)
    assert first[0] in processors.SETTINGS
    assert len(first[1]) == 4 and first[1][-1] == "tests/test_a.py"
    seen = {tuple(first[1])}
    for i in range(3):
        (folder / "n1.ipynb").write_text(f'{{"a": {i}}}')
        seen.add(tuple(processors.drawn(repo)[1]))
    assert len(seen) == 4


def test_a_row_counts_files_and_a_notebook_with_one_bad_cell_is_different():
    def report(*ids: str) -> list[SimpleNamespace]:
        return [SimpleNamespace(nodeid=id) for id in ids]

    said: list[str] = []
    stats = {
        "passed": report("chapters/a.ipynb::Cell 0", "tests/test_b.py::test_c"),
        "failed": report("chapters/a.ipynb::Cell 1"),
        "error": report("chapters/d.ipynb"),
    }
    reporter = SimpleNamespace(stats=stats, write_line=said.append)
    processors.pytest_terminal_summary(reporter)
    assert said[:2] == ["differs: chapters/a.ipynb", "differs: chapters/d.ipynb"]
    assert "0 notebooks equal, 2 different |   1 test files pass, 0 fail" in said[2]


def test_the_environment_of_a_setting_reaches_what_is_run(monkeypatch):
    seen = {}

    def record(command, cwd, env):
        seen.update(command=command, env=env)
        return SimpleNamespace(returncode=0)

    monkeypatch.setattr(subprocess, "run", record)
    notebook = tree.name(tree.notebooks()[0])
    assert processors.main(["one-thread", notebook]) == 0
    assert seen["command"][-1] == notebook
    assert seen["env"][processors.NAME] == "one-thread"
    assert seen["env"]["NUMBA_NUM_THREADS"] == "1"

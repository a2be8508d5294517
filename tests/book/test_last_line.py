"""What could not be run is said in the last line of a run."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from _tools import tree

TESTS = """
import pytest
def test_a(): pass
def test_b(): pytest.skip("browser tests: not run (no Chromium)")
def test_c(): pytest.skip("browser tests: not run (no Chromium)")
def test_d(): pytest.skip("needs a GPU")
def test_f(): pytest.skip("needs a GPU")
def test_e(): pytest.skip("prediction order: not run (shallow clone)")
"""


FORKS = ["-p", "_tools.forked_workers", "--workers", "2"]


@pytest.mark.parametrize("parallel", [[], FORKS])
def test_what_was_not_run_comes_last_and_once(
    tmp_path: Path, parallel: list[str], monkeypatch
):
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # a third of the time
    folder = tmp_path / "tests"
    folder.mkdir()
    for name in ("conftest.py", "rows.py"):
        shutil.copy(tree.ROOT / "tests" / name, folder)
    (folder / "test_planted.py").write_text(TESTS)
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *parallel]
    command += ["--import-mode=importlib", "--rootdir=."]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    lines = done.stdout.splitlines()
    assert "1 passed, 5 skipped" in lines[-4]
    assert lines[-3:] == [
        "browser tests: not run (no Chromium)",
        "prediction order: not run (shallow clone)",
        "skipped besides: needs a GPU (2)",
    ]

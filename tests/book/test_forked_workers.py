"""Forks of one process run what it has collected, as one process would."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from _tools import forked_workers

pytestmark = pytest.mark.skipif(
    not forked_workers.POSSIBLE, reason="forks: not run (this system forks unsafely)"
)
FILE = """
import os, warnings
import pytest
class Own(UserWarning): pass
@pytest.fixture(scope="module")
def place(tmp_path_factory):
    yield tmp_path_factory.mktemp("own")
    print("fixture ended")
def test_passes(place):
    place.joinpath("a").write_text("")
    warnings.warn("seen in {name}", Own)
def test_fails(place):
    print("printed by {name}")
    assert [*place.iterdir()] == [], os.getpid()
def test_skips(place): pytest.skip("of no use")
"""

WAITS = """
import os, time
def test_waits():
    open("pid", "w").write(str(os.getpid()))
    time.sleep(60)
    open("ended", "w")
"""
FAILS = """
import os, time
def test_fails():
    while not os.path.exists("pid"): time.sleep(0.01)
    assert 0
"""
PRINTED = re.compile(r"Captured stdout call -+\nprinted by (.)\n")


def ran(folder: Path, *options: str) -> str:
    """What pytest says of a folder's tests."""
    plugin = ("-p", "_tools.forked_workers", "-p", "no:cacheprovider", "-p", "no:xdist")
    command = [sys.executable, "-m", "pytest", *plugin, *options]
    env = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=env)
    return done.stdout + done.stderr


def test_two_workers_say_what_one_process_says(tmp_path: Path):
    for name in "abc":
        (tmp_path / f"test_{name}.py").write_text(FILE.format(name=name))
    alone, forked = ran(tmp_path), ran(tmp_path, "--workers", "2")
    for said in (alone, forked):
        assert "3 failed, 3 passed, 3 skipped, 3 warnings" in said
        assert sorted(PRINTED.findall(said)) == ["a", "b", "c"]
        assert all(f": seen in {name}" in said for name in "abc")
    pids = {*re.findall(r"AssertionError: (\d+)", forked)}
    assert 1 <= len(pids) <= 2 and str(os.getpid()) not in pids


def test_a_worker_that_dies_is_told_with_its_test(tmp_path: Path):
    dies = "import os\ndef test_a(): pass\ndef test_dies(): os.kill(os.getpid(), 9)\n"
    (tmp_path / "test_one.py").write_text(dies)
    (tmp_path / "test_two.py").write_text("def test_b(): pass\n")
    said = ran(tmp_path, "--workers", "2")
    assert "a worker ended in test_one.py::test_dies" in said


def test_an_interrupted_run_leaves_no_worker(tmp_path: Path):
    (tmp_path / "test_one.py").write_text(WAITS)
    (tmp_path / "test_two.py").write_text(FAILS)
    assert "1 failed" in ran(tmp_path, "--workers", "2", "-x")
    assert not (tmp_path / "ended").exists()
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)

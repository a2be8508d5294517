"""The suite says what it has cost, by file, whoever ran it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from _tools import durations

BUSY = """
import time
def test_busy():
    begun = time.process_time()
    while time.process_time() - begun < 0.25: pass
"""
CHILD = """
import subprocess, sys
def test_child(): subprocess.run([sys.executable, "-c", {code!r}], check=True)
"""
RUN = """
import sys, pytest
from pathlib import Path
from _tools import durations
pytest.main(["-p", "_tools.durations", "-p", "no:cacheprovider", *sys.argv[1:]])
durations.store(Path())
print(durations.total())
"""


FORKS = ["-p", "_tools.forked_workers", "--workers", "2"]


@pytest.mark.parametrize("parallel", [[], FORKS, ["-p", "xdist", "-n", "2"]])
def test_a_file_costs_what_its_tests_and_their_children_take(
    tmp_path: Path, parallel: list[str], monkeypatch
):
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    (tmp_path / "test_alone.py").write_text(BUSY)
    child = CHILD.format(code=BUSY.strip() + "\ntest_busy()")
    (tmp_path / "test_parent.py").write_text(child)
    command = [sys.executable, "-c", RUN, *parallel]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert "CPU seconds" in done.stdout and "2 passed" in done.stdout
    held = json.loads(durations.place(tmp_path).read_text())
    assert set(held) == {"test_alone.py", "test_parent.py", durations.COLLECTING}
    assert min(held["test_alone.py"], held["test_parent.py"]) >= 0.2
    assert list(held.values()) == sorted(held.values(), reverse=True)
    assert len(durations.slowest(2, tmp_path).splitlines()) == 2


def test_before_a_first_run_nothing_is_known(tmp_path: Path):
    assert durations.last_run(tmp_path) == {}
    assert durations.slowest(10, tmp_path) == "no whole run is stored: make test"


def test_the_reference_loop_is_steady():
    one, other = durations.loop(), durations.loop()
    assert 0.3 < one / other < 3

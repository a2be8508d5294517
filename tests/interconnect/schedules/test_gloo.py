"""The same schedules over processes that send and receive."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from stacklib.interconnect.schedules.algorithms import KNOWN

WORKER = Path(__file__).with_name("gloo_worker.py")
pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("torch") is None, reason="torch is not installed"
)


def _gloo(world: int, store: Path) -> list[str]:
    started = [
        subprocess.Popen(
            [sys.executable, str(WORKER), str(rank), str(world), str(store), "60"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(world)
    ]
    try:
        told = [process.communicate(timeout=120) for process in started]
    finally:
        for process in started:
            process.kill()
    for process, (_, wrong) in zip(started, told, strict=True):
        assert process.returncode == 0, wrong
    return [out for out, _ in told]


def _expect(world: int, told: list[str]) -> None:
    """Every algorithm; switches where a process is left to be one."""
    names = [name for table in KNOWN.values() for name in table]
    switched = [name for name in names if name in ("in_switch", "collnet")]
    ran = len(names) - (world == 2) * len(switched)
    for rank, text in enumerate(told):
        assert f"rank {rank}: {ran} schedules" in text
    # who stays away is named by who waits for it, within its limit
    assert f"rank {world - 2} waits for rank {world - 1}" in told[world - 2]


def test_two_processes_agree_with_the_sum(tmp_path):
    _expect(2, _gloo(2, tmp_path / "store"))


@pytest.mark.slow
@pytest.mark.parametrize("world", [3, 4])
def test_more_processes_agree_with_the_sum(tmp_path, world):
    _expect(world, _gloo(world, tmp_path / "store"))

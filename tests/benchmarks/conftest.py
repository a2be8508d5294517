"""The benchmark scripts are no package: import them by their folder."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks"
if str(FOLDER) not in sys.path:
    sys.path.append(str(FOLDER))


@pytest.fixture
def folder(tmp_path) -> Path:
    """A benchmark folder of its own, holding the committed calibrations."""
    (tmp_path / "results").mkdir()
    for name in ("host_roofline.json", "host_latency.json"):
        shutil.copy(FOLDER / "results" / name, tmp_path / "results")
    return tmp_path


@pytest.fixture
def commit():
    """Puts all of a folder into a repository of its own."""

    def run(folder: Path) -> None:
        identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
        for arguments in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "x"]):
            command = ["git", *identity, *arguments]
            subprocess.run(command, cwd=folder, check=True, capture_output=True)

    return run

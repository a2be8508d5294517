"""`import stacklib` costs next to nothing."""

import resource
import subprocess
import sys
from pathlib import Path

from _tools import tree

LIMIT = 0.1
PAIRS = 3


def seconds(code: str, path: Path) -> float:
    """CPU time of a fresh interpreter that runs `code` in the folder `path`."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", code], cwd=path, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def added(path: Path) -> float:
    """CPU seconds `import stacklib` adds to bare Python, by the least of some runs."""
    runs = [
        (seconds("pass", path), seconds("import stacklib", path)) for _ in range(PAIRS)
    ]
    bare, imported = (min(times) for times in zip(*runs, strict=True))
    return imported - bare


def test_importing_the_package_is_quick():
    assert added(tree.ROOT) < LIMIT


def test_a_planted_slow_import_is_seen(tmp_path: Path):
    (tmp_path / "stacklib").mkdir()
    (tmp_path / "stacklib" / "__init__.py").write_text("sum(range(20_000_000))")
    assert added(tmp_path) > LIMIT

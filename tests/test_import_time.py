"""`import stacklib` costs next to nothing."""

import subprocess
import sys
import time
from pathlib import Path

from _tools import tree

LIMIT = 0.1
PAIRS = 5


def seconds(code: str, path: Path) -> float:
    """Wall time of a fresh interpreter that runs `code` in the folder `path`."""
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], cwd=path, check=True)
    return time.perf_counter() - start


def added(path: Path) -> float:
    """Seconds `import stacklib` adds to bare Python.

    The least of several runs of each, in turn: other work on the machine only adds.
    """
    runs = [
        (seconds("pass", path), seconds("import stacklib", path)) for _ in range(PAIRS)
    ]
    bare, imported = (min(times) for times in zip(*runs, strict=True))
    return imported - bare


def test_importing_the_package_is_quick():
    assert added(tree.ROOT) < LIMIT


def test_a_planted_slow_import_is_seen(tmp_path: Path):
    (tmp_path / "stacklib").mkdir()
    (tmp_path / "stacklib" / "__init__.py").write_text("import time; time.sleep(0.15)")
    assert added(tmp_path) > LIMIT

"""Run all tests: ruff, mypy, then ours and every notebook under strict nbval.

Tests and notebooks share one session, so that its last lines can say what they cost
and which checks were not run.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from _tools import durations, outputs, tree

# The first has few tests, but minutes of them: begun first, it does not keep one worker
# busy after the others are done. Beside it the second has the clock compiled, once: the
# others find it in the cache, where two that need it at once would each compile it.
FIRST = ("tests/book/test_browser.py", "tests/evidence/test_kernel_series.py")
STRICT = (
    "-p",
    outputs.__name__,  # which says what is equal
    "--nbval",
    "--nbval-current-env",
    "--nbval-cell-timeout=120",
    f"--nbval-sanitize-with={outputs.CONFIG}",
)


def command(targets: Sequence[str | Path], *options: str) -> list[str]:
    """The pytest command over `targets`, notebooks among them compared strictly."""
    return [sys.executable, "-m", "pytest", *STRICT, *options, *map(str, targets)]


def workers() -> int:
    """One process a core, two at least: starting kernels is mostly waiting."""
    return max(2, min(8, os.cpu_count() or 2))


def static(root: Path) -> int:
    """Lint and types; 0 where both are clean."""
    checks = (["ruff", "check", "--quiet"], ["mypy", "--no-error-summary"])
    codes = [
        subprocess.run([sys.executable, "-m", *check], cwd=root).returncode
        for check in checks
    ]
    return max(codes)


def main(argv: list[str] | None = None, root: Path = tree.ROOT) -> int:
    """Run the suite; 0 where everything passes."""
    parser = argparse.ArgumentParser(prog="make test", description=__doc__)
    parser.add_argument("--all", action="store_true", help="the slow tests too")
    parser.add_argument(
        "--slowest", type=int, metavar="N", help="only list the N longest of the last"
    )
    options, rest = parser.parse_known_args(argv)
    if options.slowest:
        print(durations.slowest(options.slowest, root))
        return 0
    chosen = [] if options.all else ["-m", "not slow"]
    # A notebook's cells share a kernel, so its file stays with one worker.
    parallel = ["-n", str(workers()), "--dist", "loadfile", "--no-loadscope-reorder"]
    timed = ["-p", durations.__name__]
    folders = [f for f in (*FIRST, "tests", "chapters", "book") if (root / f).exists()]
    # The workers share the cores: threads of a matrix product would wait for them.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    untidy = static(root)
    os.chdir(root)
    # In this process, so that its total holds what lint and types have cost.
    code = pytest.main([*STRICT, *parallel, *timed, *chosen, *rest, *folders])
    if not (options.all or rest):
        durations.store(root)
    if untidy:  # said again at the end, where a log's reader looks first
        print("lint or types failed: see the top of this output", file=sys.stderr)
    return code or untidy


if __name__ == "__main__":
    sys.exit(main())

"""Notebooks and numeric tests, run as another processor would: `-m _tools.processors`.

The width of a vector unit and the number of threads decide the order of a sum, and so
the last digits of what a run makes. A setting makes the libraries choose their kernels
as they would elsewhere: OpenBLAS by the name of a core, NumPy by the features it may
use, torch by its capability (and MKL and oneDNN under it), numba by the processor that
it compiles for. Here they are run one setting a process, and told in a row of a table.

    python -m _tools.processors                      # the settings, and which can run
    python -m _tools.processors Nehalem              # every notebook and numeric test
    python -m _tools.processors Zen chapters/04-kernels/sampling.ipynb
"""

import argparse
import difflib
import hashlib
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy
import pytest

from _tools import suite, tree

SIMD = numpy.show_config(mode="dicts")["SIMD Extensions"]
FOUND = SIMD.get("found", [])  # levels above NumPy's baseline; none, under Nehalem
OFF = "NPY_DISABLE_CPU_FEATURES"
# core -> NumPy's levels above its baseline that it has; ATen's, MKL's, oneDNN's names
CORES = {
    "Nehalem": ((), "default", "SSE4_2", "SSE41"),
    "Haswell": (("X86_V3",), "avx2", "AVX2", "AVX2"),
    "Zen": (("X86_V3",), "avx2", "SSE4_2", "AVX2"),  # no Intel: MKL keeps back
    "SkylakeX": (("X86_V3", "X86_V4"), "avx512", "AVX512", "AVX512_CORE"),
}
THREADS = {"one-thread": "1", "two-threads": "2"}
LIBRARIES = ("OMP", "OPENBLAS", "MKL", "NUMBA")
NUMERIC = re.compile(r"^\s*(?:import|from) (?:numpy|torch)\b", re.M)
SOURCES = {".py", ".ipynb", ".toml", ".json", ".csv", ".txt", ".c"}
SHARE = 10  # one of so many is drawn
NAME = "STACKLIB_PROCESSOR"


def _threads(count: str) -> dict[str, str]:
    return {f"{library}_NUM_THREADS": count for library in LIBRARIES}


def _core(name: str) -> dict[str, str]:
    levels, aten, mkl, onednn = CORES[name]
    # NumPy warns of what it does not have; what the shell turned off stays so.
    off = [one for one in FOUND if one not in levels]
    off = [*os.environ.get(OFF, "").split(), *off]
    return {
        "OPENBLAS_CORETYPE": name,
        **({OFF: " ".join(off)} if off else {}),
        "ATEN_CPU_CAPABILITY": aten,
        "MKL_ENABLE_INSTRUCTIONS": mkl,
        "ONEDNN_MAX_CPU_ISA": onednn,
        **_threads("1"),
    }


# The environment of each setting.
SETTINGS = {name: _core(name) for name in CORES}
SETTINGS |= {name: _threads(count) for name, count in THREADS.items()}
# numba sums in the order that is written, for every processor. To compile the simulated
# GPU for one more takes half a minute, so what is drawn in `make test` goes without.
GENERIC = {"NUMBA_CPU_NAME": "generic"}
WHOLE = {name: SETTINGS[name] | (GENERIC if name in CORES else {}) for name in SETTINGS}


def missing(name: str) -> list[str]:
    """The instructions of a setting that this processor has not."""
    if name in THREADS:
        return []
    have = {*SIMD["baseline"], *FOUND}
    return [one for one in ("X86_V2", *CORES[name][0]) if one not in have]


def possible(name: str) -> bool:
    """Whether this processor can run a setting."""
    return not missing(name)


def numeric_tests(root: Path = tree.ROOT) -> list[Path]:
    """The test files that compute with NumPy or torch."""
    files = tree.find(root, "tests", "test_*.py")
    return [path for path in files if NUMERIC.search(path.read_text("utf-8"))]


def content(root: Path) -> str:
    """A hash of what the notebooks and tests are made of, with git or without."""
    folders = ("stacklib", "chapters", "tests", "book/_tools", "exercises")
    every = (path for f in folders for path in tree.find(root, f, "*"))
    made = hashlib.sha256()
    for path in every:
        if path.suffix in SOURCES and path.is_file():
            made.update(f"{tree.name(path, root)}\0".encode() + path.read_bytes())
    return made.hexdigest()


def drawn(root: Path = tree.ROOT) -> tuple[str, list[str]]:
    """A setting, and a tenth of the notebooks and of the numeric tests.

    Drawn by the hash of the tree: the same for the same tree, others after a change.
    """
    seed = content(root)
    names = [name for name in SETTINGS if possible(name)]
    targets = (
        *_tenth(tree.notebooks(root), seed, root),
        *_tenth(numeric_tests(root), seed, root),
    )
    return names[int(seed, 16) % len(names)], list(targets)


def _tenth(paths: list[Path], seed: str, root: Path) -> Iterator[str]:
    def place(name: str) -> str:
        return hashlib.sha256(f"{seed} {name}".encode()).hexdigest()

    names = sorted((tree.name(path, root) for path in paths), key=place)
    yield from sorted(names[: -(-len(names) // SHARE)])


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """The row of this setting, and what differed."""
    reports = terminalreporter.stats
    ran = _files(reports.get("passed", ())) | _files(reports.get("failed", ()))
    bad = _files(reports.get("failed", ())) | _files(reports.get("error", ()))
    for path in sorted(bad):
        terminalreporter.write_line(f"differs: {path}")
    terminalreporter.write_line(_row(os.environ.get(NAME, ""), ran | bad, bad))


def _files(reports: object) -> set[str]:
    return {report.nodeid.partition("::")[0] for report in reports}  # type: ignore


def _row(name: str, ran: set[str], bad: set[str]) -> str:
    notebooks = {path for path in ran if path.endswith(".ipynb")}
    tests = ran - notebooks
    cells = (
        f"{len(notebooks - bad):3} notebooks equal, {len(notebooks & bad)} different",
        f"{len(tests - bad):3} test files pass, {len(tests & bad)} fail",
    )
    return f"| {name:11} | {' | '.join(cells)} |"


def run(name: str, targets: list[str], root: Path = tree.ROOT) -> int:
    """Run targets under one setting in processes of their own; pytest's exit code."""
    plugin = ("-p", __spec__.name, "-p", "no:cacheprovider", "--no-header")
    command = suite.command(targets, *suite.parallel(), *suite.NOT_SLOW, *plugin)
    return subprocess.run(
        command, cwd=root, env={**os.environ, **WHOLE[name], NAME: name}
    ).returncode


def main(argv: list[str] | None = None, root: Path = tree.ROOT) -> int:
    """Run one setting, or list them; 2 for a name that is none, or cannot run here."""
    parser = argparse.ArgumentParser(
        prog="python -m _tools.processors",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("setting", nargs="?", help=", ".join(SETTINGS))
    every = "notebooks and test files; default: every notebook and numeric test"
    parser.add_argument("targets", nargs="*", help=every)
    options = parser.parse_args(argv)
    name = options.setting
    if name is None:
        for each in SETTINGS:
            lacks = f"not here: {', '.join(missing(each))}" if missing(each) else "ok"
            print(f"{each:11} {lacks}")
        return 0
    if name not in SETTINGS:
        near = difflib.get_close_matches(name, SETTINGS, 1, 0.3) or list(SETTINGS)
        print(f"no setting {name!r}; nearest: {near[0]}", file=sys.stderr)
        return 2
    if not possible(name):
        lacks = ", ".join(missing(name))
        print(f"{name} needs {lacks}, which this processor has not", file=sys.stderr)
        return 2
    every_target = [*tree.notebooks(root), *numeric_tests(root)]
    return run(name, options.targets or [tree.name(p, root) for p in every_target])


if __name__ == "__main__":
    sys.exit(main())

"""Run all tests: ruff, mypy, then ours and every notebook under strict nbval.

A tenth of the notebooks and numeric tests runs as another processor would compute,
first and in a session of its own. Tests and notebooks share the other, so that the
last lines can say what both cost and which checks were not run.
"""

import argparse
import multiprocessing
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from unittest import mock

import pytest

# The workers share the cores: threads of a matrix product would wait for them. NumPy
# reads it on import, and `processors` imports NumPy.
os.environ.setdefault("OMP_NUM_THREADS", "1")

from _tools import durations, forked_workers, outputs, processors, tree
from _tools.progress import Progress

# The first has few tests, but minutes of them: begun first, it does not keep one worker
# busy after the others are done. Beside it the second has the clock compiled, once: the
# others find it in the cache, where two that need it at once would each compile it.
FIRST = ("tests/book/test_browser.py", "tests/evidence/test_kernel_series.py")
NOT_SLOW = ("-m", "not slow")
FORKED = ("-p", "_tools.kernels")
# To read every assert for what it compares takes a third of a minute of a processor:
# those of tests that failed are read, when they run again.
PLAIN = "--assert=plain"
STRICT = (
    "-p",
    outputs.__name__,  # which says what is equal
    "--nbval",
    "--nbval-current-env",
    "--nbval-cell-timeout=3600",  # by the clock; a forked kernel counts CPU seconds
    f"--nbval-sanitize-with={outputs.CONFIG}",
    "--override-ini=console_output_style=classic",  # progress says how far it is
    "-Wignore::pytest.PytestAssertRewriteWarning",  # of plugins imported here already
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


def parallel() -> list[str]:
    """On all cores. A notebook's cells share a kernel: a file stays with one worker."""
    count = str(workers())
    if forked_workers.POSSIBLE:
        return ["-p", "no:xdist", "-p", forked_workers.__name__, "--workers", count]
    return ["-n", count, "--dist", "loadfile", "--no-loadscope-reorder"]


def session(targets: Sequence[str], options: Sequence[str], root: Path) -> Progress:
    """Run `targets` on all cores; what failed."""
    shown = Progress(durations.last_run(root))
    timed = ["-p", durations.__name__]
    # In this process, so that its total holds what lint and types have cost.
    arguments = [*STRICT, *parallel(), *timed, *options, *targets]
    shown.code = pytest.main(arguments, plugins=[shown])
    return shown


def explained(failed: Iterable[str], root: Path) -> None:
    """Run tests that failed again, with what their asserts compare."""
    if nodes := [node for node in failed if ".py::" in node]:
        print("what failed, once more, with what was compared:", flush=True)
        again = [sys.executable, "-m", "pytest", "-q", "--no-header", *nodes]
        subprocess.run(again, cwd=root)


Outcome = tuple[int, list[str], dict[str, float]]


def apart(targets: list[str], setting: Mapping[str, str], root: Path) -> Outcome:
    """`quick` by a process that has imported nothing: an import reads the setting."""
    spawned = multiprocessing.get_context("spawn")
    with (
        mock.patch.dict(os.environ, setting),
        ProcessPoolExecutor(1, mp_context=spawned) as pool,
    ):
        return pool.submit(quick, targets, root).result()


def quick(targets: list[str], root: Path) -> Outcome:
    """Code, failed tests and CPU seconds by file of a session of what is quick."""
    shown = session(targets, (*NOT_SLOW, *FORKED, PLAIN), root)
    explained(shown.failed, root)
    return shown.code, list(shown.failed), dict(durations.seconds)


def elsewhere(whole: bool, root: Path) -> dict[str, list[str]]:
    """Settings of other processors, and the files to run under each."""
    if not whole:
        name, targets = processors.drawn(root)
        return {name: targets} if targets else {}
    notebooks = [tree.name(path, root) for path in tree.notebooks(root)]
    return {n: notebooks for n in processors.SETTINGS if processors.possible(n)}


def as_another(
    name: str, targets: list[str], setting: Mapping[str, str], root: Path
) -> tuple[str, bool]:
    """Run files under a setting; a line that says how to do so again, and success."""
    print(f"as another processor, {name}: {len(targets)} files", flush=True)
    code, failed, seconds = apart(targets, setting, root)
    for file, cost in seconds.items():
        durations.seconds[file] += cost
    again = f"make processor NAME={name}"
    if failed or code:
        files = {node.partition("::")[0]: None for node in failed}
        differs = " ".join(files or targets)
        return f'as {name}: FAILED; again: {again} FILES="{differs}"', False
    return f"as {name}: {len(targets)} files pass; again: make processor", True


def cost(root: Path) -> Iterator[str]:
    """What this process has cost, here and in units that two machines share."""
    yield durations.total()
    loop = durations.reference()
    units = durations.spent() / loop
    most = tree.read_toml(root / "book" / "budget.toml").get("suite", {}).get("units")
    yield (
        f"= {units:,.0f} times the reference loop, which took {loop:.3f} CPU seconds"
        + (f"; budget {most:,}" if most else "")
    )
    if most and units > most:
        yield f"warning: {units / most - 1:.0%} over the budget (book/budget.toml)"


def main(argv: list[str] | None = None, root: Path = tree.ROOT) -> int:
    """Run the suite; 0 where everything passes."""
    parser = argparse.ArgumentParser(prog="make test", description=__doc__)
    parser.add_argument("--all", action="store_true", help="the slow tests too")
    drawn = "only what is drawn to run as another processor"
    parser.add_argument("--drawn", action="store_true", help=drawn)
    parser.add_argument(
        "--slowest", type=int, metavar="N", help="only list the N longest of the last"
    )
    options, rest = parser.parse_known_args(argv)
    if options.slowest:
        print(durations.slowest(options.slowest, root))
        return 0
    untidy = 0 if options.drawn else static(root)
    os.chdir(root)
    others = {} if rest else elsewhere(options.all, root)
    settings = processors.WHOLE if options.all else processors.SETTINGS
    told = [as_another(n, targets, settings[n], root) for n, targets in others.items()]
    good = all(passed for _, passed in told) and not untidy
    if not options.drawn:
        chosen = [] if options.all else [*NOT_SLOW, *FORKED]
        for targets in () if options.all else others.values():
            chosen += [f"--ignore={name}" for name in targets]
        here = [f for f in (*FIRST, "tests", "chapters", "book") if (root / f).exists()]
        shown = session(here, [PLAIN, *chosen, *rest], root)
        explained(shown.failed, root)
        good &= not shown.code
        if not (options.all or rest):
            durations.store(root)
    if untidy:  # said again at the end, where a log's reader looks first
        print("lint or types failed: see the top of this output")
    print(*left_out(options.all), *cost(root), *(line for line, _ in told), sep="\n")
    return 0 if good else 1


def left_out(whole: bool) -> Iterator[str]:
    """What this run did not try, and why."""
    if not whole:
        yield f"{durations.deselected} slow tests: not run (minutes; make test-all)"
    for name in processors.SETTINGS if whole else ():
        if lacks := ", ".join(processors.missing(name)):
            yield f"as {name}: not run (this processor lacks {lacks})"


if __name__ == "__main__":
    sys.exit(main())

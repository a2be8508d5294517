"""CPU seconds of each test file, children included: a plugin of the whole suite.

Seconds are user and system time of a process and of the children it has waited for.
The suite is held to a number of them, because wall time depends on who else is at work.
"""

import json
import resource
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from resource import RUSAGE_CHILDREN, RUSAGE_SELF
from typing import Any

import pytest

from _tools import progress, tree

COLLECTING = "collecting"
STARTED = time.monotonic()
seconds: defaultdict[str, float] = defaultdict(float)
# Of processes that ended, waited for by a child that goes on: its end hands them over.
unwaited = 0.0
deselected = 0


def place(root: Path = tree.ROOT) -> Path:
    """Where the seconds of the last whole run lie."""
    return root / "_build" / "durations.json"


def store(root: Path = tree.ROOT) -> None:
    """Write down what this run has cost, the longest file first."""
    place(root).parent.mkdir(exist_ok=True)
    write(place(root))


def write(path: Path) -> None:
    """Seconds by file, the longest first."""
    longest = sorted(seconds.items(), key=lambda row: -row[1])
    rows = {name: round(cost, 2) for name, cost in longest}
    tree.write_atomic(path, json.dumps(rows, indent=1) + "\n")


def last_run(root: Path = tree.ROOT) -> dict[str, float]:
    """CPU seconds by file, the longest first; empty before a first whole run."""
    path = place(root)
    return json.loads(path.read_text("utf-8")) if path.exists() else {}


def slowest(count: int, root: Path = tree.ROOT) -> str:
    """The files that cost most, a line each."""
    rows = list(last_run(root).items())[:count]
    said = [f"{cost:7.1f} s  {name}" for name, cost in rows]
    return "\n".join(said) or "no whole run is stored: make test"


def used() -> tuple[float, float]:
    """User and system seconds of this process and of its children that have ended."""
    rows = [resource.getrusage(who) for who in (RUSAGE_SELF, RUSAGE_CHILDREN)]
    return sum(row.ru_utime for row in rows), sum(row.ru_stime for row in rows)


def spent() -> float:
    """CPU seconds so far."""
    return sum(used()) + unwaited


def total() -> str:
    """`612 CPU seconds (540 user, 72 system), 7:05 wall`: of this process so far."""
    (user, system), wall = used(), time.monotonic() - STARTED
    return (
        f"{user + system:.0f} CPU seconds ({user:.0f} user, {system:.0f} system), "
        f"{progress.clock(wall)} wall"
    )


def loop() -> float:
    """CPU seconds of a fixed loop of plain Python, so that two machines compare."""
    begun, held = time.process_time(), {}
    for n in range(1_500_000):
        held[n % 1009] = held.get(n % 97, 0) ^ n
    return time.process_time() - begun


def reference() -> float:
    """The least of three: what disturbs a loop makes it longer."""
    return min(loop() for _ in range(3))


def pytest_addoption(parser: pytest.Parser) -> None:
    """For a run in a process of its own."""
    said = "write CPU seconds by test file there"
    parser.addoption("--cpu-seconds", metavar="FILE", type=Path, help=said)


def pytest_unconfigure(config: pytest.Config) -> None:
    """What was asked for, of all workers."""
    path = config.getoption("--cpu-seconds")
    if path and not hasattr(config, "workerinput"):
        write(path)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """What reading all test files costs; each worker reads them."""
    before = spent()
    done = yield
    seconds[COLLECTING] += spent() - before
    return done


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """A test with its fixtures; the last of a notebook ends its kernel too."""
    before = spent()
    done = yield
    seconds[item.path.relative_to(item.config.rootpath).as_posix()] += spent() - before
    return done


def pytest_deselected(items: list[pytest.Item]) -> None:
    """Each worker leaves out the same."""
    global deselected
    deselected += len(items)


def pytest_sessionfinish(session: Any) -> None:
    """A worker hands over what it has counted."""
    if hasattr(session.config, "workerinput"):
        session.config.workeroutput["seconds"] = dict(seconds)
        session.config.workeroutput["deselected"] = deselected


@pytest.hookimpl(optionalhook=True)  # of xdist
def pytest_testnodedown(node: Any) -> None:
    """Add up what the workers hand over."""
    global deselected
    handed = getattr(node, "workeroutput", {})
    deselected = max(deselected, handed.get("deselected", 0))
    for name, cost in handed.get("seconds", {}).items():
        seconds[name] += cost

"""How far the suite is: a line for each part that is done, and one a minute between.

A plugin of pytest's that stands in for its dots. What is left is estimated from the
CPU seconds that each file took in the last whole run, where one is stored.
"""

import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

EVERY = 60.0  # seconds between two lines of a log; a terminal's last line moves on
KINDS = ("failed", "passed", "skipped")


def part(node: str) -> str:
    """`tests/gpu` or `chapters/02-gpu`; `tests` for a test of `tests/test_a.py`."""
    folders = node.partition("::")[0].split("/")[:-1]
    return "/".join(folders[:2])


def clock(seconds: float) -> str:
    """`7:05`."""
    return f"{int(seconds) // 60}:{int(seconds) % 60:02}"


@dataclass(eq=False)  # a plugin is equal to itself alone
class Progress:
    """Counts what ends, against what was collected."""

    stored: dict[str, float]  # CPU seconds by file
    started: float = field(default_factory=time.monotonic)
    failed: dict[str, None] = field(default_factory=dict)  # tests, in order
    weights: dict[str, float] = field(default_factory=dict)  # of what is still to run
    left: Counter[str] = field(default_factory=Counter)
    seen: dict[str, Counter[str]] = field(default_factory=dict)
    whole: float = 0.0
    rest: float = 0.0
    said: float = 0.0
    code: int = 0

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self, session: pytest.Session) -> None:
        """Speak in place of xdist's lines on its workers."""
        plugins = session.config.pluginmanager
        self.out: Any = plugins.getplugin("terminalreporter")
        if plugins.hasplugin("dsession"):
            plugins.unregister(name="terminaldistreporter")
            plugins.getplugin("dsession").terminal = None

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Where the tests are run by forks of the process that has read them."""
        self.begin([item.nodeid for item in session.items])

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: list[str]) -> None:
        """Once a worker of xdist has read all tests."""
        if not self.left:
            self.begin(ids)

    def begin(self, ids: list[str]) -> None:
        """What there is to do."""
        files = Counter(node.partition("::")[0] for node in ids)
        known = {name: self.stored[name] for name in files if name in self.stored}
        usual = sum(known.values()) / sum(files[n] for n in known) if known else 1.0
        for node in ids:
            name = node.partition("::")[0]
            self.weights[node] = known.get(name, usual * files[name]) / files[name]
        self.line(f"{len(ids):,} tests and cells collected")
        self.whole = self.rest = sum(self.weights.values()) or 1.0
        self.left.update(map(part, ids))
        self.started = time.monotonic()

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_report_teststatus(self) -> Iterator[None]:
        """No dot for a test; the summary's word for a failure."""
        category, _, word = yield
        return category, "", word if category in ("failed", "error") else ""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count it; name at once what failed."""
        node, name = report.nodeid, part(report.nodeid)
        seen = self.seen.setdefault(name, Counter())
        if report.failed:
            if node not in self.failed:
                self.line(f"FAILED {node}")
            self.failed[node] = None
        if not isinstance(report, pytest.SubtestReport) and (
            report.when == "call" or not report.passed
        ):
            seen[report.outcome] += 1
        if report.when == "teardown":
            self.rest -= self.weights.pop(node, 0.0)
            self.left[name] -= 1
            if not self.left[name]:
                counts = [f"{seen[kind]:,} {kind}" for kind in KINDS if seen[kind]]
                self.line(f"{name}: {', '.join(counts)}")
            elif self.out.isatty or time.monotonic() - self.said > EVERY:
                self.line(f"in {name}", moving=self.out.isatty)

    def line(self, text: str, moving: bool = False) -> None:
        """A line of its own, or in a terminal the last one, written over."""
        now = time.monotonic()
        if moving and now - self.said < 1:
            return
        self.said = now
        text = f"{clock(now - self.started):>6}  {self.far(now):24}  {text}"
        if self.out.isatty:
            self.out.rewrite(text[:100], erase=True)
            self.out.write("" if moving else "\n")
        else:
            self.out.write_line(text)

    def far(self, now: float) -> str:
        """`31 %, 9 minutes left`."""
        if not self.rest:
            return ""
        done = 1 - self.rest / self.whole
        minutes = (now - self.started) / 60 * (1 - done) / max(done, 1e-9)
        return f"{done:4.0%}" + (f", {minutes:.0f} minutes left" if done > 0.02 else "")

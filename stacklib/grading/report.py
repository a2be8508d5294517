"""What a check found: one result a test, one a file, one report a run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

PASS, TODO, FAIL, ERROR = "pass", "todo", "fail", "error"
WORST = (ERROR, FAIL, TODO, PASS)


@dataclass(frozen=True)
class TestResult:
    """One test. ``state``: pass, todo (not written yet), fail (a wrong answer) or
    error (the answer broke or was stopped). ``line`` is one of the reader's file.
    """

    __test__ = False  # not a test class for pytest

    name: str
    state: str
    message: str = ""
    line: int | None = None
    readings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Result:
    """One exercise file: its tests, or the ``message`` that kept them from running.

    ``output`` is what the answer printed, cut; ``seconds`` the wall time.
    """

    id: str
    path: Path
    title: str
    level: str
    tests: tuple[TestResult, ...]
    output: str = ""
    seconds: float = 0.0

    @property
    def state(self) -> str:
        """The worst state of its tests."""
        states = {t.state for t in self.tests}
        return next((s for s in WORST if s in states), ERROR)

    @property
    def passed(self) -> bool:
        """Whether every test passed."""
        return self.state == PASS

    @property
    def messages(self) -> tuple[str, ...]:
        """``file:line: in test: what is wrong``, one for each test that fails."""
        return self.told(self.path.name)

    def told(self, file: str) -> tuple[str, ...]:
        """The messages with this name of the file."""
        return tuple(
            f"{file}{f':{t.line}' if t.line else ''}: "
            f"{f'{t.name}: ' if t.name else ''}{t.message}"
            for t in self.tests
            if t.state != PASS
        )

    def as_dict(self) -> dict[str, Any]:
        """All of it as plain values, for JSON."""
        fields = {**asdict(self), "path": str(self.path)}
        return {**fields, "state": self.state, "passed": self.passed}


@dataclass(frozen=True)
class Report:
    """The results of one check, in order of id."""

    target: str | None
    results: tuple[Result, ...]

    @property
    def passed(self) -> bool:
        """Whether there is a result and all of them pass."""
        return bool(self.results) and all(r.passed for r in self.results)

    def __iter__(self) -> Iterator[Result]:
        return iter(self.results)

    def as_dict(self) -> dict[str, Any]:
        """All of it as plain values, for JSON."""
        return {
            "target": self.target,
            "passed": self.passed,
            "exercises": [r.as_dict() for r in self.results],
        }

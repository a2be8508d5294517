"""A checkout with one small exercise, to plant faults in."""

from __future__ import annotations

from pathlib import Path

import pytest

from stacklib import grading
from stacklib.grading import Limits, Result
from stacklib.grading.launch import fork
from stacklib.grading.runner import grade_source

SOLUTION = '''\
"""The time of a read.

level: estimate
project: P1.1, P1.3

Suppose 10 GB and 2 GB/s.

How long?

hint: Divide.
"""

from stacklib.grading import expect

# ---- your answer ----

BYTES = 10


def read_time():
    """Seconds to read them."""
    # the whole trick
    return BYTES / 2
    # and that is all


# ---- tests ----


def test_read_time():
    expect.number(
        read_time(),
        5.0,
        unit="s",
        mistakes={"You multiplied; a rate divides.": 20.0},
    )
'''

WRONG = {
    "product": ("You multiplied", "def read_time():\n    return 20.0\n"),
    "bits": ("8 times the answer", "def read_time():\n    return 40.0\n"),
}


class Checkout:
    """A folder of exercises with exercise 1.1 in it, all in order."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.chapter = root / "exercises" / "01-roofline"
        self.path = self.chapter / "01_read_time.py"
        self.solution = self.chapter / "solutions" / "01_read_time.py"
        for folder in ("solutions", "wrong"):
            (self.chapter / folder).mkdir(parents=True)
        self.write_solution(SOLUTION)
        for name, (diagnosis, answer) in WRONG.items():
            self.write_wrong(name, f"# diagnosis: {diagnosis}\n{answer}")

    def write_solution(self, text: str) -> None:
        """The solution, and the stub derived from it."""
        self.solution.write_text(text)
        self.path.write_text(grading.stub(text))

    def write_wrong(self, name: str, text: str) -> Path:
        """One stored wrong answer."""
        path = self.chapter / "wrong" / f"01_read_time__{name}.py"
        path.write_text(text)
        return path

    def answered(self, body: str) -> str:
        """The reader's file with this body; its first line is line 22."""
        stub = self.path.read_text()
        return stub.replace('raise NotImplementedError("write read_time")', body)

    def grade(self, body: str, timeout: float = 10.0, mib: int = 1024) -> Result:
        """Grade a body in a fork of this process, which starts faster."""
        exercise = grading.discover(self.root)[0]
        limits = Limits(timeout, mib << 20)
        return grade_source(exercise, self.answered(body), limits, fork)


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path)

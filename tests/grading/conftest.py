"""A checkout with one small exercise, to plant faults in."""

from __future__ import annotations

from pathlib import Path

import pytest

from stacklib import grading
from stacklib.grading import Limits, Result, copies
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
    "added": ("factor of about 2.4", "def read_time():\n    return 12.0\n"),
    "bits": ("a factor of about 8", "def read_time():\n    return 40.0\n"),
}


RIGHT = """\
# ---- doubled: half of them twice
def read_time():
    return 2 * BYTES / 4


# ---- quantity: in milliseconds
from stacklib.quantity import Quantity


def read_time():
    return Quantity(1000 * BYTES / 2, "ms")
"""


class Checkout:
    """A folder of exercises with exercise 1.1 in it, all in order."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.chapter = root / "exercises" / "01-roofline"
        self.file = self.chapter / "01_read_time.py"
        self.path = root / "my" / "01-roofline" / "01_read_time.py"
        self.wrong = self.chapter / "wrong" / "01_read_time.diff"
        self.right = self.chapter / "right" / "01_read_time.py"
        for place in (self.wrong, self.right):
            place.parent.mkdir(parents=True)
        self.right.write_text(RIGHT)
        self.file.write_text(SOLUTION)
        self.write_wrong()
        copies.fill(self.exercise)

    @property
    def exercise(self) -> grading.Exercise:
        """The one exercise."""
        return grading.discover(self.root)[0]

    def change(self, old: str, new: str) -> None:
        """Change the book's file."""
        text = self.file.read_text()
        assert old in text
        self.file.write_text(text.replace(old, new))

    def write_wrong(self, **other: tuple[str, str]) -> None:
        """The stored wrong answers, some of them others than ``WRONG``."""
        groups = [
            f"# ---- {name}: {diagnosis}\n{code}"
            for name, (diagnosis, code) in sorted((WRONG | other).items())
        ]
        self.wrong.write_text("\n\n".join(groups))

    def answered(self, body: str) -> str:
        """The reader's file with this body; its first line is line 21."""
        stub = self.exercise.stub()
        return stub.replace('raise NotImplementedError("write read_time")', body)

    def grade(self, body: str, timeout: float = 10.0, mib: int = 1024) -> Result:
        """Grade a body in a fork of this process, which starts faster."""
        limits = Limits(timeout, mib << 20)
        return grade_source(self.exercise, self.answered(body), limits, fork)


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path)

"""Exercises: one file each, graded in a process of its own, wrong answers explained.

``check("1.2")`` grades a reader's copy; ``prove(root)`` proves that every exercise
fails as shipped, passes as solved, in another way too, and tells its stored mistakes
apart. The tests in
an exercise call ``expect``.
"""

from stacklib.grading import expect
from stacklib.grading.format import LEVELS, FormatError, Other, Text, parse
from stacklib.grading.launch import Limits
from stacklib.grading.proof import Proof, prove
from stacklib.grading.report import Report, Result, TestResult
from stacklib.grading.runner import check, grade, grade_all
from stacklib.grading.shelf import (
    Exercise,
    UnknownExercise,
    discover,
    faults,
    find_root,
    select,
)
from stacklib.grading.view import stub

__all__ = [
    "LEVELS",
    "Exercise",
    "FormatError",
    "Limits",
    "Other",
    "Proof",
    "Report",
    "Result",
    "TestResult",
    "Text",
    "UnknownExercise",
    "check",
    "discover",
    "expect",
    "faults",
    "find_root",
    "grade",
    "grade_all",
    "parse",
    "prove",
    "select",
    "stub",
]


def __dir__() -> list[str]:
    return sorted(__all__)

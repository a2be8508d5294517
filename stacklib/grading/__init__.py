"""Exercises: one file each, graded in a process of its own, wrong answers explained.

``check("1.2")`` grades a reader's copy; ``prove(root)`` proves that every exercise
fails as shipped, passes as solved, and tells its stored mistakes apart. The tests in
an exercise call ``expect``.
"""

from stacklib.grading import expect
from stacklib.grading.format import LEVELS, FormatError, Text, Wrong, parse, stub
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

__all__ = [
    "LEVELS",
    "Exercise",
    "FormatError",
    "Limits",
    "Proof",
    "Report",
    "Result",
    "TestResult",
    "Text",
    "UnknownExercise",
    "Wrong",
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

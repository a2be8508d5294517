"""``stacklib check [TARGET]``: grade exercises, give hints, begin one anew."""

from __future__ import annotations

import argparse
import math
import sys
from pathlib import Path
from typing import Any

from stacklib import grading
from stacklib.grading import Exercise, Limits, copies, guards

from .arguments import add_json, emit
from .checks.results import grade, known_progress, quiet, show, summarise, tell_reset
from .checks.watch import watch


def add_parser(subparsers: Any) -> None:
    """Register the command."""
    parser = subparsers.add_parser(
        "check",
        description="Grades your copies in my/, each in a process of its own; one "
        "that is not there yet is written, none is changed. Exit status 0: all pass, "
        "1: some do not, 2: bad input.",
    )
    parser.add_argument(
        "target",
        nargs="?",
        help="an exercise (1.2), a chapter (1), a file of yours; all if left out",
    )
    action = parser.add_mutually_exclusive_group()
    action.add_argument(
        "--watch", action="store_true", help="a course: grade on each save, and keys"
    )
    action.add_argument("--hint", action="store_true", help="print the hint")
    action.add_argument(
        "--reset", action="store_true", help="begin anew; what you wrote is kept beside"
    )
    parser.add_argument("--root", type=Path, help="the checkout (found from here)")
    parser.add_argument(
        "--timeout", type=seconds, default=10.0, help="seconds for one exercise (10)"
    )
    add_json(parser)
    parser.set_defaults(func=run)


def seconds(text: str) -> float:
    """A finite number of seconds above zero."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r}: seconds above 0 are needed")
    return value


def run(args: argparse.Namespace) -> int:
    """Do what the options say; 0 when all that was graded passes.

    Raises UnknownExercise (a LookupError) or ValueError for bad input.
    """
    exercises = chosen(args)
    limits = Limits(args.timeout)
    if args.hint:
        return show_hint(only(exercises, "--hint"), args.json)
    if args.reset:
        return reset(only(exercises, "--reset"), args.json)
    if args.watch and args.json:
        raise ValueError("--watch prints until stopped, --json one object: use one")
    if guards.resource is None:
        print(guards.UNLIMITED, file=sys.stderr)
    for exercise in exercises:
        copies.fill(exercise)
    return watch(exercises, limits) if args.watch else check(exercises, limits, args)


def chosen(args: argparse.Namespace) -> list[Exercise]:
    """The exercises that the target and the checkout mean."""
    root = args.root or grading.find_root()
    if not (root / "exercises").is_dir():
        raise ValueError(f"--root {root}: no folder exercises/ in it")
    return grading.select(grading.discover(root), args.target)


def only(exercises: list[Exercise], option: str) -> Exercise:
    """The one exercise that an option needs."""
    if len(exercises) > 1:
        raise ValueError(f"{option} is for one exercise, such as {exercises[0].id}")
    return exercises[0]


def show_hint(exercise: Exercise, as_json: bool) -> int:
    """Print the hint."""
    hint = exercise.text().hint
    if as_json:
        emit({"id": exercise.id, "hint": hint})
    else:
        print(hint)
    return 0


def reset(exercise: Exercise, as_json: bool) -> int:
    """Write the stub in place of the reader's file, which is kept beside it."""
    kept = copies.reset(exercise)
    if as_json:
        wrote = str(exercise.path)
        emit({"id": exercise.id, "wrote": wrote, "kept": kept and str(kept)})
    else:
        tell_reset(exercise, kept)
    return 0


def check(exercises: list[Exercise], limits: Limits, args: argparse.Namespace) -> int:
    """Grade once and report."""
    before = known_progress(exercises)
    results = grade(exercises, limits, quiet if args.json else show(args.target))
    report = grading.Report(args.target, tuple(results))
    if args.json:
        emit(report.as_dict())
    elif len(results) > 1:
        summarise(results, before)
    return 0 if report.passed else 1

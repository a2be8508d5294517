"""``stacklib check [TARGET]``: grade exercises, give hints, begin one anew."""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Callable, Iterable
from itertools import groupby
from pathlib import Path
from typing import Any

from stacklib import grading
from stacklib.grading import Exercise, Limits, Result, copies, progress

from .arguments import add_json, emit

POLL = 0.2  # seconds between two looks at the files watched


def add_parser(subparsers: Any) -> None:
    """Register the command."""
    parser = subparsers.add_parser(
        "check",
        help="grade exercises",
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
        "--watch", action="store_true", help="grade again on each save, until Ctrl-C"
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
        raise ValueError("--watch prints until Ctrl-C, --json one object: use one")
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
        print(f"wrote {exercise.path}")
        if kept:
            print(f"what you had written is in {kept}")
    return 0


def check(exercises: list[Exercise], limits: Limits, args: argparse.Namespace) -> int:
    """Grade once and report."""
    before = known_progress()
    results = grade(exercises, limits, quiet if args.json else show(args.target))
    report = grading.Report(args.target, tuple(results))
    if args.json:
        emit(report.as_dict())
    elif len(results) > 1:
        summarise(results, before)
    return 0 if report.passed else 1


def grade(
    exercises: Iterable[Exercise], limits: Limits, tell: Callable[[Result], None]
) -> list[Result]:
    """Grade, tell each result as it comes, and keep the progress."""
    results = []
    for result in grading.grade_all(exercises, limits):
        tell(result)
        results.append(result)
    try:
        progress.record(results)
    except OSError as error:
        print(f"stacklib: progress not kept: {error}", file=sys.stderr)
    return results


def known_progress() -> dict[str, dict[str, Any]]:
    """What was solved before, or nothing where it cannot be read."""
    try:
        return progress.load()
    except OSError:
        return {}


def quiet(result: Result) -> None:
    """Tell nothing."""


def show(target: str | None) -> Callable[[Result], None]:
    """How to tell a result: in full when it was asked for by its id."""

    def tell(result: Result) -> None:
        full = target == result.id
        print(f"{result.id:<5} {result.state:<5} {result.level:<9} {result.title}")
        messages = result.messages if full else result.messages[:1]
        for line in messages:
            print(f"      {line}")
        if full:
            show_rest(result)
        sys.stdout.flush()

    return tell


def show_rest(result: Result) -> None:
    """Readings, what the answer printed, and the count of tests."""
    for test in result.tests:
        for text in test.readings:
            print(f"      {test.name}: {text}")
    if result.output:
        print("      printed:")
        print("\n".join(f"      | {line}" for line in result.output.splitlines()))
    passing = sum(t.state == "pass" for t in result.tests)
    print(f"      {passing} of {len(result.tests)} tests pass")
    if not result.passed:
        print(f"      {near(result.path)}; a hint: stacklib check {result.id} --hint")


def near(path: Path) -> Path:
    """The path as seen from here, which is shorter to read and to open."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


def summarise(results: list[Result], before: dict[str, dict[str, Any]]) -> None:
    """Progress by chapter, what was lost since, and what comes next."""
    print()
    for chapter, group in groupby(results, key=lambda r: r.path.parent.name):
        passed = [r.passed for r in group]
        bar = "".join("#" if p else "." for p in passed)
        print(f"{chapter}: {sum(passed)} of {len(passed)} pass  [{bar}]")
    for result in results:
        if not result.passed and (day := before.get(result.id, {}).get("solved")):
            print(f"{result.id} passed on {day} and does not now")
    if todo := [r for r in results if not r.passed]:
        print(f"next: {todo[0].id}, {near(todo[0].path)}")


def watch(exercises: list[Exercise], limits: Limits) -> int:
    """Grade all, then each file again when it is saved; 0 on Ctrl-C."""
    target = exercises[0].id if len(exercises) == 1 else None
    seen: dict[str, object] = {}
    try:
        while True:
            changed = [e for e in exercises if stamp(e.path) != seen.get(e.id)]
            # A file that is gone is being saved by an editor: wait for it.
            changed = [e for e in changed if e.path.exists()]
            seen.update({e.id: stamp(e.path) for e in changed})
            if changed:
                if len(changed) == 1:
                    target = changed[0].id
                grade(changed, limits, show(target))
                print(f"watching {len(exercises)} exercises; Ctrl-C stops", flush=True)
            time.sleep(POLL)
    except KeyboardInterrupt:
        print("\nstopped")
        return 0


def stamp(path: Path) -> object:
    """What changes when a file is saved: time, size and inode."""
    try:
        stat = path.stat()
    except FileNotFoundError:
        return None
    return stat.st_mtime_ns, stat.st_size, stat.st_ino

"""Grade and tell: what ``stacklib check`` prints, once or on every save."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from stacklib import grading
from stacklib.grading import Exercise, Limits, Result, progress
from stacklib.grading.report import ERROR, FAIL, PASS, TODO

COLOURS = {PASS: 32, TODO: 33, FAIL: 31, ERROR: 31}  # green, yellow, red


def grade(
    exercises: Sequence[Exercise], limits: Limits, tell: Callable[[Result], None]
) -> list[Result]:
    """Grade, tell each result as it comes, and keep the progress of the checkout."""
    results: list[Result] = []
    if not exercises:
        return results
    place, former = progress.place(exercises[0].root), progress.former()
    moved = former.exists() and not place.exists()
    for result in grading.grade_all(exercises, limits):
        tell(result)
        results.append(result)
    try:
        progress.record(results, place)
    except OSError as error:
        print(f"stacklib: progress not kept: {error}", file=sys.stderr)
        return results
    if moved:
        print(
            f"stacklib: progress is kept by checkout now, in {near(place)}; "
            f"what was kept for all of yours stays in {former}",
            file=sys.stderr,
        )
    return results


def known_progress(exercises: Sequence[Exercise]) -> dict[str, dict[str, Any]]:
    """What was solved before here, or nothing where it cannot be read."""
    try:
        return progress.load(progress.place(exercises[0].root))
    except OSError:
        return {}


def quiet(result: Result) -> None:
    """Tell nothing."""


def show(target: str | None) -> Callable[[Result], None]:
    """How to tell a result: in full when it was asked for by its id."""

    def tell(result: Result) -> None:
        full = target == result.id
        state = painted(f"{result.state:<5}")
        print(f"{result.id:<5} {state} {result.level:<9} {result.title}")
        messages = result.told(str(near(result.path)))
        for line in messages if full else messages[:1]:
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
        print(f"      a hint: stacklib check {result.id} --hint")


def painted(text: str, state: str = "") -> str:
    """A word in the colour of a state, where there is a terminal to show it."""
    if not sys.stdout.isatty() or os.environ.get("NO_COLOR"):
        return text
    return f"\x1b[{COLOURS.get(state or text.strip(), 0)}m{text}\x1b[0m"


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


def tell_reset(exercise: Exercise, kept: Path | None) -> None:
    """Where the stub was written, and where what stood there is kept."""
    print(f"wrote {near(exercise.path)}")
    if kept:
        print(f"what you had written is in {near(kept)}")

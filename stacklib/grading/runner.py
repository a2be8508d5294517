"""Grade a reader's file: run it apart from this process and put its fate in words."""

from __future__ import annotations

import ast
import os
import re
import signal
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from pathlib import Path
from typing import Any

from stacklib.grading import machine
from stacklib.grading.copies import fill
from stacklib.grading.format import FormatError, Text, parse
from stacklib.grading.launch import Limits, Observed, Process, observe, spawn
from stacklib.grading.outline import tests_in_view
from stacklib.grading.report import ERROR, FAIL, Report, Result, TestResult
from stacklib.grading.rules import borrowed
from stacklib.grading.sandbox import TIMED
from stacklib.grading.shelf import Exercise, discover, find_root, select

Start = Callable[[dict[str, Any], Path, int], Process]


def check(
    target: str | None = None,
    *,
    root: Path | str | None = None,
    timeout: float = 10.0,
    memory: int = 2 << 30,
) -> Report:
    """Grade the exercises a target means: ``"1.2"``, a chapter ``"1"``, or all.

    A reader's copy that is missing is written; no file is changed.

    Parameters
    ----------
    target : str, optional
        ``"1.2"``, ``"1"`` or a reader's own file; default all exercises.
    root : path, optional
        The checkout; default the one around the current folder.
    timeout, memory : float, int
        Seconds of the processor and bytes for one exercise.

    Raises
    ------
    UnknownExercise
        For a target that names nothing.
    ValueError
        For a limit that is no limit.
    """
    limits = Limits(timeout, memory)
    exercises = select(discover(root or find_root()), target)
    for exercise in exercises:
        fill(exercise)
    return Report(target, tuple(grade_all(exercises, limits)))


def grade_all(exercises: Iterable[Exercise], limits: Limits) -> Iterator[Result]:
    """Grade several exercises, as many at once as there are cores, in order.

    Parameters
    ----------
    exercises : iterable of Exercise
        What to grade.
    limits : Limits
        Time and memory for each.
    """
    chosen = list(exercises)
    if len(chosen) == 1:  # in this thread, so that Ctrl-C stops it at once
        yield grade(chosen[0], limits)
        return
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        try:
            yield from pool.map(lambda e: grade(e, limits), chosen)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def grade(exercise: Exercise, limits: Limits) -> Result:
    """Grade the reader's file of one exercise.

    Parameters
    ----------
    exercise : Exercise
        As ``discover`` gives it.
    limits : Limits
        Time and memory.
    """
    try:
        source = exercise.path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        return unread(exercise, f"cannot be read: {error}")
    result = grade_source(exercise, source, limits, spawn)
    stopped = result.state == ERROR and "stopped after" in result.tests[-1].message
    if stopped and "gpu" in exercise.text().head and machine.is_cold():
        machine.warm()  # which took the time that the answer had
        result = grade_source(exercise, source, limits, spawn)
    return result


def grade_source(
    exercise: Exercise, source: str, limits: Limits, start: Start
) -> Result:
    """Grade a text as if it stood in the reader's file."""
    book = exercise.text()
    try:
        reader = parse(source, exercise.path.name)
    except FormatError as error:
        return unread(exercise, str(error))
    if changed := changed_tests(reader, book):
        return unread(exercise, *changed)
    if fault := borrowed(reader, book):
        return unread(exercise, *fault, state=FAIL)
    request = request_of(exercise, reader, book)
    seen = observe(start, request, limits)
    return Result(
        id=exercise.id,
        path=exercise.path,
        title=book.title,
        level=book.level,
        tests=verdicts(seen, request, limits),
        output=seen.output,
        seconds=seen.seconds,
    )


def request_of(exercise: Exercise, reader: Text, book: Text) -> dict[str, Any]:
    """What ``sandbox`` needs to run the book's tests on an answer."""
    return {
        "source": reader.source,
        "answer": reader.head + reader.answer,
        "filename": str(exercise.path),
        "book": without_answer(book),
        "book_name": str(exercise.file),
        "tests": test_lines(reader, book),
    }


def without_answer(book: Text) -> str:
    """The book's file with empty lines for its answer: what the grader runs."""
    return book.head + "\n" * book.answer.count("\n") + book.tests


def test_lines(reader: Text, book: Text) -> dict[str, int]:
    """The names of the book's tests, and the line where each begins for the reader."""
    above = (reader.head + reader.answer).count("\n")
    lines = {
        node.name: above + node.lineno
        for node in ast.parse(reader.tests).body
        if isinstance(node, ast.FunctionDef)
    }
    return {name: lines[name] for name in book.test_names}


def unread(
    exercise: Exercise, message: str, line: int | None = None, state: str = ERROR
) -> Result:
    """The result of a file that was not run at all."""
    text = exercise.text()
    test = TestResult("", state, message, line)
    return Result(exercise.id, exercise.path, text.title, text.level, (test,))


def changed_tests(reader: Text, book: Text) -> tuple[str, int] | None:
    """A message and a line where the reader's tests are not the book's, neither as a
    copy shows them nor as they stand in the book's own file.
    """
    mine = statements(reader.tests)
    places = [
        first_change(mine, statements(theirs))
        for theirs in (tests_in_view(book), book.tests)
    ]
    if None in places:
        return None
    above, body = (
        (reader.head + reader.answer).count("\n"),
        ast.parse(reader.tests).body,
    )
    line = body[min(places[0] or 0, len(body) - 1)].lineno if body else 1
    return (
        "the tests were changed here, so they prove nothing; --reset writes the "
        "exercise anew and keeps this file beside it",
        above + line,
    )


@lru_cache(maxsize=8)  # many answers of one exercise are graded in a row
def statements(source: str) -> tuple[str, ...]:
    """Each statement of a source text, without its layout."""
    return tuple(map(ast.dump, ast.parse(source).body))


def first_change(mine: Sequence[str], theirs: Sequence[str]) -> int | None:
    """Where two lists of statements first differ; None where they are the same."""
    same = [a == b for a, b in zip(mine, theirs, strict=False)]
    if False in same:
        return same.index(False)
    return None if len(mine) == len(theirs) else min(len(mine), len(theirs))


def verdicts(
    seen: Observed, request: dict[str, Any], limits: Limits
) -> tuple[TestResult, ...]:
    """One result for each test that ran, and one for what stopped the run."""
    results = [as_result(r) for r in seen.records if r["event"] == "result"]
    if any(r["event"] == "end" for r in seen.records) or any(
        not r.name for r in results
    ):
        return tuple(results)
    running = [r["test"] for r in seen.records if r["event"] == "start"]
    name = running[-1] if running else ""
    line = stopped_at(seen.trace, request["filename"])
    stopped = TestResult(name, ERROR, cause_of_death(seen, limits), line)
    return (*results, stopped)


def as_result(record: dict[str, Any]) -> TestResult:
    """A record of the sandbox as a result."""
    return TestResult(
        name=record["test"],
        state=record["state"],
        message=record["message"],
        line=record["line"],
        readings=tuple(record.get("readings", ())),
    )


def stopped_at(trace: str, filename: str) -> int | None:
    """The innermost line of the reader's file in the watchdog's stack."""
    # The watchdog writes plain ASCII, whatever the path holds.
    name = filename.encode("ascii", "backslashreplace").decode()
    found = re.search(rf'File "{re.escape(name)}", line (\d+)', trace)
    return int(found[1]) if found else None


def cause_of_death(seen: Observed, limits: Limits) -> str:
    """Why a run ended before its tests had."""
    if seen.killed or seen.trace.startswith("Timeout"):
        return (
            f"stopped after {limits.patience:g} s on the clock, still running; "
            "does every loop end, and what does it wait for?"
        )
    if seen.status in TIMED:
        return (
            f"stopped after {limits.timeout:g} s of processor time, still running; "
            "does every loop end?"
        )
    if seen.status == -9:  # SIGKILL, which not every system has
        return "killed by the system, most likely for want of memory"
    if seen.status < 0:
        return f"Python crashed ({signal.Signals(-seen.status).name})"
    return (
        f"Python ended with status {seen.status} before the tests had run; "
        "remove what ends it"
    )

"""A reader's copies in ``my/``: written where none are, and never written over.

``my/.as-shipped/`` holds what was written. By it ``renew`` tells the reader's words
from the book's: the answer is the reader's, and a question or tests left as they were
written become those the book has now.
"""

from __future__ import annotations

from datetime import date
from pathlib import Path

from stacklib.grading import progress
from stacklib.grading.format import FormatError, regions
from stacklib.grading.shelf import Exercise

NEW, RENEWED, KEPT, BOTH = "new", "renewed", "kept", "both"


def fill(exercise: Exercise) -> bool:
    """Write the copy where there is none; whether it was written."""
    text = exercise.stub()
    if not write_new(exercise.path, text.encode()):
        return False
    shipped = as_shipped(exercise)
    shipped.parent.mkdir(parents=True, exist_ok=True)
    shipped.write_text(text, "utf-8")
    return True


def renew(exercise: Exercise) -> str:
    """Bring a copy up to date and say how it is: ``new``; ``renewed``, the book has
    changed; ``kept`` as it is; ``both``, kept because the reader and the book have
    each changed the question or the tests.
    """
    if fill(exercise):
        return NEW
    shipped, now = as_shipped(exercise), exercise.stub()
    was = shipped.read_text("utf-8") if shipped.exists() else now
    if was == now:
        return KEPT
    if (text := merged(exercise.path.read_bytes(), was, now)) is None:
        return BOTH
    progress.write(exercise.path, text)
    shipped.write_text(now, "utf-8")
    return RENEWED


def reset(exercise: Exercise) -> Path | None:
    """Write the stub in place of the reader's file; where that file is kept, dated and
    beside it, if it held anything else.
    """
    if fill(exercise):
        return None
    mine, text = exercise.path.read_bytes(), exercise.stub()
    if mine == text.encode():
        return None
    day, number = date.today().isoformat(), 1
    backup = exercise.path.with_suffix(f".{day}.py")
    while not write_new(backup, mine):
        number += 1
        backup = exercise.path.with_suffix(f".{day}.{number}.py")
    progress.write(exercise.path, text)
    return backup


def as_shipped(exercise: Exercise) -> Path:
    """Where the text stands that a copy began with."""
    chapter = exercise.file.parent.name
    return exercise.root / "my/.as-shipped" / chapter / exercise.file.name


def merged(mine: bytes, was: str, now: str) -> str | None:
    """The reader's answer in the book's present text; None where that would take
    away other words of the reader's.
    """
    try:
        parts = [regions(text, "") for text in (mine.decode(), was, now)]
    except (FormatError, UnicodeDecodeError):
        return None
    head, answer, tests = (newer(*three) for three in zip(*parts, strict=True))
    if head is None or tests is None:
        return None
    return head + (parts[0][1] if answer is None else answer) + tests


def newer(mine: str, was: str, now: str) -> str | None:
    """Of three versions of one part the newer; None where two people changed it."""
    if mine in (was, now):
        return now
    return mine if was == now else None


def write_new(path: Path, data: bytes) -> bool:
    """Write a file unless there is one; whether it was written.

    Raises ValueError for a place that cannot be written to.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("xb") as file:
            file.write(data)
    except OSError as error:
        if path.exists():
            return False
        raise ValueError(
            f"{path}: {error.strerror}; name a checkout you may write to with --root"
        ) from None
    return True

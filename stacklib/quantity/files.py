"""Files of the checkout, wherever the package runs; a reader's tables; whole writes."""

from __future__ import annotations

import csv
import os
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from .names import resolve

PACKAGE = Path(__file__).resolve().parents[1]
WIDE = b"\xff\xfe", b"\xfe\xff"  # how a file begins that PowerShell's > wrote


def places() -> list[Path]:
    """Folders that such a file is looked for in, in this order.

    ``STACKLIB_ROOT`` if it is set, the checkout around the package, and the package
    itself: a wheel carries ``benchmarks/`` inside it.
    """
    named = os.environ.get("STACKLIB_ROOT")
    return [*([Path(named)] if named else []), PACKAGE.parent, PACKAGE]


def held(name: str) -> Path:
    """The first place that holds a file or folder; the checkout where none does."""
    found = (place for place in places() if (place / name).exists())
    return next(found, PACKAGE.parent)


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A file beside ``path`` that takes its place when all of it is written.

    Its name is this writer's own: another may write there, too.
    """
    mine = f"{os.getpid()}-{threading.get_ident()}"
    partial = path.with_name(f"{path.name}.{mine}.partial")
    try:
        yield partial
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)


def read_rows(
    path: str | Path, asked: Iterable[str], known: Iterable[str]
) -> list[dict[str, str]]:
    """Rows of a CSV by column, without blanks around cells and empty lines.

    - ``asked``, ``known``: columns that must be there, and all that may
    - raises ``ValueError`` for a column that is not there or stands twice, for a row of
      another length, and for what is no CSV; ``LookupError`` for an unknown column
    """
    raw = Path(path).read_bytes()
    try:
        text = raw.decode("utf-16" if raw[:2] in WIDE else "utf-8-sig")
        lines = list(csv.reader(text.splitlines(keepends=True)))
    except (UnicodeDecodeError, csv.Error) as wrong:
        raise ValueError(f"{path}: no CSV: {wrong}") from None
    cells = [[cell.strip() for cell in line] for line in lines if any(line)]
    head, *rows = cells or [[]]
    known = tuple(known)
    columns = [resolve(name, known, f"column of {path}", exact=True) for name in head]
    if lacking := [name for name in asked if name not in columns]:
        raise ValueError(f"{path}: no column {', '.join(lacking)}")
    if len({*columns}) < len(columns):
        raise ValueError(f"{path}: a column stands twice: {', '.join(columns)}")
    for row in rows:
        if len(row) != len(columns):
            raise ValueError(f"{path}: {row} has {len(row)} cells, not {len(columns)}")
    return [dict(zip(columns, row, strict=True)) for row in rows]

"""Traffic from a file: the book's own columns, or those of two published traces."""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from datetime import datetime
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

from .steps import SECOND
from .traffic import Row


class Form(NamedTuple):
    """Columns of a file: the arrival as nanoseconds, prompt, answer and prefix."""

    arrival: str
    nanoseconds: Callable[[str], int]
    prompt: str
    new: str
    prefix: str = ""


def _seconds(text: str) -> int:
    return round(float(text) * SECOND)


def _date(text: str) -> int:
    """A date to seven digits of a second, as one of the traces has it."""
    head, _, part = text.partition(".")
    whole = datetime.fromisoformat(head) - datetime(1970, 1, 1)
    seconds = whole.days * 86_400 + whole.seconds
    return seconds * SECOND + int(f"{part[:9]:0<9}" if part else 0)


FORMS = (
    Form("arrival", int, "prompt", "new", "prefix"),
    Form("TIMESTAMP", _date, "ContextTokens", "GeneratedTokens"),  # Azure's
    Form("Timestamp", _seconds, "Request tokens", "Response tokens"),  # BurstGPT's
)


def trace(path: str | PathLike[str]) -> list[Row]:
    """Requests of a CSV file, the first at time 0.

    Parameters
    ----------
    path : path
        Columns ``arrival`` (nanoseconds), ``prompt``, ``new`` and, if there are any,
        ``id`` and ``prefix`` (a number, or ``name:number``); or those of the published
        traces of Azure's and of BurstGPT.

    Returns
    -------
    list of Row
        In the order of the file, which is that of arrival.

    Raises
    ------
    ValueError
        For other columns, and for a line that is none: with its number and value.
    """
    try:
        with Path(path).open(encoding="utf-8-sig", newline="") as lines:
            found = _rows(csv.DictReader(lines), path)
    except (csv.Error, UnicodeDecodeError) as wrong:
        raise ValueError(f"{path}: {wrong}") from None
    if not found:
        raise ValueError(f"{path}: no lines after the names of columns")
    first = found[0].arrival
    return [row._replace(arrival=row.arrival - first) for row in found]


def _rows(reader: csv.DictReader[str], path: Any) -> list[Row]:
    form = _form(reader.fieldnames or (), path)
    found: list[Row] = []
    for line, cells in enumerate(reader, 2):
        found.append(_row(form, cells, line, len(found)))
        if found[-1].arrival < found[max(len(found) - 2, 0)].arrival:
            raise ValueError(
                f"line {line}: {form.arrival} = {cells[form.arrival]!r} comes "
                "before the line above it: sort the lines by arrival"
            )
    return found


def _form(names: Sequence[str], path: Any) -> Form:
    for form in FORMS:
        if {form.arrival, form.prompt, form.new} <= set(names):
            return form
    wanted = "; or ".join(f"{f.arrival}, {f.prompt}, {f.new}" for f in FORMS)
    raise ValueError(f"{path}: columns {', '.join(names) or 'none'}: needed {wanted}")


def _row(form: Form, cells: dict[str, str], line: int, number: int) -> Row:
    def read(name: str, as_number: Callable[[str], int], least: int) -> int:
        text = (cells.get(name) or "").strip()
        try:
            value = as_number(text)
        except (ValueError, OverflowError):
            value = least - 1
        if value < least:
            needed = f"a number from {least} is needed"
            raise ValueError(f"line {line}: {name} = {text!r}: {needed}")
        return value

    arrival = read(form.arrival, form.nanoseconds, 0)
    prompt, new = read(form.prompt, int, 1), read(form.new, int, 1)
    prefix: Any = 0
    if form.prefix and (text := (cells.get(form.prefix) or "").strip()):
        name, _, tokens = text.rpartition(":")
        cells = {**cells, form.prefix: tokens}
        prefix = read(form.prefix, int, 0)
        if prefix > prompt:
            raise ValueError(
                f"line {line}: {form.prefix} = {text!r} of a prompt of {prompt} tokens"
            )
        prefix = (name, prefix) if name else prefix
    return Row(cells.get("id") or number, arrival, prompt, new, prefix)

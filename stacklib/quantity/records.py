"""Facts from records: a line of the file of quotes, a value of a result file.

What a document says stands in ``data/quotes.csv``, once: the document, the place in
it, what it says there, the value, its unit; our judgements with a reason. What a
machine measured stands in a result file, with its date and its device.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from .core import Quantity, _make
from .files import PACKAGE, held
from .names import resolve
from .source import Source
from .told import MARK

QUOTES = PACKAGE / "quantity" / "data" / "quotes.csv"
QUOTED = "quotes/"  # how the key of a quote begins
# What a field of raw samples, a list, is taken as.
SAMPLES: dict[str, Callable[[list[float]], float]] = {
    "median": lambda raw: _statistics().median(raw),
    "mean": lambda raw: _statistics().mean(raw),
    "least": min,
    "most": max,
    "p10": lambda raw: _tenths(raw)[0],
    "p90": lambda raw: _tenths(raw)[-1],
}


def _tenths(raw: list[float]) -> list[float]:
    if len(raw) == 1:
        return raw
    return list(_statistics().quantiles(raw, n=10, method="inclusive"))


def _statistics() -> Any:
    """The library's module: what knows no samples starts without it."""
    import statistics

    return statistics


@dataclass(frozen=True, slots=True)
class Quote:
    """One line: what a document says, where, in which words it is told here."""

    key: str
    document: str
    place: str
    says: str
    value: str
    unit: str
    seen: str
    confidence: str
    why: str  # of a judgement of ours

    @property
    def source(self) -> Source:
        """The document and the place in it."""
        where = self.place or self.says
        return Source(self.document, where, self.seen, self.confidence)


@cache
def quotes() -> dict[str, Quote]:
    """Every line of the file of quotes by its key, ``document.figure``."""
    with QUOTES.open(encoding="utf-8", newline="") as lines:
        return {row["key"]: Quote(**row) for row in csv.DictReader(lines)}


def quoted(key: str, label: str = "") -> Quantity:
    """A figure that a document states: *claimed*, by a line of the file of quotes.

    A line that gives a reason is a judgement of ours, *assumed*.

    Parameters
    ----------
    key : str
        Document and figure, such as ``llama3.training_share``.
    label : str
        What it is called in formulas; default what the document says of it.

    Raises
    ------
    UnknownName
        For a figure that the file does not hold; lists the candidates.

    Examples
    --------
    >>> quoted("llama3.training_share").text()
    '90 %'
    """
    row = quotes()[resolve(key, quotes(), "quote", exact=True)]
    value, words, key = float(row.value), label or row.says, QUOTED + row.key
    made = Quantity(value, row.unit, label=words, source=row.source, key=key)
    return _make(made, kind="assumed" if row.why else "claimed", note=row.why)


def recorded(
    file: str, row: str, field: str, *, unit: str = "", label: str = ""
) -> Quantity:
    """A value of a result file: *measured*, with the file, its date and its device.

    Parameters
    ----------
    file : str
        From the top of the checkout, such as ``benchmarks/results/jit_time.json``.
    row : str
        The ``id`` of one of its rows, or the names on the way to a part of it, with
        slashes between them.
    field : str
        The names on the way from there. Of a list of samples the last word is how
        they are taken: ``times_s/median``, ``mean``, ``least``, ``most``, ``p10``,
        ``p90``.
    unit, label : str
        As ``Quantity`` takes them; the label is the field unless said.

    Raises
    ------
    ValueError
        For a file that is not there, or that does not say when it was measured.
    UnknownName
        For a row or field that it does not hold.

    Examples
    --------
    >>> file = "benchmarks/results/host_roofline.json"
    >>> recorded(file, "triad", "times_s/least", unit="s").kind  # doctest: +SKIP
    'measured'
    """
    about = _file(file)
    if not isinstance(about.get("date"), str):
        raise ValueError(f"{file}: says no date on which it was measured")
    where = about.get("device", f"{row}, {field}")
    source = Source(file, where, about["date"][:10], "measured")
    key = record_key(file, row, field, unit)
    value, label = stored(file, row, field), label or field
    return Quantity(value, unit, label=label, source=source, kind="measured", key=key)


def record_key(file: str, row: str, field: str, unit: str) -> str:
    """The key of a value of a result file, with the unit that the file has it in."""
    return MARK.join((file, row, field, unit))


def stored(file: str, row: str, field: str) -> float:
    """The number at a place of a result file, as the file has it; a flag is 0 or 1."""
    value: Any = _file(file)
    rows = value.get("rows", ())
    known = {one["id"]: one for one in rows if isinstance(one, dict) and "id" in one}
    words = field.split("/")
    if row in known:
        value = known[row]
    else:
        words = [*filter(None, row.split("/")), *words]
    for word in words:
        value = _step(value, word, f"{file}{MARK}{row}{MARK}{field}")
    if not isinstance(value, int | float):
        raise ValueError(f"{file}{MARK}{row}{MARK}{field} is {value!r}, not a number")
    return float(value)


def _step(value: Any, word: str, place: str) -> Any:
    if isinstance(value, list) and word in SAMPLES:
        return SAMPLES[word](value)
    if isinstance(value, list) and word.isdecimal() and int(word) < len(value):
        return value[int(word)]
    names = value if isinstance(value, dict) else SAMPLES if value else {}
    return value[resolve(word, names, f"place ({place})", exact=True)]


@cache
def _file(name: str) -> dict[str, Any]:
    path = held(name) / name
    if not path.is_file():
        raise ValueError(f"{name}: no such file; name it from the top of the checkout")
    try:
        found = json.loads(path.read_text("utf-8"))
    except ValueError as error:  # no text, or no JSON
        raise ValueError(f"{name} is no result file: {error}") from None
    if not isinstance(found, dict):
        raise ValueError(f"{name} is no result file: it holds no object")
    return found

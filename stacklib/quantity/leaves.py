"""Leaves that a page or a model makes itself, each saying truly what it is.

A size that the page picks is ``chosen``, a judgement ``assumed``, a fact of physics or
arithmetic ``constant``. What a run made is in ``counting``; what was read somewhere
names its record (``records``, or ``Quantity(..., kind="spec", source=..., key=...)``).
"""

from __future__ import annotations

import re

from .constants import CONSTANTS
from .core import Quantity, _make, _wrap
from .names import resolve
from .source import Source

# What names a document: its authors, its year with a place in it, its kind, its number.
_DOCUMENT = re.compile(
    r"\bet al\b|\barXiv\b|\b(?:19|20)\d\d, (?:section|table|figure|page)\b|\bJESD\d"
    r"|(?<!of )\b(?:the|this|their|its|an?|\w+'s)(?: (?!of\b)[\w-]+){0,3}? "
    r"(?:paper|data ?sheet|guide|manual|report|study|article|survey|post|standard)\b",
    re.I,
)


def chosen(value: float, unit: str = "", label: str = "") -> Quantity:
    """A given of the page, which the reader may change: *we take*.

    Parameters
    ----------
    value, unit
        As ``Quantity`` takes them. A size of the book's case names its row.
    label : str
        What it is called in formulas.
    """
    key = getattr(value, "key", "")
    return _make(Quantity(value, unit, label=label, key=key), kind="chosen")


def assumed(
    value: float,
    unit: str = "",
    label: str = "",
    *,
    why: str,
    source: Source | None = None,
    key: str = "",
) -> Quantity:
    """A judgement, listed with its reason by ``stacklib assumptions``.

    Parameters
    ----------
    value, unit
        As ``Quantity`` takes them.
    label : str
        What it is called in formulas.
    why : str
        The reason, one sentence.
    source, key
        Where the judgement leans on a document or stands in a record.

    Raises
    ------
    ValueError
        For an empty reason or label, and for one that names a document as its source:
        what a document says is quoted.
    """
    if source is None and (named := _DOCUMENT.search(f"{label}; {why}")):
        raise ValueError(
            f"assumed {label!r}: {named[0]!r} is no judgement of ours; quote it: "
            "quoted(key), a line of quotes.csv, or give its source="
        )
    if not why.strip() or not label.strip():
        raise ValueError(f"assumed {value!r}: say what it is and why")
    made = Quantity(value, unit, label=label, source=source, key=key)
    return _make(made, kind="assumed", note=why.strip())


def constant(name: str) -> Quantity:
    """A physical or mathematical constant by name; ``CONSTANTS`` is the whole table.

    Raises
    ------
    UnknownName
        For a name that is not in the table; lists the candidates.
    """
    row = CONSTANTS[resolve(name, tuple(CONSTANTS), "constant")]
    source = Source(*row.source) if row.source else None
    made = Quantity(row.value, row.unit, label=row.label, source=source, key=name)
    return _make(made, kind="constant")


def one_of(unit: str, label: str = "") -> Quantity:
    """Exactly one of a unit: ``bandwidth * one_of("s")`` is what passes in a second."""
    return _make(Quantity(1, unit, label=label or f"one {unit}"), kind="constant")


def stamp(q: Quantity, family: str) -> Quantity:
    """``q`` as a prediction of ``family``, whose error band goes with it."""
    return _make(_wrap(q), family=family)

"""What published tables got wrong: ``data/spec_conflicts.csv``, read strictly."""

from __future__ import annotations

import difflib
import math
import re
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from pathlib import Path

from stacklib.quantity import Quantity, UnitError

from ..ledger import read_rows

# cause -> what went wrong, for the reader
CAUSES = {
    "one-way vs both ways": "a link's two directions were added, or were not",
    "sparse vs dense": "a rate with structured sparsity was taken for the dense one",
    "accumulate width": "the rate holds for another accumulator",
    "bits vs bytes": "bits were read as bytes, or bytes as bits",
    "GB vs GiB": "powers of ten and of two were mixed",
    "chip vs board vs rack": "the figure is of more, or fewer, chips",
    "another product": "the figure belongs to another chip or generation",
    "another quantity": "the figure is of something else",
    "physical vs exposed": "what is built is more than what is enabled",
    "announced vs shipped": "what was announced is not what was sold",
    "factor-two slip": "a factor of two, with no other reason",
    "rounding": "rounded, or rounded twice",
    "clock": "the figure holds at another clock",
    "no source": "nobody says where the figure is from",
    "right": "the figure is right",
}
# verdict -> what it says
VERDICTS = {
    "right": "right as printed",
    "right if": "right with a qualifier that was left out",
    "wrong": "wrong",
    "sources disagree": "good sources differ",
    "unsupported": "no source supports it",
}
COLUMNS = (
    "id",
    "item",
    "devices",
    "claimed",
    "verdict",
    "correct",
    "value",
    "unit",
    "cause",
    "why",
    "explained",
    "source",
    "confidence",
)
TEXTS = ("item", "claimed", "correct", "why", "source")
CONFIDENCE = ("high", "medium", "low")


class ConflictError(ValueError):
    """A row that cannot be read; names file, line and id."""


class UnknownConflict(LookupError):
    """No conflict of this id."""


@dataclass(frozen=True)
class Conflict:
    """One disputed figure.

    Parameters
    ----------
    id, item, claimed
        Its name, the thing, and the figure as it went round.
    devices : tuple of str
        Keys of the devices it is about; empty where it is about none.
    verdict, cause
        One of ``VERDICTS`` and of ``CAUSES``.
    correct : str
        What sources say, in words.
    value, unit
        The one number of it that a check must reach; None and "" where there is none.
    why : str
        How the wrong figure came about.
    explained : str
        Why our computed number and the sources' differ, where they do.
    source, confidence : str
        Where the correct value stands, and how sure it is.
    """

    id: str
    item: str
    devices: tuple[str, ...]
    claimed: str
    verdict: str
    correct: str
    value: float | None
    unit: str
    cause: str
    why: str
    explained: str
    source: str
    confidence: str

    def quantity(self) -> Quantity | None:
        """The number sources give, of kind ``claimed``; None where there is none."""
        if self.value is None:
            return None
        return Quantity(
            self.value,
            self.unit,
            label=self.id,
            kind="claimed",
            key=f"conflicts/{self.id}",
        )


def _number(text: str) -> float | None:
    if not text:
        return None
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value) or value <= 0:
        raise ConflictError(f"value {text!r} is not a number above zero")
    return value


def _conflict(row: dict[str, str]) -> Conflict:
    if not re.fullmatch(r"[a-z0-9]+(_[a-z0-9]+)*", row["id"]):
        raise ConflictError(f"id {row['id']!r}: lower case words joined by '_'")
    for column in TEXTS:
        if not row[column].strip():
            raise ConflictError(f"{column} is empty")
    for column, allowed in (
        ("verdict", VERDICTS),
        ("cause", CAUSES),
        ("confidence", CONFIDENCE),
    ):
        if row[column] not in allowed:
            text = f"{column} {row[column]!r} is not one of {', '.join(allowed)}"
            raise ConflictError(text)
    if (row["cause"] == "right") and row["verdict"] != "right":
        raise ConflictError("cause 'right' needs the verdict 'right'")
    typed = {"value": _number(row["value"]), "devices": tuple(row["devices"].split())}
    found = Conflict(**{**row, **typed})  # type: ignore[arg-type]
    try:
        found.quantity()
    except UnitError as wrong:
        raise ConflictError(str(wrong)) from None
    return found


def read(path: Path) -> list[Conflict]:
    """Read a file of conflicts.

    Parameters
    ----------
    path : Path
        A CSV with the columns of ``COLUMNS``.

    Raises
    ------
    ConflictError
        For a missing column or cell, an unknown verdict or cause, a value that is no
        number, a unit that cannot be read, or a repeated id; says which row.
    """
    return list(read_rows(path, COLUMNS, _conflict, ConflictError).values())


@lru_cache(maxsize=1)
def load() -> list[Conflict]:
    """Every conflict of the book, in file order."""
    return read(Path(str(files("stacklib.evidence") / "data" / "spec_conflicts.csv")))


def get(id: str) -> Conflict:
    """The conflict of this id.

    Raises
    ------
    UnknownConflict
        With the nearest ids.
    """
    for conflict in load():
        if conflict.id == id:
            return conflict
    near = difflib.get_close_matches(id, [c.id for c in load()], 3, 0.4)
    hint = f"; nearest: {', '.join(near)}" if near else ""
    raise UnknownConflict(f"no conflict {id!r}{hint}")

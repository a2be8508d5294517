"""Claims as the documents make them: ``data/claims.csv``, read strictly."""

from __future__ import annotations

import csv
import difflib
import math
import re
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from stacklib.quantity import Quantity, Source, format_number

DOCUMENTS = {
    "000": "The Complete AI Hardware Stack, Layer by Layer",
    "001": "The Whole Stack: Everything Between a Transistor and a Token",
    "002": "Posts on chips and kernels, E. Andere",
    "003": "AI Hardware: From Beginner to Advanced",
    "004": "Where the 100x Comes From",
}
CSV_VERDICTS = (
    "reproduced", "close", "wrong", "conflict", "external", "unverifiable",
)  # fmt: skip
COLUMNS = (
    "id", "seed", "chapter", "claim", "value", "unit", "how_to_check", "computed",
    "verdict", "why",
)  # fmt: skip
CHAPTERS = range(1, 11)

# Units of claims that answer yes or no, or name something. Not numbers.
NOT_NUMBERS = frozenset({
    "bool", "boolean", "bool (fits)", "nm (name)", "compute capability", "code",
    "version", "generation", "basis",
})  # fmt: skip
# The ledger's words for units that Quantity spells otherwise. A unit that is
# missing here and unknown to Quantity raises when its claim is first checked.
_UNITS = {
    "percent": "%", "ratio": "", "fraction": "", "exponent": "", "years": "year",
    "days": "day", "tok/s": "token/s", "tokens": "token", "bits": "bit",
    "KB": "kB", "Tb/s": "Tbit/s", "Gb/s": "Gbit/s",
}  # fmt: skip


READ = "2026-11-21"  # when the documents were read


class LedgerError(ValueError):
    """A row of the ledger that cannot be read; names file, line and id."""


class UnknownClaim(LookupError):
    """No claim of this id."""


@dataclass(frozen=True)
class Claim:
    """One row: what a document says, and the first review of it."""

    id: str
    source: str
    chapter: int
    text: str
    value: float
    unit: str
    how: str
    first_computed: float | None
    first_verdict: str
    first_why: str

    @property
    def document(self) -> str:
        """Title of the source document."""
        return DOCUMENTS[self.source]

    @property
    def is_number(self) -> bool:
        """False for a claim that answers yes or no, or that names something."""
        return self.unit not in NOT_NUMBERS

    @property
    def claimed(self) -> str:
        """Value and unit as printed in the *claimed* column."""
        if self.unit.startswith("bool"):
            return "yes" if self.value else "no"
        unit = {"percent": "%", "ratio": "×"}.get(self.unit, self.unit)
        return f"{format_number(self.value, 6)} {unit}"

    def quantity(self) -> Quantity:
        """The claimed value, of kind ``claimed``.

        Raises
        ------
        UnitError
            When ``Quantity`` cannot read the row's unit.
        """
        unit = _UNITS.get(self.unit, self.unit)
        source = Source(self.document, f"claim {self.id}", READ, "secondary")
        return Quantity(
            self.value, unit, label=self.id, source=source, kind="claimed"
        )


def _number(text: str, column: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise LedgerError(f"{column} {text!r} is not a number")
    return value


def _one_of(text: str, allowed: Any, column: str) -> str:
    if text not in allowed:
        raise LedgerError(f"{column} {text!r} is not one of {', '.join(allowed)}")
    return text


def _claim(row: dict[str, str]) -> Claim:
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", row["id"]):
        raise LedgerError(f"id {row['id']!r}: lower case words joined by '-'")
    for column in ("claim", "unit", "how_to_check", "why"):
        if not row[column].strip():
            raise LedgerError(f"{column} is empty")
    first = row["computed"]
    return Claim(
        id=row["id"],
        source=_one_of(row["seed"], DOCUMENTS, "seed"),
        chapter=int(_one_of(row["chapter"], [str(n) for n in CHAPTERS], "chapter")),
        text=row["claim"],
        value=_number(row["value"], "value"),
        unit=row["unit"],
        how=row["how_to_check"],
        first_computed=_number(first, "computed") if first else None,
        first_verdict=_one_of(row["verdict"], CSV_VERDICTS, "verdict"),
        first_why=row["why"],
    )


def read(path: Path) -> list[Claim]:
    """Read a ledger file.

    Raises
    ------
    LedgerError
        For a missing column, an unknown verdict, document or chapter, a value
        that is not a number, an empty text or a repeated id; says which row.
    """
    claims: dict[str, Claim] = {}
    with path.open(encoding="utf-8", newline="") as lines:
        reader = csv.DictReader(lines)
        if tuple(reader.fieldnames or ()) != COLUMNS:
            raise LedgerError(f"{path.name}: columns must be {', '.join(COLUMNS)}")
        for row in reader:
            where = f"{path.name} line {reader.line_num}, {row['id']!r}"
            if None in row or None in row.values():
                raise LedgerError(f"{where}: needs {len(COLUMNS)} cells")
            try:
                claim = _claim(row)
            except LedgerError as error:
                raise LedgerError(f"{where}: {error}") from None
            if claim.id in claims:
                raise LedgerError(f"{where}: id appears twice")
            claims[claim.id] = claim
    return list(claims.values())


@lru_cache(maxsize=1)
def load() -> list[Claim]:
    """Every claim of the book's ledger, in file order."""
    return read(Path(str(files("stacklib.evidence") / "data" / "claims.csv")))


def get(id: str) -> Claim:
    """The claim of this id.

    Raises
    ------
    UnknownClaim
        With the nearest ids.
    """
    for claim in load():
        if claim.id == id:
            return claim
    near = difflib.get_close_matches(id, [c.id for c in load()], 3, 0.4)
    hint = f"; nearest: {', '.join(near)}" if near else ""
    raise UnknownClaim(f"no claim {id!r}{hint}")

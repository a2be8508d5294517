"""Whole numbers of so many bits: what fits, and what a register makes of the rest."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from stacklib.quantity import resolve
from stacklib.quantity.bounds import is_whole

OVERFLOW = ("wrap", "saturate")
NAME = re.compile(r"(u?)int([1-9]\d?)")
WIDEST = 64


@dataclass(frozen=True, slots=True)
class Width:
    """A register of ``bits``, in two's complement where it is ``signed``."""

    bits: int
    signed: bool
    saturate: bool = False

    @property
    def low(self) -> int:
        """The least number it holds."""
        return -(1 << self.bits - 1) if self.signed else 0

    @property
    def high(self) -> int:
        """The largest number it holds."""
        return (1 << self.bits - self.signed) - 1

    @property
    def name(self) -> str:
        """``int8``, ``uint8``."""
        return f"{'' if self.signed else 'u'}int{self.bits}"

    def hold(self, exact: Any) -> Any:
        """What is left of a number, or of each of an array: wrapped or saturated."""
        if self.saturate:
            if hasattr(exact, "clip"):
                return exact.clip(self.low, self.high)
            return min(max(exact, self.low), self.high)
        return ((exact - self.low) & (1 << self.bits) - 1) + self.low


def width(name: str, what: str, overflow: str = "wrap") -> Width:
    """The register a name stands for: ``int8``, ``uint8``, ``int32``.

    - raises ``ValueError`` for what names no whole numbers of 2 to 64 bits,
      ``UnknownName`` for an overflow that neither wraps nor saturates.
    """
    saturate = resolve(overflow, OVERFLOW, "overflow", exact=True) == "saturate"
    found = NAME.fullmatch(name) if isinstance(name, str) else None
    if found is None or not 2 <= int(found[2]) <= WIDEST:
        raise ValueError(
            f"{what} = {name!r}: whole numbers of 2 to {WIDEST} bits are needed, as in "
            "'int8', 'uint8', 'int32'"
        )
    return Width(int(found[2]), not found[1], saturate)


Matrix = list[list[int]]


def matrix(values: Any, what: str, fits: Width) -> Matrix:
    """Rows of whole numbers that a register holds, from lists or an array.

    - ``what``: how it is called in messages.
    - raises ``ValueError`` for no matrix, an empty or ragged one, numbers that are not
      whole, and those outside ``fits``.
    """
    rows = values.tolist() if hasattr(values, "tolist") else values
    if not _sequence(rows) or not rows or not all(_sequence(row) for row in rows):
        raise ValueError(f"{what} is no matrix: rows of whole numbers are needed")
    wide = len(rows[0])
    if not wide or any(len(row) != wide for row in rows):
        raise ValueError(
            f"{what} has rows of {sorted({len(row) for row in rows})} numbers: "
            "all need as many, and at least one"
        )
    return [
        [_one(x, (what, r, c), fits) for c, x in enumerate(row)]
        for r, row in enumerate(rows)
    ]


def _one(x: Any, place: tuple[str, int, int], fits: Width) -> int:
    if is_whole(x) and fits.low <= x <= fits.high:
        return int(x)
    what, r, c = place
    raise ValueError(
        f"{what}[{r}, {c}] = {x!r}: {fits.name} holds whole numbers from {fits.low} to "
        f"{fits.high}; round, quantize or widen first"
    )


def _sequence(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def turned(rows: Iterable[Sequence[int]]) -> Matrix:
    """A matrix with rows and columns exchanged."""
    return [list(column) for column in zip(*rows, strict=True)]

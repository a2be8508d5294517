"""Plain number formats: bits an element, and what one operation counts as.

These are the formats in which chips publish rates. Those that store scales beside
their numbers are rows of ``stored``.
"""

from __future__ import annotations

from dataclasses import dataclass

from .names import resolve


@dataclass(frozen=True, slots=True)
class Dtype:
    """A number format: name, bits stored an element, what an operation is."""

    name: str
    bits: int
    operation: str  # "FLOP" or "OP"


DTYPES = {
    d.name: d
    for d in (
        Dtype("fp64", 64, "FLOP"),
        Dtype("fp32", 32, "FLOP"),
        Dtype("tf32", 32, "FLOP"),  # 19 bits used, 32 stored
        Dtype("bf16", 16, "FLOP"),
        Dtype("fp16", 16, "FLOP"),
        Dtype("fp8", 8, "FLOP"),
        Dtype("fp6", 6, "FLOP"),
        Dtype("fp4", 4, "FLOP"),
        Dtype("int8", 8, "OP"),
        Dtype("int4", 4, "OP"),
    )
}


def dtype(name: str) -> Dtype:
    """The plain format of this name.

    Raises
    ------
    UnknownName
        For anything else, with the nearest names: a rate is published in plain formats.
    """
    if isinstance(name, str) and name in DTYPES:  # as its rows are written
        return DTYPES[name]
    return DTYPES[resolve(name, DTYPES, "number format", exact=True)]

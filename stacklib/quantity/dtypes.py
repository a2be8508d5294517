"""Number formats as far as a bandwidth or capacity sum needs them.

Bits an element and what one operation counts as. Block scales of 4- and 8-bit
formats are not included; the room ``quantizers`` adds them.
"""

from __future__ import annotations

from dataclasses import dataclass

from .core import Quantity
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
    """The format of this name.

    Raises
    ------
    UnknownName
        For anything else, with the nearest names.
    """
    return DTYPES[resolve(name, DTYPES, "number format")]


def bytes_per_element(name: str) -> Quantity:
    """Bytes one element occupies, without block scales.

    Parameters
    ----------
    name : str
        A format, such as ``"bf16"``; an unknown one raises as in ``dtype``.
    """
    found = dtype(name)
    words = f"bytes per {found.name} number"
    return Quantity(found.bits / 8, "B", label=words, kind="constant")

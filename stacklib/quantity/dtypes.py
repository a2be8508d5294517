"""Number formats as far as a bandwidth or capacity sum needs them.

Bits an element and what one operation counts as. Formats that store scales or
tables beside their numbers are refused: the room ``quantizers`` counts those.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from .core import Quantity
from .names import UnknownName, fold, resolve


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


# Formats of blocks by how they are written, and the plain format of their numbers.
BLOCKED = {
    r"mxfp4|nvfp4|nf4|fp4.*block.*": "fp4",
    r"mxfp6.*": "fp6",
    r"mxfp8.*|fp8.*block.*": "fp8",
    r"mxint8|q8.*": "int8",
    r"i?q[2-6].*|w4a16|gptq.*|awq.*": "int4",
}


def dtype(name: str) -> Dtype:
    """The format of this name.

    Raises
    ------
    UnknownName
        For a format that stores scales beside its numbers, and for anything else,
        with the nearest names.
    """
    for pattern, plain in BLOCKED.items():
        if isinstance(name, str) and re.fullmatch(pattern, fold(name)):
            raise UnknownName(
                f"number format {name!r} stores scales beside its numbers: "
                "`stacklib formats` lists such schemes. Without them:\n"
                f"did you mean: {plain}"
            )
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

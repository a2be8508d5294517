"""The physical and mathematical constants of the book: one table."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Constant:
    """One row: its value, what it is called, and its source where it has one."""

    value: float
    unit: str
    label: str
    source: tuple[str, str, str, str] | None = None


CONSTANTS = {
    "multiply_add": Constant(2, "FLOP", "FLOP per multiply-add"),
    "multiply_add_op": Constant(2, "OP", "OP per multiply-add"),
    "fma_operands": Constant(3, "", "operands a multiply-add reads"),
    "byte": Constant(8, "bit/B", "bits of a byte"),
    "million": Constant(1e6, "", "a million"),
    "doubling": Constant(2, "", "a doubling"),
    "disc": Constant(math.pi / 4, "", "a disc over the square around it"),
    "triangle": Constant(0.5, "", "half of a square"),
    "year": Constant(365.25 * 86400, "s", "a year"),
}

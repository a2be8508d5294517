"""Instructions that an operation takes, by kind, for each element.

Counted in what Triton 3.7.1 and its ``ptxas`` make of one operation for sm_90: the
instructions that 1,024 elements of a warp take more than 512. Where a branch leads to a
rare case (large arguments of a sine) only the way of the usual ones is counted.
"""

from __future__ import annotations

Work = tuple[tuple[str, float], ...]

WORK: dict[str, Work] = {
    "exp": (("fp32", 4), ("special", 1)),
    "exp2": (("special", 1),),
    "log": (("int", 6), ("convert", 1), ("fp32", 18)),
    "log2": (("int", 6), ("convert", 1), ("fp32", 20)),
    "sqrt": (("special", 1),),
    "rsqrt": (("special", 1),),
    "sqrt_rn": (("special", 1), ("int", 2), ("fp32", 4)),
    "sin": (("convert", 2), ("int", 6), ("fp32", 14)),
    "cos": (("convert", 2), ("int", 6), ("fp32", 14)),
    "erf": (("fp32", 12), ("special", 1)),
    "floor": (("convert", 1),),
    "ceil": (("convert", 1),),
    "sigmoid": (("fp32", 7), ("special", 2)),
    "divide": (("special", 1), ("fp32", 7)),
    "remainder": (("special", 1), ("int", 3), ("fp32", 6)),
    "whole divide": (("convert", 2), ("special", 1), ("int", 20)),
    "divide fp64": (("special", 1), ("int", 8), ("fp64", 8)),
}


def one(kind: str, times: float = 1.0) -> Work:
    """So many instructions of one kind."""
    return ((kind, times),)

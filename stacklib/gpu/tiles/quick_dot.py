"""`gpu.mma`, compiled: the same steps of the same rule, output by output.

A step takes ``terms`` products and the accumulator, shifts them to the largest exponent
among them, cuts each to ``fraction`` bits behind the point and adds exactly; see
`tensor.tensor_core` for who found that out.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from stacklib.memory.warp._fast import fast
from stacklib.quantizers import Format

from ..issue.instructions import Arithmetic

NOTHING = -4000  # the exponent of a zero: below all others


def exponents(values: Any, least: int) -> Any:
    """Exponent field of each; a subnormal number has that of the smallest."""
    found = np.maximum(np.frexp(values)[1] - 1, least)
    return np.where(values == 0, NOTHING, found).astype(np.int64)


def quick_dot(a: Any, b: Any, c: Any, rule: Arithmetic) -> Any:
    """``a @ b + c`` of finite numbers in float32.

    ``a`` (m, k) and ``b`` (k, n) of the rule's format; ``c`` (m, n) of float32.
    """
    least = 1 - Format(rule.dtype).row.bias
    left, right = (np.ascontiguousarray(x, np.float64) for x in (a, b))
    total = np.array(c, np.float64, order="C")
    fast(_steps)(
        left,
        right,
        exponents(left, least),
        exponents(right, least),
        total,
        np.array([rule.terms, rule.fraction, rule.result]),
        np.zeros((2, total.shape[1])),
        np.zeros(total.shape[1], np.int64),
    )
    return total.astype(np.float32)


def _steps(
    a: Any,
    b: Any,
    powers_a: Any,
    powers_b: Any,
    total: Any,
    rule: Any,
    room: Any,
    largest: Any,
) -> None:
    """Every step of every row; ``room`` and ``largest`` hold a row's numbers."""
    terms, fraction, result = rule[0], rule[1], rule[2]
    k, n = b.shape
    kept, scale = room[0], room[1]
    for i in range(a.shape[0]):
        row = total[i]
        for start in range(0, k, terms):
            stop = min(start + terms, k)
            for j in range(n):
                largest[j] = NOTHING
                if row[j] != 0.0:
                    largest[j] = max(math.frexp(row[j])[1] - 1, -126)
            for p in range(start, stop):
                power = powers_a[i, p]
                for j in range(n):
                    largest[j] = max(largest[j], power + powers_b[p, j])
            for j in range(n):
                scale[j] = 0.0
                if largest[j] > NOTHING:
                    scale[j] = math.ldexp(1.0, fraction - largest[j])
                kept[j] = np.trunc(row[j] * scale[j])
            for p in range(start, stop):
                factor = a[i, p]
                for j in range(n):
                    kept[j] += np.trunc(factor * b[p, j] * scale[j])
            for j in range(n):
                if not math.isfinite(row[j]) or scale[j] == 0.0:
                    continue
                exact = kept[j] / scale[j]
                power = max(math.frexp(exact)[1] - 1, -126)
                row[j] = math.ldexp(
                    np.trunc(math.ldexp(exact, result - power)), power - result
                )
                if power > 127:
                    row[j] = math.copysign(math.inf, exact)

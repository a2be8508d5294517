"""Sums as tensor cores take them: aligned to the largest exponent, cut, added.

One step adds ``terms`` products and the accumulator. Each is shifted to the largest
exponent among them and cut to ``fraction`` bits behind the point; the sum of what is
left is exact, and is cut to the accumulator's width. A zero has the exponent -126, and
a step in which a NaN, infinity minus infinity or infinity times zero occurs gives the
one NaN that the chips write. All of this is P. Xie et al., *MMA-Sim*, arXiv 2511.10909.

``dot_tiles`` does it for whole tiles: compiled where numba is, in NumPy otherwise and
wherever an operand is not finite.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from stacklib.memory.warp._fast import compiled, fast
from stacklib.quantizers import Format

from ..issue.instructions import Arithmetic

if TYPE_CHECKING:
    from numpy.typing import NDArray

ZERO = -126  # exponent of a zero, whatever the format
LOWEST, HIGHEST = -126, 127  # exponents of FP32's normal numbers
NAN = {"fp32": 0x7FFFFFFF, "fp16": 0x7FFF}  # what a chip writes, of the many there are


def exponents(values: NDArray[Any], form: Format) -> NDArray[Any]:
    """Exponent field of each value; a subnormal number has that of the smallest."""
    least = 1 - form.row.bias if form.row.special != "scale" else -form.row.bias
    found = np.maximum(np.frexp(values)[1] - 1, least)
    return np.where(values == 0, ZERO, found).astype(np.int64)


def cut(values: NDArray[Any], bits: int) -> NDArray[Any]:
    """Values cut towards zero to so many bits behind the point, as FP32 has them."""
    exponent = np.maximum(np.frexp(values)[1] - 1, LOWEST)
    kept = np.ldexp(np.trunc(np.ldexp(values, bits - exponent)), exponent - bits)
    return np.where(exponent > HIGHEST, np.copysign(np.inf, values), kept)


def canonical(values: NDArray[Any]) -> NDArray[Any]:
    """float32 with the NaN of the chips, and no negative zero.

    A NaN of FP16 sums has this pattern in 16 bits; widened, it is another NaN.
    """
    found = (values + 0.0).astype(np.float32)
    found.view(np.uint32)[np.isnan(found)] = NAN["fp32"]
    return found


def narrowed(sums: NDArray[Any], result: int, accumulate: str) -> NDArray[Any]:
    """An exact sum in the width of the accumulator: cut in FP32, rounded in FP16."""
    if accumulate == "fp32":
        return cut(sums, result) + 0.0
    form = Format(accumulate)
    found: NDArray[Any] = form.decode(form.encode(sums)).astype(np.float64) + 0.0
    return found


def add_step(
    products: NDArray[Any],  # (terms, m, n), exact
    powers: NDArray[Any],  # their exponents, those of the factors added
    total: NDArray[Any],  # (m, n)
    rule: Arithmetic,
    accumulate: str = "fp32",
) -> NDArray[Any]:
    """One addition of the hardware for every output."""
    plain = products.sum(axis=0) + total
    sums = Format(accumulate)
    total = np.where(np.isfinite(total), total, 0)
    products = np.where(np.isfinite(products), products, 0)
    largest = np.maximum(powers.max(axis=0), exponents(total, sums))
    shift = rule.fraction - largest
    kept = np.trunc(np.ldexp(products, shift[None])).sum(axis=0)
    kept += np.trunc(np.ldexp(total, shift))
    found = narrowed(np.ldexp(kept, -shift), rule.result, accumulate)
    return np.where(np.isfinite(plain), found, plain)


def dot_tiles(
    a: Any,
    b: Any,
    c: Any,
    rule: Arithmetic,
    *,
    accumulate: str = "fp32",
    right: str = "",
) -> NDArray[Any]:
    """``a @ b + c`` by a rule, in float32, without a look at what the numbers are.

    ``a`` (m, k), ``b`` (k, n) and ``c`` (m, n) must hold numbers of their formats
    (``right`` is that of ``b``, where it is another): ``mma`` checks that, this is for
    the many tiles of a program.
    """
    left, other = (np.ascontiguousarray(x, np.float64) for x in (a, b))
    forms = Format(rule.dtype), Format(right or rule.dtype)
    return dot_scaled(
        left,
        other,
        exponents(left, forms[0]),
        exponents(other, forms[1]),
        c,
        rule,
        accumulate=accumulate,
    )


def dot_scaled(
    a: NDArray[Any],
    b: NDArray[Any],
    powers_a: NDArray[Any],
    powers_b: NDArray[Any],
    c: Any,
    rule: Arithmetic,
    *,
    accumulate: str = "fp32",
) -> NDArray[Any]:
    """The same for numbers whose exponents are told, their scales among them."""
    total = np.array(c, np.float64, order="C")
    finite = all(np.isfinite(x).all() for x in (a, b, total))
    if finite and accumulate == "fp32" and compiled():
        _compiled(a, b, powers_a, powers_b, total, rule)
        return canonical(total)
    with np.errstate(over="ignore", invalid="ignore"):
        for start in range(0, a.shape[1], rule.terms):
            part = slice(start, start + rule.terms)
            products = a[:, part].T[:, :, None] * b[part][:, None, :]
            powers = powers_a[:, part].T[:, :, None] + powers_b[part][:, None, :]
            total = add_step(products, powers, total, rule, accumulate)
        return canonical(total)


def _compiled(
    a: NDArray[Any],
    b: NDArray[Any],
    powers_a: NDArray[Any],
    powers_b: NDArray[Any],
    total: NDArray[Any],
    rule: Arithmetic,
) -> None:
    n = b.shape[1]
    room = np.empty((3, n))
    width = np.array([rule.terms, rule.fraction, rule.result])
    largest = np.empty(n, np.int64)
    fast(_steps)(a, b, powers_a, powers_b, total, width, room, largest)


def _steps(
    a: Any,
    b: Any,
    powers_a: Any,
    powers_b: Any,
    total: Any,
    width: Any,
    room: Any,
    largest: Any,
) -> None:
    """``add_step`` for all steps of finite operands, a row of outputs at a time."""
    terms, fraction, result = width[0], width[1], width[2]
    kept, scale, plain = room[0], room[1], room[2]
    for i in range(a.shape[0]):
        row = total[i]
        for start in range(0, b.shape[0], terms):
            stop = min(start + terms, b.shape[0])
            for j in range(len(row)):
                largest[j] = -126
                if row[j] != 0.0 and math.isfinite(row[j]):
                    largest[j] = max(math.frexp(row[j])[1] - 1, -126)
            for p in range(start, stop):
                power = powers_a[i, p]
                for j in range(len(row)):
                    largest[j] = max(largest[j], power + powers_b[p, j])
            for j in range(len(row)):
                scale[j] = math.ldexp(1.0, fraction - largest[j])
                kept[j] = np.trunc(row[j] * scale[j])
            for p in range(start, stop):
                factor = a[i, p]
                for j in range(len(row)):
                    kept[j] += np.trunc(factor * b[p, j] * scale[j])
            for j in range(len(row)):
                plain[j] = kept[j] / scale[j]
                power = max(math.frexp(plain[j])[1] - 1, -126)
                if not math.isfinite(row[j]):
                    continue
                elif power > 127:
                    row[j] = math.copysign(math.inf, plain[j])
                else:
                    last = math.ldexp(1.0, power - result)
                    row[j] = np.trunc(plain[j] / last) * last

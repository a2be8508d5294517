"""A matrix in few bits times a vector, its weights expanded on the way to the product.

What decode does all day: every weight is read once, packed, and becomes an fp32 number
only inside the loop. The bytes that are read are those of the packed matrix; the
multiplications are as many as before, and the expansion comes on top.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from .quantizing import dequantize

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from .scheme import Quantized

KERNELS = ("int8_channel", "int4_g128")
HALF = 64  # bytes of a group of four bits; a constant, so that its loop is unrolled


@dataclass(frozen=True, eq=False, slots=True)
class Packed:
    """A matrix as ``gemv`` reads it: its codes, two to a byte if they have four bits.

    - ``codes``: int8 (rows, columns), or uint8 (rows, columns / 2), low half first.
    - ``scales``: fp32, (rows,) or (rows, groups).
    """

    source: Quantized
    codes: NDArray[Any]
    scales: NDArray[Any]

    @property
    def nbytes(self) -> int:
        """Bytes that a product reads of it."""
        return int(self.codes.nbytes + self.scales.nbytes)


def packed(q: Quantized) -> Packed:
    """A quantized matrix with its codes as near as its layout has them."""
    if q.scheme not in KERNELS:
        raise ValueError(f"scheme {q.scheme}: gemv reads {' and '.join(KERNELS)}")
    if "order" in q.levels or q.row.block not in (0, 2 * HALF):
        is_ = "columns in an order of their own" * ("order" in q.levels)
        raise ValueError(
            f"{is_ or f'block={q.block}'}: gemv reads groups of {2 * HALF}"
        )
    if len(q.shape) != 2 or q.axis not in (-1, 1):
        raise ValueError(f"shape {q.shape}, axis {q.axis}: a matrix by its rows")
    rows = q.shape[0]
    codes = q.codes.reshape(rows, -1)
    scales = q.scales.astype(np.float32).reshape(rows, -1)
    if q.scheme == "int8_channel":
        return Packed(q, np.ascontiguousarray(codes), scales[:, 0].copy())
    above = (codes + np.int8(8)).view(np.uint8)  # 0 to 15, eight taken off in the loop
    return Packed(q, above[:, 0::2] | above[:, 1::2] << 4, scales)


def gemv(matrix: Packed, x: NDArray[Any]) -> NDArray[Any]:
    """The product with a vector, in fp32."""
    x = np.asarray(x, np.float32)
    if x.shape != matrix.source.shape[1:]:
        raise ValueError(f"x has shape {x.shape}, not {matrix.source.shape[1:]}")
    y: NDArray[Any] = np.empty(len(matrix.codes), np.float32)
    eight = matrix.source.scheme == "int8_channel"
    run = _compiled("eight" if eight else "four")
    if run is None:
        return dequantize(matrix.source) @ x
    if eight:
        run(matrix.codes, matrix.scales, x, y)
        return y
    whole = np.zeros(2 * matrix.codes.shape[1], np.float32)  # the last group is full
    whole[: len(x)] = x
    run(matrix.codes, matrix.scales, whole[0::2].copy(), whole[1::2].copy(), y)
    return y


def _eight(codes: Any, scales: Any, x: Any, y: Any) -> None:
    rows = codes.shape[0]
    done = rows // 4 * 4
    for row in range(0, done, 4):  # four streams from memory, which one core can follow
        a, b, c, d = codes[row], codes[row + 1], codes[row + 2], codes[row + 3]
        first, second, third = np.float32(0), np.float32(0), np.float32(0)
        fourth = np.float32(0)
        for j in range(len(x)):
            first += np.float32(a[j]) * x[j]
            second += np.float32(b[j]) * x[j]
            third += np.float32(c[j]) * x[j]
            fourth += np.float32(d[j]) * x[j]
        y[row] = first * scales[row]
        y[row + 1] = second * scales[row + 1]
        y[row + 2] = third * scales[row + 2]
        y[row + 3] = fourth * scales[row + 3]
    for row in range(done, rows):
        total = np.float32(0)
        for j in range(len(x)):
            total += np.float32(codes[row, j]) * x[j]
        y[row] = total * scales[row]


def _four(codes: Any, scales: Any, even: Any, odd: Any, y: Any) -> None:
    for row in range(codes.shape[0]):
        total = np.float32(0)
        for group in range(scales.shape[1]):
            # views whose places count from zero: the compiler uses vectors
            first, last = group * HALF, (group + 1) * HALF
            both, low, high = codes[row, first:last], even[first:last], odd[first:last]
            part = np.float32(0)
            for j in range(HALF):
                two = np.int32(both[j])
                part += np.float32((two & np.int32(15)) - np.int32(8)) * low[j]
                part += np.float32((two >> np.int32(4)) - np.int32(8)) * high[j]
            total += part * scales[row, group]
        y[row] = total


@cache
def _compiled(name: str) -> Callable[..., None] | None:
    try:
        import numba
    except ImportError:
        return None
    # Sums in any order: a vector of them runs at the rate of the reads.
    made: Callable[..., None] = numba.njit(nogil=True, fastmath=True)(
        {"eight": _eight, "four": _four}[name]
    )
    return made

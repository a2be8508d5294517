"""MX blocks by numba, where it is installed and the array is large enough.

The same arithmetic as in ``blocks`` under the rule ``floor``, a block at a time: its
largest magnitude, its scale, and each code by one addition. Codes and scales are
equal; what is saved is the writing of what stands in between.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from .formats import Format

WORTH = 1 << 22  # numbers; for fewer, compiling takes longer than the work


def _loop(
    x: Any,
    codes: Any,
    scales: Any,
    inverse: Any,
    cut: Any,
    power: Any,
    least: Any,
    limit: Any,
    excess: Any,
    sign: Any,
) -> bool:
    finite = True
    raised = np.int32(cut << np.int32(23))
    many, block = x.shape
    for which in range(many):
        # a view of one row: its places count from zero, so the compiler uses vectors
        row, out = x[which], codes[which]
        bits = row.view(np.int32)
        top = np.int32(0)
        for i in range(block):
            top = max(top, bits[i] & np.int32(0x7FFFFFFF))
        if top >= np.int32(0x7F800000):
            finite = False
            top = np.int32(0)
        scale = max((top >> np.int32(23)) - power, np.int32(0))
        scales[which] = scale
        factor = inverse[scale]
        for i in range(block):
            size = np.int32(min(np.float32(abs(row[i]) * factor).view(np.int32), limit))
            magic = np.int32(max(size & np.int32(0x7F800000), least) + raised)
            added = np.float32(size.view(np.float32) + magic.view(np.float32))
            code = np.int32(added.view(np.int32) - magic + (magic >> cut) - excess)
            out[i] = np.uint8(code | ((bits[i] >> np.int32(31)) & sign))
    return finite


@cache
def _compiled() -> Callable[..., bool] | None:
    try:
        import numba
    except ImportError:
        return None
    made: Callable[..., bool] = numba.njit(nogil=True)(_loop)
    return made


def mx_by_numba(
    form: Format,
    power: int,
    x: NDArray[Any],
    codes: NDArray[Any],
    scales: NDArray[Any],
    inverse: NDArray[Any],
) -> bool | None:
    """Whether all numbers were finite; None where the loop was not run."""
    run = _compiled() if len(x) >= WORTH else None
    if run is None:
        return None
    cut = 23 - form.row.significand
    least = int(np.float32(form.least_normal).view(np.int32))
    limit = int(np.float32(form.largest).view(np.int32))
    excess = ((least >> 23) + cut) << form.row.significand
    numbers = (cut, power, least, limit, excess, 1 << form.bits - 1)
    fixed = [np.int32(number) for number in numbers]
    blocks = len(scales), -1
    return run(x.reshape(blocks), codes.reshape(blocks), scales, inverse, *fixed)

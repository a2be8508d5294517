"""Arrays of real numbers as the codec takes them: NumPy's, ml_dtypes' and torch's.

Numbers in bf16, which NumPy does not have, are held by their bits, as int16.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

TILE = 64  # rows and columns: 16 kB of fp32
BITS = np.dtype(np.int16)
AS_THEY_ARE = {np.dtype(kind) for kind in (np.float32, np.float64, np.float16)}


def real(x: Any, what: str = "an array") -> NDArray[Any]:
    """fp32, fp64 and fp16 as they are, bf16 as int16, all others as fp64."""
    brain = False
    if type(x) is not np.ndarray:
        x, brain = plain(x, what)
    if brain or x.dtype in AS_THEY_ARE:
        return x
    if x.dtype.type.__name__ == "bfloat16":  # ml_dtypes'
        return x.view(BITS)
    if x.dtype.type.__module__ == "ml_dtypes":  # all of them are numbers of fp32
        return x.astype(np.float32)
    if x.dtype.kind not in "fiu":
        raise TypeError(f"{what} of {x.dtype}: real numbers are needed")
    with np.errstate(over="ignore"):
        return x.astype(np.float32 if x.dtype == ">f4" else np.float64)


def doubles(x: Any, what: str) -> NDArray[Any]:
    """Real numbers in fp64, those of bf16 too."""
    found = real(x, what)
    return (single(found, 0) if found.dtype == BITS else found).astype(np.float64)


def plain(x: Any, what: str) -> tuple[NDArray[Any], bool]:
    """What is no array of NumPy as one, and whether it is the bits of bf16."""
    if hasattr(x, "detach"):
        from .tensors_torch import held

        return held(x)
    unmasked(x, what)
    return np.asarray(x), False


def unmasked(x: Any, what: str) -> None:
    """Refuse an array with hidden numbers: what is behind the mask is no number."""
    if np.ma.is_masked(x):
        raise TypeError(f"{what} with masked entries: fill it first, as x.filled(0)")


def single(x: NDArray[Any], mask: int) -> NDArray[np.float32]:
    """Numbers of ``real`` in fp32, where a double was rounded to odd.

    ``mask``: the digits of a double that no rounding needs; they become one that says
    whether there were any, so that the next rounding is the only one. 0: cast.
    """
    if x.dtype == np.int16:
        return (x.astype(np.uint32) << 16).view(np.float32)
    if x.dtype == np.float64 and mask:
        bits = x.view(np.int64)
        x = ((bits | ((bits & mask) + mask)) & ~mask).view(np.float64)
    if x.dtype == np.float32:
        return x
    with np.errstate(over="ignore"):
        found = x.astype(np.float32)
    if mask >> 49:  # without a digit: what fp32 cannot hold is more than zero
        lost = (found == 0) & (x != 0)
        found[lost] = np.copysign(np.float32(2.0**-149), x[lost])
    return found


def in_memory_order(x: NDArray[Any]) -> tuple[NDArray[Any], Sequence[int] | None]:
    """The array with its axes as they lie in memory, and the axes that undo it."""
    if x.flags.c_contiguous:
        return x, None
    if x.flags.f_contiguous:
        return x.T, range(x.ndim)[::-1]
    order = sorted(range(x.ndim), key=lambda axis: -abs(x.strides[axis]))
    back = tuple(order.index(axis) for axis in range(x.ndim))
    return np.ascontiguousarray(x.transpose(order)), back


def rows_in_memory(x: NDArray[Any]) -> NDArray[Any]:
    """The array with its last axis side by side; copied in tiles, if it must be.

    Row by row, each number of a turned matrix would bring a line of the cache of its
    own, and be written before its neighbours are asked for. Of a few rows all lines
    stay at hand.
    """
    near = min(range(x.ndim), key=lambda axis: (abs(x.strides[axis]), -axis))
    if x.flags.c_contiguous or x.size < TILE * TILE or x.shape[near] < TILE:
        return np.ascontiguousarray(x)
    found = np.empty_like(x, order="C", subok=False)
    for start in range(0, x.shape[near], TILE):
        part: list[Any] = [slice(None)] * x.ndim
        part[near] = slice(start, start + TILE)
        for first in range(0, x.shape[-1], TILE) if near < x.ndim - 1 else (0,):
            if near < x.ndim - 1:
                part[-1] = slice(first, first + TILE)
            found[tuple(part)] = x[tuple(part)]
    return found

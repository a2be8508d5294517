"""NF4 and bitsandbytes' fp4: places in a table, and a scale for 64 numbers.

A number is multiplied by the reciprocal of the block's largest magnitude, as
bitsandbytes does; dividing by it instead turns a few codes over. With double
quantization the scales are bytes themselves, less their mean (QLoRA, section 3).
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from .arrays import number_table
from .blocks import table_times
from .formats import table_order

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .scheme import Scheme

CHUNK = 16384
SMALL = np.float32(2.0**-126)
SECOND = 256  # scales that share a scale of their own


def encode(
    row: Scheme, rows: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any], dict[str, NDArray[Any]]]:
    """Codes, scales and other levels of rows whose blocks are full."""
    flat = rows.reshape(-1)
    codes = np.empty(rows.shape, np.uint8)
    size = np.empty((*rows.shape[:-1], rows.shape[-1] // row.block), np.float32)
    _places(row, flat, codes.reshape(-1), size.reshape(-1))
    if row.name != "nf4_dq":
        return codes, size, {}
    mean = size.mean(dtype=np.float32)
    if not np.isfinite(mean):  # the sum was too large, the mean is not
        mean = np.float32(size.mean(dtype=np.float64))
    bytes_, second = _blockwise((size - mean).reshape(-1))
    levels = {"second": second, "mean": np.array(mean, np.float32)}
    return codes, bytes_.reshape(size.shape), levels


def _places(
    row: Scheme, x: NDArray[Any], codes: NDArray[Any], size: NDArray[Any]
) -> None:
    """Count the half ways that each number lies above."""
    order, half = table_order(row.element)
    work: NDArray[Any] = np.empty(CHUNK, np.float32)
    above: NDArray[Any] = np.empty(CHUNK, np.bool_)
    for start in range(0, len(x), CHUNK):
        part = x[start : start + CHUNK]
        n, out = len(part), codes[start : start + CHUNK]
        shaped = np.abs(part, out=work[:n]).reshape(-1, row.block)
        first = start // row.block
        found = np.max(shaped, axis=1, out=size[first : first + len(shaped)])
        np.multiply(part.reshape(-1, row.block), _one_over(found), out=shaped)
        if found.min() < SMALL:
            _divide(part.reshape(-1, row.block), found, shaped)
        out[:] = 0
        for bound in half:
            np.greater(work[:n], np.float32(bound), out=above[:n])
            np.add(out, above[:n].view(np.uint8), out=out)
        if order != tuple(range(16)):
            out[:] = np.array(order, np.uint8)[out]


def _one_over(size: NDArray[Any]) -> NDArray[Any]:
    """Reciprocals as a column; a block that has none keeps its numbers."""
    return (np.float32(1) / np.where(size < SMALL, np.float32(1), size))[:, None]


def _divide(x: NDArray[Any], size: NDArray[Any], out: NDArray[Any]) -> None:
    """Blocks of subnormal numbers: the reciprocal of their largest overflows."""
    low = (size < SMALL) & (size > 0)
    out[low] = x[low] / size[low, None]


@cache
def dynamic_map() -> NDArray[Any]:
    """bitsandbytes' 8-bit map: seven decades, each cut into twice as many as the last.

    Source: Dettmers et al., *8-bit optimizers*, arXiv 2110.02861, section 2.1.
    """
    positive = []
    for decade in range(7):
        count = 2**decade + 1
        place = np.arange(count)
        # PyTorch's linspace: from both ends, each number rounded once
        start = float(np.float32(0.1))
        step = float((np.float32(1) - np.float32(0.1)) / np.float32(count - 1))
        left, right = start + step * place, 1 - step * (count - 1 - place)
        edges = np.where(place < count // 2, left, right).astype(np.float32)
        middle = (edges[:-1] + edges[1:]) / np.float32(2)
        positive += (np.float32(10.0 ** (decade - 6)) * middle).tolist()
    found = [-x for x in positive] + [0.0, *positive, 1.0]
    return np.sort(np.array(found, np.float32))


def _blockwise(x: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    many = -(-len(x) // SECOND)
    filled: NDArray[Any] = np.zeros(many * SECOND, np.float32)
    filled[: len(x)] = x
    shaped = filled.reshape(many, SECOND)
    second = np.abs(shaped).max(1)
    scaled = shaped * _one_over(second)
    _divide(shaped, second, scaled)
    table = dynamic_map()
    half = (table[1:] + table[:-1]) / np.float32(2)
    places = np.searchsorted(half, scaled)
    return places.astype(np.uint8).reshape(-1)[: len(x)], second


def decode(
    row: Scheme,
    codes: NDArray[Any],
    scales: NDArray[Any],
    levels: dict[str, NDArray[Any]],
) -> NDArray[Any]:
    """Numbers of codes and scales."""
    size = scales
    if row.name == "nf4_dq":
        places = dynamic_map()[scales.reshape(-1)]
        second: NDArray[Any] = np.repeat(levels["second"], SECOND)[: places.size]
        with np.errstate(over="ignore"):
            sizes = places * second + levels["mean"]
        size = np.minimum(sizes, np.finfo(np.float32).max).reshape(scales.shape)
    return table_times(number_table(row.element), codes, size)

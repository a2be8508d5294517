"""ggml's K-quants: 256 numbers whose scales are themselves integers of few bits.

Two kinds. With a minimum (Q2_K, Q4_K, Q5_K) a number is ``d * scale * code -
dmin * minimum``; without (Q3_K, Q6_K) it is ``d * scale * code`` and the scale has a
sign. Which code a number gets is the encoder's affair: a scale is tried at several
widths, each time with the best straight line through its codes, by least squares. ggml
weights the squares by the numbers' size; here all count alike.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .integers import _half

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .scheme import Scheme

SUPER = 256  # numbers in a block of blocks
CHUNK = 256 * SUPER  # its arrays stay in the caches, and a call of NumPy is worth it


class Kind(NamedTuple):
    """What a K-quant's integers may be."""

    block: int
    top: int  # largest code, or the lowest one's magnitude
    scale_top: int  # largest scale, or the lowest one's magnitude
    minimum: bool
    widths: tuple[float, ...]  # of the grid that are tried, in codes beyond ``top``


def _widths(low: float, high: float, step: float) -> tuple[float, ...]:
    return tuple(low + step * i for i in range(round((high - low) / step) + 1))


KINDS = {
    "q2_k": Kind(16, 3, 15, True, _widths(-0.5, 1, 0.25)),
    "q4_k": Kind(32, 15, 63, True, _widths(-2, 1, 0.25)),
    "q5_k": Kind(32, 31, 63, True, _widths(-3, 1.5, 0.5)),
    "q3_k": Kind(16, 4, 32, False, _widths(-0.75, 0.75, 0.25)),
    "q6_k": Kind(16, 32, 128, False, _widths(-1.5, 1, 0.5)),
}


def encode(
    row: Scheme, rows: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any], dict[str, NDArray[Any]]]:
    """Codes, scales and other levels of rows that 256 divides."""
    kind = KINDS[row.name]
    flat = rows.reshape(-1)
    # the least that the coarse scale can be: squares of larger numbers overflow
    most = np.float32((kind.top + kind.widths[-1]) * kind.scale_top)
    _half(np.array([flat.max(), -flat.min()]) / most)
    many, per = len(flat) // SUPER, SUPER // kind.block
    signed = np.uint8 if kind.minimum else np.int8
    codes: NDArray[Any] = np.empty(len(flat), signed)
    scales: NDArray[Any] = np.empty((many, per), signed)
    minima: NDArray[Any] = np.zeros((many, per), np.uint8)
    tensor: NDArray[Any] = np.zeros(many, np.float16)
    least: NDArray[Any] = np.zeros(many, np.float16)
    fit = _with_minimum if kind.minimum else _without
    for start in range(0, len(flat), CHUNK):
        part = flat[start : start + CHUNK]
        at = slice(start // SUPER, start // SUPER + len(part) // SUPER)
        # one block in a column: sums over a block are additions of whole rows
        columns = np.ascontiguousarray(part.reshape(-1, kind.block).T)
        found, scales[at], minima[at], tensor[at], least[at] = fit(kind, columns)
        codes[start : start + len(part)] = found.T.reshape(-1)
    leading = rows.shape[:-1]
    levels = {"tensor": tensor.reshape(*leading, -1)}
    if kind.minimum:
        levels["least"] = least.reshape(*leading, -1)
        levels["minimum"] = minima.reshape(*leading, -1)
    return codes.reshape(rows.shape), scales.reshape(*leading, -1), levels


def _over(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    """A quotient, 0 where the divisor is 0 or the quotient too large."""
    found = a / b
    return np.where(np.isfinite(found), found, np.float32(0)).astype(np.float32)


Fitted = tuple[Any, Any, Any, Any, Any]


def _line(kind: Kind, x: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Scale and minimum of each column with the least squared error."""
    low = np.minimum(x.min(0), 0)
    reach = x.max(0) - low
    moved, codes, work = x - low, np.empty_like(x), np.empty_like(x)
    limit = np.full_like(x, kind.top)
    n, sum_x = np.float32(len(x)), x.sum(0)
    best = np.full(x.shape[1], -np.inf, np.float32)
    scale, minimum = reach / np.float32(kind.top), low
    for width in kind.widths:
        wide = np.full_like(reach, kind.top + width)
        np.multiply(moved, _over(wide, reach), out=codes)
        np.rint(codes, out=codes)
        np.minimum(codes, limit, out=codes)
        sum_c = codes.sum(0)
        sum_xc = np.multiply(codes, x, out=work).sum(0)
        sum_cc = np.multiply(codes, codes, out=work).sum(0)
        spread = n * sum_cc - sum_c * sum_c
        slope = _over(n * sum_xc - sum_x * sum_c, spread)
        start = _over(sum_cc * sum_x - sum_c * sum_xc, spread)
        alone = start > 0  # a minimum is subtracted: it cannot lie above zero
        slope = np.where(alone, _over(sum_xc, sum_cc), slope)
        start = np.minimum(start, 0)
        gain = slope * (2 * sum_xc - slope * sum_cc - 2 * start * sum_c)
        gain += start * (2 * sum_x - n * start)
        better = (gain > best) & (slope > 0)
        best = np.where(better, gain, best)
        scale = np.where(better, slope, scale)
        minimum = np.where(better, start, minimum)
    return scale, -minimum


def _with_minimum(kind: Kind, x: NDArray[Any]) -> Fitted:
    scale, minimum = _line(kind, x)
    per = SUPER // kind.block
    shaped = scale.reshape(-1, per), minimum.reshape(-1, per)
    (tensor, scales), (least, minima) = (_coarse(kind, part) for part in shaped)
    step = (tensor.astype(np.float32)[:, None] * scales).reshape(-1)
    base = (least.astype(np.float32)[:, None] * minima).reshape(-1)
    codes = np.rint((x + base) * _over(np.ones_like(step), step))
    np.minimum(np.maximum(codes, 0, out=codes), kind.top, out=codes)
    return codes, scales, minima, tensor, least


def _coarse(kind: Kind, parts: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """One fp16 number for eight or sixteen scales, and their integers."""
    tensor = _half(parts.max(1) / np.float32(kind.scale_top))
    whole = np.rint(parts * _over(np.ones_like(parts), tensor[:, None]))
    return tensor, np.clip(whole, 0, kind.scale_top)


def _without(kind: Kind, x: NDArray[Any]) -> Fitted:
    at = np.abs(x).argmax(0)
    largest = x[at, np.arange(x.shape[1])]
    codes, work = np.empty_like(x), np.empty_like(x)
    upper, lower = np.full_like(x, kind.top - 1), np.full_like(x, -kind.top)
    best = np.zeros(x.shape[1], np.float32)
    scale = np.zeros(x.shape[1], np.float32)
    for width in kind.widths:
        wide = np.full_like(largest, -(kind.top + width))
        np.multiply(x, _over(wide, largest), out=codes)
        np.rint(codes, out=codes)
        np.minimum(codes, upper, out=codes)
        np.maximum(codes, lower, out=codes)
        sum_xc = np.multiply(codes, x, out=work).sum(0)
        sum_cc = np.multiply(codes, codes, out=work).sum(0)
        slope = _over(sum_xc, sum_cc)
        better = slope * sum_xc > best
        best = np.where(better, slope * sum_xc, best)
        scale = np.where(better, slope, scale)
    shaped = scale.reshape(-1, SUPER // kind.block)
    first = np.take_along_axis(shaped, np.abs(shaped).argmax(1)[:, None], 1)[:, 0]
    tensor = _half(first / np.float32(-kind.scale_top))
    whole = np.rint(shaped * _over(np.ones_like(shaped), tensor[:, None]))
    scales = np.clip(whole, -kind.scale_top, kind.scale_top - 1)
    step = (tensor.astype(np.float32)[:, None] * scales).reshape(-1)
    codes = np.rint(x * _over(np.ones_like(step), step))
    np.minimum(np.maximum(codes, lower, out=codes), upper, out=codes)
    return codes, scales, 0, tensor, 0


def decode(
    row: Scheme,
    codes: NDArray[Any],
    scales: NDArray[Any],
    levels: dict[str, NDArray[Any]],
) -> NDArray[Any]:
    """Numbers of codes and scales."""
    kind = KINDS[row.name]
    per = SUPER // kind.block
    step = _steps(levels["tensor"], scales, per)
    found = np.empty(codes.shape, np.float32)
    flat, out = codes.reshape(-1, kind.block), found.reshape(-1, kind.block)
    base = _steps(levels["least"], levels["minimum"], per) if kind.minimum else step
    many = CHUNK // kind.block
    for start in range(0, len(flat), many):
        part = slice(start, start + many)
        np.multiply(flat[part], step[part, None], out=out[part])
        if kind.minimum:
            np.subtract(out[part], base[part, None], out=out[part])
    return found


def _steps(tensor: NDArray[Any], whole: NDArray[Any], per: int) -> NDArray[Any]:
    """One fp16 number times its integers, a number for each block."""
    wide = tensor.astype(np.float32).reshape(-1, 1)
    found: NDArray[Any] = (wide * whole.reshape(-1, per)).reshape(-1)
    return found.astype(np.float32)

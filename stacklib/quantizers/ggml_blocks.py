"""ggml's blocks of 32 numbers with fp16 scales: Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, IQ4_NL.

The scale is rounded to fp16 only when it is stored; codes are found with the exact one.
A signed scale sends the number of largest magnitude to the lowest code, which has no
partner at the other end.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from .integers import _half

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .scheme import Scheme

CHUNK = 1 << 15
# the places of IQ4_NL, in units of its scale (ggml-common.h, kvalues_iq4nl)
IQ4_NL = (-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113)
TRIES = 7  # scales on each side of the first (ggml-quants.c, quantize_iq4_nl)


def encode(
    row: Scheme, rows: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any], dict[str, NDArray[Any]]]:
    """Codes, scales and other levels of rows whose blocks are full."""
    blocks = rows.reshape(-1, row.block)
    codes = np.empty(blocks.shape, np.int8 if row.name == "q8_0" else np.uint8)
    scales: NDArray[Any] = np.empty(len(blocks), np.float32)
    least: NDArray[Any] = np.empty(len(blocks), np.float32)
    step = CHUNK // row.block
    fit = {"q8_0": _symmetric, "iq4_nl": _from_table}.get(
        row.name, _from_least if row.name.endswith("_1") else _signed
    )
    for start in range(0, len(blocks), step):
        part = slice(start, start + step)
        codes[part], scales[part], least[part] = fit(row, blocks[part])
    shape = (*rows.shape[:-1], -1)
    levels = {}
    if row.name.endswith("_1"):
        levels["minimum"] = _half(least).reshape(shape)
    return codes.reshape(rows.shape), _half(scales).reshape(shape), levels


Fit = tuple[Any, Any, Any]


def _reciprocal(scales: NDArray[Any]) -> NDArray[Any]:
    """One over each scale, 0 where it is 0 or too small to have one."""
    found = np.float32(1) / scales
    return np.where(np.isfinite(found), found, np.float32(0))


def _signed(row: Scheme, x: NDArray[Any]) -> Fit:
    """From -8 to 7 (or -16 to 15): the largest magnitude becomes the lowest code."""
    half = 1 << row.code_bits - 1
    place = np.abs(x).argmax(1)[:, None]
    scales = np.take_along_axis(x, place, 1) / np.float32(-half)
    codes = x * _reciprocal(scales) + np.float32(half + 0.5)
    codes = np.minimum(np.trunc(codes), 2 * half - 1)
    return codes, scales[:, 0], 0


def _from_least(row: Scheme, x: NDArray[Any]) -> Fit:
    """From the least number up."""
    top = (1 << row.code_bits) - 1
    low = x.min(1, keepdims=True)
    scales = (x.max(1, keepdims=True) - low) / np.float32(top)
    codes = np.trunc((x - low) * _reciprocal(scales) + np.float32(0.5))
    return np.minimum(codes, top), scales[:, 0], low[:, 0]


def _symmetric(row: Scheme, x: NDArray[Any]) -> Fit:
    """From -127 to 127; half way goes away from zero."""
    scales = np.abs(x).max(1, keepdims=True) / np.float32(127)
    scaled = x * _reciprocal(scales)
    size = np.abs(scaled)
    whole = np.floor(size)
    whole += size - whole >= np.float32(0.5)
    return np.copysign(whole, scaled), scales[:, 0], 0


@cache
def _nearest() -> NDArray[Any]:
    """Place of the nearest number of IQ4_NL for each half unit from -128 on."""
    places = np.array(IQ4_NL, np.float32)
    half = (places[1:] + places[:-1]) / 2  # all of them whole or half units
    return np.searchsorted(half, np.arange(512) / 2 - 128, side="right").astype(
        np.uint8
    )


def _placed(scaled: NDArray[Any]) -> NDArray[Any]:
    # a scale moved down sends a number a little beyond the ends
    inside = np.clip(scaled * np.float32(2) + np.float32(256), 0, 511)
    return _nearest()[inside.astype(np.int16)]


def _from_table(row: Scheme, x: NDArray[Any]) -> Fit:
    """The scale with the least squared error among fifteen."""
    places = np.array(IQ4_NL, np.float32)
    at = np.abs(x).argmax(1)[:, None]
    largest = np.take_along_axis(x, at, 1)
    best: NDArray[Any] = np.full(len(x), -1, np.float32)
    found: NDArray[Any] = np.zeros(len(x), np.float32)
    inverse = _reciprocal(largest)  # times the ends of the table it must be a number
    inverse[np.abs(inverse) > np.float32(2.0**120)] = 0
    for shift in range(-TRIES, TRIES + 1):
        scaled = x * (np.float32(shift + IQ4_NL[0]) * inverse)
        numbers = places[_placed(scaled)]
        with_x = (numbers * x).sum(1)
        alone = (numbers * numbers).sum(1)
        scales = np.divide(with_x, alone, out=np.zeros_like(found), where=alone > 0)
        better = scales * with_x > best
        best = np.where(better, scales * with_x, best)
        found = np.where(better, scales, found)
    stored = _half(found).astype(np.float32)[:, None]
    return _placed(x * _reciprocal(stored)), found, 0


def decode(
    row: Scheme,
    codes: NDArray[Any],
    scales: NDArray[Any],
    levels: dict[str, NDArray[Any]],
) -> NDArray[Any]:
    """Numbers of codes and scales."""
    if row.name == "iq4_nl":
        whole = np.array(IQ4_NL, np.float32)[codes]
    else:
        whole = codes.astype(np.float32)
    if row.name in ("q4_0", "q5_0"):
        whole -= np.float32(1 << row.code_bits - 1)
    found = whole.reshape(*scales.shape, row.block)
    found = found * scales.astype(np.float32)[..., None]
    if "minimum" in levels:
        found += levels["minimum"].astype(np.float32)[..., None]
    return found.reshape(codes.shape)

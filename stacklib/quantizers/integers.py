"""Integers with one scale a tensor, a row or a group, and FP8 in tiles.

A symmetric scale sends the largest magnitude to the end of the grid. Four bits end at
-8 and at 7: the scale is the magnitude over 7.5, and what lies behind the end is
clipped, as torchao does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .formats import Format
from .inputs import real, single

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .scheme import Scheme

CANDIDATES = 20  # of AWQ's search for a clipping range (auto_clip.py)
TINY = np.float32(2.0**-149)


class ScaleError(ValueError):
    """A scale is more than fp16 holds."""


def encode(
    row: Scheme,
    rows: NDArray[Any],
    clip: str | None = None,
    scale: Any = None,
    draw: Any = None,
) -> tuple[NDArray[Any], NDArray[Any], dict[str, NDArray[Any]]]:
    """Codes, scales and other levels of rows; ``draw``: of stochastic rounding."""
    if row.family == "tile":
        return _tiles(row, rows, scale, draw)
    groups = _grouped(row, rows)
    codes, scales, zero = _fit(row, groups, np.float32(1), scale, draw)
    if clip:
        best = _error(row, groups, codes, scales, zero)
        for i in range(1, CANDIDATES):
            share = np.float32(1 - i / (2 * CANDIDATES))
            found = _fit(row, groups, share, None, draw)
            error = _error(row, groups, *found)
            better = error < best
            best = np.where(better, error, best)
            codes = np.where(better, found[0], codes)
            scales = np.where(better, found[1], scales)
            zero = np.where(better, found[2], zero)
    levels = {"zero": zero.squeeze(-1).astype(np.uint8)} if _asymmetric(row) else {}
    kind = np.uint8 if levels else np.int8
    return codes.astype(kind).reshape(rows.shape), scales.squeeze(-1), levels


def _asymmetric(row: Scheme) -> bool:
    return row.name.endswith("asym")


def _grouped(row: Scheme, rows: NDArray[Any]) -> NDArray[Any]:
    """Numbers that share a scale on the last axis."""
    if row.name == "int8_tensor":
        return rows.reshape(1, -1)
    return rows.reshape(*rows.shape[:-1], -1, row.block or rows.shape[-1])


def whole(x: NDArray[Any], draw: Any) -> NDArray[Any]:
    """Whole numbers next to ``x``: the nearest, or one that is right in the mean."""
    if draw is None:
        return np.rint(x)
    low = np.floor(x)
    found: NDArray[Any] = low + (draw.random(x.shape) < x - low)
    return found


def given_scale(scale: Any, shape: tuple[int, ...]) -> NDArray[np.float32]:
    """Scales that the caller knows, one for all or one for each block."""
    found = single(real(scale, "scale"), 0)
    if not (np.isfinite(found) & (found > 0)).all():
        raise ValueError(f"scale={scale!r}: numbers of fp32 above zero are needed")
    if found.shape not in ((), shape):
        raise ValueError(
            f"a scale of shape {found.shape}: one number is needed, or shape {shape}"
        )
    return np.broadcast_to(found, shape)


def _fit(
    row: Scheme, groups: NDArray[Any], share: np.float32, scale: Any, draw: Any
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Codes, scales and zero points of groups whose range is shrunk."""
    if _asymmetric(row):
        low = np.minimum(groups.min(-1, keepdims=True), 0) * share
        high = np.maximum(groups.max(-1, keepdims=True), 0) * share
        scales = _half((high - low) / np.float32(15))
        divide = np.where(scales == 0, 1, scales).astype(np.float32)
        zero = np.clip(np.rint(-low / divide), 0, 15)
        return np.clip(whole(groups / divide, draw) + zero, 0, 15), scales, zero
    size = np.abs(groups).max(-1, keepdims=True) * share
    ends = (-8, 7) if row.code_bits == 4 else (-127, 127)
    if scale is not None:
        scales = given_scale(scale, size.shape[:-1])[..., None]
        scales = _half(scales) if row.code_bits == 4 else scales
    elif row.code_bits == 4:
        scales = _half(size / np.float32(7.5))
    else:
        scales = _scales(size, np.float32(127))
    divide = np.where(scales == 0, 1, scales).astype(np.float32)
    codes = np.clip(whole(groups / divide, draw), *ends)
    return codes, scales, np.zeros_like(scales)


def _scales(size: NDArray[Any], top: np.float32) -> NDArray[np.float32]:
    """Scales in fp32 that send a magnitude to the grid's end and back into fp32."""
    found = np.where(size > 0, np.maximum(size / top, TINY), np.float32(0))
    return np.where(np.isinf(found * top), np.nextafter(found, np.float32(0)), found)


def _half(scales: NDArray[Any]) -> NDArray[Any]:
    """Scales as they are stored, in fp16."""
    found = scales.astype(np.float16)
    if not np.isfinite(found).all():
        worst = float(np.abs(scales).max())
        raise ScaleError(f"a scale of {worst:.4g} is more than fp16 holds (65504)")
    return found


def _error(row: Scheme, groups: NDArray[Any], *found: NDArray[Any]) -> NDArray[Any]:
    error: NDArray[Any] = np.square(_back(row, *found) - groups)
    return error.sum(-1, keepdims=True)


def _back(
    row: Scheme, codes: NDArray[Any], scales: NDArray[Any], zero: NDArray[Any]
) -> NDArray[Any]:
    whole = codes.astype(np.float32)
    if _asymmetric(row):
        whole -= zero.astype(np.float32)
    return whole * scales.astype(np.float32)


def _tiles(
    row: Scheme, rows: NDArray[Any], scale: Any, draw: Any
) -> tuple[NDArray[Any], NDArray[Any], dict[str, NDArray[Any]]]:
    """FP8 with a scale in fp32 for each tile."""
    form = Format(row.element)
    tiles = _tiled(row, rows)
    axes = (-3, -1) if row.name == "fp8_128x128" else (-1,)
    size = np.abs(tiles).max(axes, keepdims=True)
    scales = _scales(size, np.float32(form.largest))
    if scale is not None:
        scales = np.expand_dims(given_scale(scale, scales.squeeze(axes).shape), axes)
    scaled = tiles / np.where(scales == 0, np.float32(1), scales)
    rounding = "nearest" if draw is None else "stochastic"
    codes = form.encode(scaled, True, rounding, draw).reshape(rows.shape)
    return codes, scales.squeeze(axes), {}


def _tiled(row: Scheme, rows: NDArray[Any]) -> NDArray[Any]:
    if row.name == "fp8_128x128":
        many, down, right = rows.shape
        return rows.reshape(many, down // 128, 128, right // 128, 128)
    return rows.reshape(*rows.shape[:-1], -1, row.block)


def by_tile(x: NDArray[Any], shape: tuple[int, ...] = ()) -> NDArray[Any]:
    """Rows in tiles of 128 by 128 as a row for each tile; with a shape: back to it."""
    many, down, right = shape or x.shape
    parts = many, down // 128, 128, right // 128, 128
    if shape:
        return (
            x.reshape([parts[n] for n in (0, 1, 3, 2, 4)]).swapaxes(2, 3).reshape(shape)
        )
    return x.reshape(parts).swapaxes(2, 3).reshape(-1, 128 * 128)


def decode(
    row: Scheme,
    codes: NDArray[Any],
    scales: NDArray[Any],
    levels: dict[str, NDArray[Any]],
) -> NDArray[Any]:
    """Numbers of codes and scales."""
    if row.family == "tile":
        axes = (-3, -1) if row.name == "fp8_128x128" else (-1,)
        numbers = _tiled(row, Format(row.element).decode(codes))
        found = numbers * np.expand_dims(scales, axes)
        return found.reshape(codes.shape)
    groups = _grouped(row, codes)
    zero = levels.get("zero", np.zeros_like(scales))
    return _back(row, groups, scales[..., None], zero[..., None]).reshape(codes.shape)

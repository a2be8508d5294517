"""Integers with one scale a tensor, a row or a group, and FP8 in tiles.

A symmetric scale sends the largest magnitude to the end of the grid. Four bits end at
-8 and at 7: the scale is the magnitude over 7.5, and what lies behind the end is
clipped, as torchao does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .formats import Format

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .scheme import Scheme

CANDIDATES = 20  # of AWQ's search for a clipping range (auto_clip.py)
TINY = np.float32(2.0**-149)


def encode(
    row: Scheme, rows: NDArray[Any], clip: str | None = None
) -> tuple[NDArray[Any], NDArray[Any], dict[str, NDArray[Any]]]:
    """Codes, scales and other levels of rows."""
    if row.family == "tile":
        return _tiles(row, rows)
    groups = _grouped(row, rows)
    codes, scales, zero = _fit(row, groups, np.float32(1))
    if clip:
        best = _error(row, groups, codes, scales, zero)
        for i in range(1, CANDIDATES):
            share = np.float32(1 - i / (2 * CANDIDATES))
            found = _fit(row, groups, share)
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


def _fit(
    row: Scheme, groups: NDArray[Any], share: np.float32
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Codes, scales and zero points of groups whose range is shrunk."""
    if _asymmetric(row):
        low = np.minimum(groups.min(-1, keepdims=True), 0) * share
        high = np.maximum(groups.max(-1, keepdims=True), 0) * share
        scales = _half((high - low) / np.float32(15))
        divide = np.where(scales == 0, 1, scales).astype(np.float32)
        zero = np.clip(np.rint(-low / divide), 0, 15)
        return np.clip(np.rint(groups / divide) + zero, 0, 15), scales, zero
    size = np.abs(groups).max(-1, keepdims=True) * share
    if row.code_bits == 4:
        scales = _half(size / np.float32(7.5))
        ends = (-8, 7)
    else:
        scales = np.where(size > 0, np.maximum(size / np.float32(127), TINY), 0)
        scales, ends = scales.astype(np.float32), (-127, 127)
    divide = np.where(scales == 0, 1, scales).astype(np.float32)
    codes = np.clip(np.rint(groups / divide), *ends)
    return codes, scales, np.zeros_like(scales)


def _half(scales: NDArray[Any]) -> NDArray[Any]:
    """Scales as they are stored, in fp16."""
    with np.errstate(over="ignore"):
        found = scales.astype(np.float16)
    if not np.isfinite(found).all():
        worst = float(scales.max())
        raise ValueError(
            f"a scale of {worst:.4g} is more than fp16 holds (65504); "
            "divide the array before quantizing"
        )
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
    row: Scheme, rows: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any], dict[str, NDArray[Any]]]:
    """FP8 with a scale in fp32 for each tile."""
    form = Format(row.element)
    tiles = _tiled(row, rows)
    axes = (-3, -1) if row.name == "fp8_128x128" else (-1,)
    size = np.abs(tiles).max(axes, keepdims=True)
    scales = np.where(size > 0, np.maximum(size / np.float32(form.largest), TINY), 0)
    scales = scales.astype(np.float32)
    scaled = tiles / np.where(scales == 0, np.float32(1), scales)
    codes = form.encode(scaled, saturate=True).reshape(rows.shape)
    return codes, scales.squeeze(axes), {}


def _tiled(row: Scheme, rows: NDArray[Any]) -> NDArray[Any]:
    if row.name == "fp8_128x128":
        many, down, right = rows.shape
        return rows.reshape(many, down // 128, 128, right // 128, 128)
    return rows.reshape(*rows.shape[:-1], -1, 128)


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

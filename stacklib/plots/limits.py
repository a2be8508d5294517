"""Specs that take the roofline apart: its two lines, its levels, every ridge."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from stacklib import hardware, roofline
from stacklib.quantity import Quantity
from stacklib.roofline.bound.cache_aware import Level

from .rooflines import SPAN, roofline_spec

FIRST, LAST = 2014, 2027  # years drawn
REACH = 3000.0  # FLOP/B, right of every ridge of every level


def two_lines_spec(device: str, dtype: str, *, title: str) -> dict[str, Any]:
    """The two limits of a device, each as a line of its own, before the lower counts.

    Parameters
    ----------
    device, dtype : str
        Name of the device; number format of its peak.
    title : str
        A sentence saying what the figure shows.

    Raises
    ------
    UnknownName, UnknownSpec
        For an unknown device, or one without a rate for ``dtype``.
    """
    chip = hardware.get(device)
    peak, bandwidth = chip.peak(dtype).si, chip.memory_bandwidth.si
    slope = [x * bandwidth / 1e12 for x in SPAN]
    common = {"kind": "line", "evidence": "predicted", "x": list(SPAN)}
    spec = roofline_spec([], title=title)
    spec["marks"] = [
        {**common, "name": "what the wires feed", "y": slope, "series": 0},
        {**common, "name": "what the units do", "y": [peak / 1e12] * 2, "series": 1},
    ]
    return spec


def levels_spec(
    levels: Sequence[Level], peak: Quantity, *, device: str, dtype: str, title: str
) -> dict[str, Any]:
    """A cache-aware roofline: one slope for each level, under one flat roof.

    Parameters
    ----------
    levels : sequence of Level
        Nearest first.
    peak : Quantity
        Operations a second.
    device, dtype : str
        Key of the device and number format, for the guard.
    title : str
        A sentence saying what the figure shows.
    """
    spec = roofline_spec([], title=title)
    for i, level in enumerate(levels):
        ridge = level.ridge(peak).si
        xs = [SPAN[0], *([ridge] if SPAN[0] < ridge < REACH else []), REACH]
        rates = (roofline.attainable(x, peak.si, level.bandwidth.si) for x in xs)
        spec["marks"].append(
            {"kind": "line", "evidence": "predicted", "name": level.name, "x": xs,
             "y": [r / 1e12 for r in rates], "series": i, "device": device,
             "dtype": dtype, "level": level.name,
             "this_machine": device == hardware.THIS_MACHINE,
             "label_at": "none"}
        )  # fmt: skip
        spec["marks"].append(
            {"kind": "vline", "evidence": "predicted", "x": [ridge],
             "y": [peak.si / 1e12], "series": i,
             "name": f"{level.name} {level.ridge(peak).text().split()[0]}"}
        )  # fmt: skip
    return spec


def ridges_spec(
    rows: Iterable[tuple[str, Sequence[tuple[hardware.Accelerator, Quantity]]]],
    *,
    claimed: tuple[float, float],
    title: str,
) -> dict[str, Any]:
    """Ridges of many devices by year, one row of dots a format, and a claimed range.

    Parameters
    ----------
    rows : iterable of tuple
        A format, and the devices with their ridges.
    claimed : pair of float
        Range someone claims, FLOP/B.
    title : str
        A sentence saying what the figure shows.
    """
    marks: list[dict[str, Any]] = [
        {
            "kind": "band",
            "evidence": "claimed",
            "name": "claimed",
            "y": list(claimed),
            "series": 5,
        }
    ]
    for i, (dtype, found) in enumerate(rows):
        marks.append(
            {"kind": "dots", "evidence": "predicted", "name": dtype, "series": i,
             "x": [d.year - FIRST for d, _ in found], "y": [q.si for _, q in found]}
        )  # fmt: skip
    return {
        "title": title,
        "x": {
            "label": f"Years after {FIRST}",
            "scale": "linear",
            "limits": [0, LAST - FIRST],
        },
        "y": {"label": "Dense ridge (FLOP/B)", "scale": "log", "unit": "FLOP/B"},
        "marks": marks,
        "readouts": [],
        "message": None,
    }


__all__ = ["levels_spec", "ridges_spec", "two_lines_spec"]

"""A chip drawn to the scale of its counts: units in clusters, one unit opened."""

from __future__ import annotations

from typing import Any

from stacklib import gpu
from stacklib.gpu.issue.occupancy import PARTITIONS, REGISTERS, limits_of

__all__ = ["chip_spec", "unit_spec"]

GAP = 0.7  # between clusters, and between partitions
ACROSS = 8  # cells side by side in a partition
FAINT = 0.16
WORD, PIECE = 4, 4096  # bytes of a register, of memory drawn as one cell
At = tuple[float, float]


def _cells(name: str, at: list[At], series: int, **more: Any) -> dict[str, Any]:
    return {"kind": "cells", "evidence": "predicted", "name": name, "series": series,
            "x": [x for x, _ in at], "y": [y for _, y in at], **more}  # fmt: skip


def chip_spec(device: str, *, title: str) -> dict[str, Any]:
    """Spec of a chip's units: a column a GPC, a row a TPC, a cell a unit.

    Parameters
    ----------
    device : str
        A device whose die is known.
    title : str
        Sentence that says what is seen.
    """
    on: list[At] = []
    off: list[At] = []
    plan = gpu.floor_plan(device)
    wide = len(plan[0][0]) + GAP
    for column, gpc in enumerate(plan):
        for row, tpc in enumerate(gpc):
            for i, alive in enumerate(tpc):
                (on if alive else off).append((column * wide + i, row))
    marks = [_cells("on", on, 0)]
    if off:
        marks.append(_cells("switched off", off, 5, shades=[FAINT] * len(off)))
    return {
        "title": title,
        "x": {"label": f"{len(plan)} clusters (GPC), two units (SM) side by side in "
                       "each", "ticks": [],
              "limits": [-0.6, len(plan) * wide - GAP - 0.4]},
        "y": {"label": "Pairs of units (TPC)", "ticks": [],
              "limits": [len(plan[0]) - 0.4, -0.6]},
        "marks": marks,
    }  # fmt: skip


def _block(count: int, column: float, top: float) -> list[At]:
    return [(column + i % ACROSS, top + i // ACROSS) for i in range(count)]


def unit_spec(device: str, *, title: str) -> dict[str, Any]:
    """Spec of one unit: a column a partition, a cell a lane, a core, or 4 KiB.

    Parameters
    ----------
    device : str
        A device whose parts are known.
    title : str
        Sentence that says what is seen.
    """
    rows: list[tuple[str, int, int]] = [
        (name, int(gpu.part_count(device, part).si) // PARTITIONS, series)
        for name, part, series in (
            ("FP32 lane", "fp32_lanes", 0),
            ("INT32 lane", "int32_lanes", 2),
            ("special function", "special_lanes", 3),
            ("tensor core", "tensor_cores", 4),
        )
    ]
    rows.append(("4 KiB of registers", REGISTERS * WORD // PIECE // PARTITIONS, 1))
    marks, top = [], 0.0
    for name, count, series in rows:
        columns = [p * (ACROSS + GAP) for p in range(PARTITIONS)]
        at = [cell for column in columns for cell in _block(count, column, top)]
        marks.append(_cells(name, at, series))
        top += -(-count // ACROSS) + GAP
    shared = limits_of(device).l1_bytes // PIECE
    wide = ACROSS * PARTITIONS
    stretch = (PARTITIONS * (ACROSS + GAP) - GAP - 1) / (wide - 1)
    at = [(i % wide * stretch, top + i // wide) for i in range(shared)]
    marks.append(_cells("4 KiB of L1 and shared memory", at, 5, shades=[0.5] * shared))
    return {
        "title": title,
        "x": {"label": "Four partitions, side by side", "ticks": [],
              "limits": [-0.6, PARTITIONS * (ACROSS + GAP) - GAP - 0.4]},
        "y": {"label": "One unit (SM), a cell for each", "ticks": [],
              "limits": [top + shared // wide - 0.4, -0.6]},
        "marks": marks,
    }  # fmt: skip

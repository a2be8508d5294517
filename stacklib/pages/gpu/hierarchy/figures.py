"""A chip drawn to the scale of its counts: units in clusters, one unit opened."""

from __future__ import annotations

from stacklib import gpu
from stacklib.gpu.chip.chips import floor_plan
from stacklib.gpu.issue.occupancy import REGISTERS, limits_of, partitions_of
from stacklib.plots.marks import FAINT, Spec, across, axis, cells, chart, down

GAP = 0.7  # between clusters, and between partitions
ACROSS = 8  # cells side by side in a partition
WORD, PIECE = 4, 4096  # bytes of a register, of memory drawn as one cell
PARTS = {
    "FP32 lane": ("fp32_lanes", 0),
    "INT32 lane": ("int32_lanes", 2),
    "special function": ("special_lanes", 3),
    "tensor core": ("tensor_cores", 4),
}
At = tuple[float, float]


def chip_spec(device: str, *, title: str) -> Spec:
    """A chip's units: a column a GPC, a row a TPC, a cell a unit."""
    found: dict[bool, list[At]] = {True: [], False: []}
    plan = floor_plan(device)
    wide = len(plan[0][0]) + GAP
    for column, gpc in enumerate(plan):
        for row, tpc in enumerate(gpc):
            for i, alive in enumerate(tpc):
                found[bool(alive)].append((column * wide + i, row))
    words = f"{len(plan)} clusters (GPC), two units (SM) side by side in each"
    return chart(
        title,
        x=axis(words, ticks=(), limits=across(len(plan) * wide - GAP)),
        y=axis("Pairs of units (TPC)", ticks=(), limits=down(len(plan[0]))),
        marks=[
            cells(found[True], "on", "predicted", series=0),
            cells(found[False], "switched off", "predicted", shade=FAINT, series=5),
        ],
    )


def unit_spec(device: str, *, title: str) -> Spec:
    """One unit: a column a partition, a cell a lane, a core, or 4 KiB."""
    parts = partitions_of(device)
    rows = [
        (name, int(gpu.part_count(device, part).si) // parts, series)
        for name, (part, series) in PARTS.items()
    ]
    rows.insert(0, ("warp scheduler", 1, 5))  # what makes a partition one
    rows.append(("4 KiB of registers", REGISTERS * WORD // PIECE // parts, 1))
    marks, top = [], 0.0
    for name, count, series in rows:
        columns = [p * (ACROSS + GAP) for p in range(parts)]
        block = [(i % ACROSS, top + i // ACROSS) for i in range(count)]
        at = [(column + x, y) for column in columns for x, y in block]
        marks.append(cells(at, name, "predicted", series=series))
        top += -(-count // ACROSS) + GAP
    shared = limits_of(device).l1_bytes // PIECE
    wide = ACROSS * parts
    right = parts * (ACROSS + GAP) - GAP
    stretch = (right - 1) / (wide - 1)
    at = [(i % wide * stretch, top + i // wide) for i in range(shared)]
    name = "4 KiB of L1 and shared memory"
    deep = down(top + shared // wide)
    return chart(
        title,
        x=axis("Four partitions, side by side", ticks=(), limits=across(right)),
        y=axis("One unit (SM), a cell for each", ticks=(), limits=deep),
        marks=[*marks, cells(at, name, "predicted", shade=0.5, series=5)],
    )

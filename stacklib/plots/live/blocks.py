"""Blocks dealt to a chip, live: the lanes of a last warp, the units of a last wave."""

from __future__ import annotations

from typing import Any

from stacklib import gpu, hardware
from stacklib.gpu.issue.occupancy import MOST_THREADS, WARP
from stacklib.quantity import Quantity

from ..spec import readout
from . import choices

DEVICES = ("a100_sxm_80gb", "h100_sxm", "b200_sxm", "rtx_4090")
THREADS = tuple(range(1, MOST_THREADS + 1))
BLOCKS = (1, 8, 32, 64, 100, 107, 108, 109, 128, 131, 132, 133, 147, 148, 149, 200,
          264, 265, 500, 1000, 1056, 1057, 1184, 1185, 2000, 5000, 10000)  # fmt: skip
REGISTERS = 32  # a thread; more registers, fewer blocks a unit
BELOW = 2.0  # rows from the warp's lanes to the units


def controls() -> list[dict[str, Any]]:
    """Menu and sliders of ``explore``."""
    named = [[key, hardware.get(key).short] for key in DEVICES]
    return [
        choices.select("device", "Device", named, "h100_sxm"),
        choices.slider("threads", "Threads a block", THREADS, 1000),
        choices.slider("blocks", "Blocks in the grid", BLOCKS, 265),
    ]


def explore(*, device: str, threads: int, blocks: int) -> dict[str, Any]:
    """Spec of what a launch fills: lanes of a last warp, units in the last wave.

    Parameters
    ----------
    device : str
        Key of the device.
    threads, blocks : int
        Of a block; of the grid.

    Returns
    -------
    dict
        A figure spec.
    """
    chip = hardware.get(device)
    units = int(chip.compute_units.si)
    held = gpu.occupancy(threads=threads, registers=REGISTERS, device=chip)
    found = gpu.fill(threads=threads, blocks=blocks, units=units, at_once=held.blocks)
    used = WARP - found.idle_lanes
    last = [0] * units
    for number in range(found.last_blocks):
        last[number % units] += 1
    spots = [(i % WARP, BELOW + i // WARP) for i in range(units)]
    busy = [i for i in range(units) if last[i]]
    idle = [i for i in range(units) if not last[i]]
    marks = [
        _cells("lane with a thread", [(i, 0.0) for i in range(used)], 3, None),
        _cells("lane without", [(i, 0.0) for i in range(used, WARP)], 5, 0.16),
        _cells("unit with blocks", [spots[i] for i in busy], 0, None),
        _cells("unit without", [spots[i] for i in idle], 4, 0.16),
    ]
    rows = -(-units // WARP)
    return {
        "title": _title(found, units, chip.short),
        "x": {"label": f"Lanes of a block's last warp; {units} units, last wave",
              "ticks": [], "limits": [-0.6, WARP - 0.4]},
        "y": {"label": "Above: one warp. Below: the whole chip", "ticks": [],
              "limits": [BELOW + rows - 0.4, -0.6]},
        "marks": [mark for mark in marks if mark["x"]],
        "readouts": [
            readout("warps", "Warps a block", _count(found.warps, "warps")),
            readout("lanes", "Lanes without a thread",
                    _count(found.idle_lanes, "idle lanes")),
            readout("resident", "Blocks a unit", _count(held.blocks, "blocks")),
            readout("waves", "Waves", _count(found.waves, "waves")),
            readout("idle", "Units idle in the last wave",
                    _count(found.idle_units, "idle units")),
            readout("share", "Places used over all waves",
                    _count(found.share, "share"), "share", unit="%"),
        ],
        "message": None,
        "about": {"device": device},
    }  # fmt: skip


def _cells(
    name: str, at: list[tuple[int, float]], series: int, shade: float | None
) -> dict[str, Any]:
    look = {} if shade is None else {"shades": [shade] * len(at)}
    return {"kind": "cells", "evidence": "simulated", "name": name, "series": series,
            "x": [x for x, _ in at], "y": [y for _, y in at], **look}  # fmt: skip


def _count(value: float, label: str) -> Quantity:
    return Quantity(value, label=label, kind="assumption")


def _title(found: gpu.Filling, units: int, name: str) -> str:
    wave = "1 wave" if found.waves == 1 else f"{found.waves} waves"
    if not found.idle_units:
        return f"{wave} on {name}; in the last, every unit has work."
    return f"{wave} on {name}; in the last, {found.idle_units} of {units} units idle."

"""A tile on a device, live: what it moves, what it holds, whether that fits.

Intensity grows with the tile until shared memory or the store for sums has no room
for more. The roofs it has to reach are the ridges of the device.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from stacklib import hardware, roofline
from stacklib.memory import TiledMatmul, fit_tile
from stacklib.memory.tile.fit import TileFit, tile_store
from stacklib.plots.live import choices
from stacklib.plots.spec import readout
from stacklib.quantity import Quantity
from stacklib.roofline.bound.cache_aware import levels_of

N = 8192  # rows and columns of the product
SIDES = (16, 32, 64, 96, 128, 160, 192, 224, 256, 320, 384, 448, 512)
STEPS = (16, 32, 64, 128)
STAGES = (1, 2, 3, 4, 5, 6)


@cache
def _devices() -> list[list[str]]:
    """GPUs whose shared memory, registers and caches are known."""
    found = []
    for key, name in choices.devices():
        try:
            device = hardware.get(key)
            tile_store(device), levels_of(device), device.peak("bf16")
        except LookupError:
            continue
        found.append([key, name])
    return found


def controls() -> list[dict[str, Any]]:
    """Menu and sliders of ``explore``."""
    return [
        choices.select("device", "Device", _devices(), "h100_sxm"),
        choices.slider("tile_m", "Rows of a block", SIDES, 128),
        choices.slider("tile_n", "Columns of a block", SIDES, 256),
        choices.slider("tile_k", "Steps of the sum held", STEPS, 64),
        choices.slider("stages", "Stages", STAGES, 2),
    ]


def explore(
    *, device: str, tile_m: int, tile_n: int, tile_k: int, stages: int
) -> dict[str, Any]:
    """Spec of intensity against columns of a block, bf16.

    Parameters
    ----------
    device : str
        Key of the device.
    tile_m, tile_n, tile_k, stages : int
        The tile, and how many steps of it are held.

    Returns
    -------
    dict
        A figure spec; a tile that does not fit gets a message and no rate.
    """
    chip = hardware.get(device)
    line = [fit_tile(chip, tile_m, n, tile_k, stages=stages) for n in SIDES]
    fits = [t for t in line if t.fits]
    mine = fit_tile(chip, tile_m, tile_n, tile_k, stages=stages)
    marks: list[dict[str, Any]] = []
    for name, evidence, part in (
        ("fits", "predicted", fits),
        ("does not fit", "impossible", [t for t in line if not t.fits]),
    ):
        if part:
            marks.append(
                {"kind": "line" if len(part) > 1 else "dots", "evidence": evidence,
                 "name": name, "x": [t.tile_n for t in part],
                 "y": [t.intensity.si for t in part]}
            )  # fmt: skip
    peak = chip.peak("bf16")
    for level in levels_of(chip)[1:]:
        marks.append({"kind": "hline", "evidence": "predicted",
                      "name": f"ridge of {level.name}",
                      "y": [level.ridge(peak).si]})  # fmt: skip
    if mine.fits:
        marks.append({"kind": "dots", "evidence": "predicted", "name": "your tile",
                      "x": [tile_n], "y": [mine.intensity.si], "series": 4,
                      "this_machine": False, "label_at": "none"})  # fmt: skip
    return {
        "title": _title(mine, chip.short),
        "x": {"label": "Columns of a block", "scale": "log",
              "limits": [SIDES[0], SIDES[-1]]},
        "y": {"label": "Intensity (FLOP/B)", "scale": "log", "limits": [5, 1000]},
        "marks": marks,
        "readouts": _readouts(mine, chip, tile_k),
        "message": f"Does not fit: {mine.why}." if mine.why else None,
        "about": {"device": device},
    }  # fmt: skip


def _title(tile: TileFit, name: str) -> str:
    size = f"{tile.tile_m} x {tile.tile_n}"
    if tile.why:
        return f"A block of {size} does not fit a unit of {name}."
    return f"A block of {size} fits a unit of {name}."


def _readouts(tile: TileFit, chip: Any, tile_k: int) -> list[dict[str, Any]]:
    held = [
        readout("staged", "Operands staged", tile.staged, unit="KiB"),
        readout("sums", f"Sums, in {tile.store.where}", tile.sums, unit="KiB"),
    ]
    if tile.why:
        return held
    plan = TiledMatmul(N, N, N, tile.tile_m, tile.tile_n, tile_k)
    moved = Quantity(
        plan.numbers_moved * plan.width, "B", label="bytes moved", kind="assumption"
    )
    below = tile.intensity.si < roofline.ridge(chip, "bf16").si
    words = "Intensity, below the ridge" if below else "Intensity, past the ridge"
    return [
        *held,
        readout("moved", f"Moved for {N} cubed", moved, unit="GB"),
        readout("intensity", words, tile.intensity),
    ]

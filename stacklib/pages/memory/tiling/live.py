"""A tile on a device, live: what it moves, what it holds, whether that fits.

Intensity grows with the tile until shared memory or the store for sums has no room
for more. The roofs it has to reach are the ridges of the device.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from stacklib import hardware, roofline
from stacklib.hardware import Accelerator
from stacklib.memory import TiledMatmul
from stacklib.memory.tile.fit import TileFit, fit_tile, tile_store
from stacklib.plots.live import choices
from stacklib.plots.live.parts import counted, here
from stacklib.plots.marks import Mark, Spec, axis, band, chart, dots, line, rule
from stacklib.plots.spec import readout
from stacklib.roofline.bound.cache_aware import slopes_of

N = 8192  # rows and columns of the product
SIDES = (16, 32, 64, 96, 128, 160, 192, 224, 256, 320, 384, 448, 512)
STEPS = (16, 32, 64, 128)
STAGES = (1, 2, 3, 4, 5, 6)


def _needs(device: Accelerator) -> object:
    """Shared memory, registers and caches of a GPU."""
    return tile_store(device), slopes_of(device, "bf16")


def controls() -> list[dict[str, Any]]:
    """Menu and sliders of ``explore``."""
    return [
        choices.select("device", "Device", choices.knowing(_needs), "h100_sxm"),
        choices.slider("tile_m", "Rows of a block", SIDES, 128),
        choices.slider("tile_n", "Columns of a block", SIDES, 256),
        choices.slider("tile_k", "Steps of the sum held", STEPS, 64),
        choices.slider("stages", "Stages", STAGES, 2),
    ]


def explore(*, device: str, tile_m: int, tile_n: int, tile_k: int, stages: int) -> Spec:
    """Intensity against columns of a block, bf16; ``stages`` steps are held.

    A tile that does not fit gets a message and no rate.
    """
    chip = hardware.get(device)

    def fit(columns: int) -> TileFit:
        return fit_tile(chip, tile_m, columns, tile_k, stages=stages)

    mine, peak = fit(tile_n), chip.peak_at_clock("bf16")
    levels = slopes_of(chip, "bf16")[1:]
    ridges = [(level.name, level.ridge(peak).si) for level in levels]
    rules = [rule(f"ridge of {name}", "predicted", y=y) for name, y in ridges]
    ring = [here(tile_n, mine.intensity.si, "your tile")] if mine.fits else []
    return chart(
        _title(mine, chip.short),
        x=axis("Columns of a block", log=True, limits=[SIDES[0], SIDES[-1]]),
        y=axis("Intensity (FLOP/B)", log=True, limits=[5, 1000]),
        marks=[*_curves([fit(n) for n in SIDES]), *rules, *ring],
        readouts=_readouts(mine, chip, tile_k),
        message=f"Does not fit: {mine.why}." if mine.why else None,
        about={"device": device},
    )


def _curves(tiles: list[TileFit]) -> Iterator[Mark]:
    """A line over what fits, a band over what does not."""
    fit = [(t.tile_n, t.intensity.si) for t in tiles if t.fits]
    if fit:
        x, y = zip(*fit, strict=True)
        yield (line if len(fit) > 1 else dots)(x, y, "fits", "predicted")
    if bad := [t.tile_n for t in tiles if not t.fits]:
        first = fit[-1][0] if fit else bad[0]
        yield band("does not fit", "impossible", x=[first, SIDES[-1]])


def _title(tile: TileFit, name: str) -> str:
    size = f"{tile.tile_m} x {tile.tile_n}"
    if tile.why:
        return f"A block of {size} does not fit a unit of {name}."
    return f"A block of {size} fits a unit of {name}."


def _readouts(tile: TileFit, chip: Accelerator, tile_k: int) -> list[dict[str, Any]]:
    held = [
        readout("staged", "Operands staged", tile.staged, unit="KiB"),
        readout("sums", f"Sums, in {tile.store.where}", tile.sums, unit="KiB"),
    ]
    if tile.why:
        return held
    plan = TiledMatmul(N, N, N, tile.tile_m, tile.tile_n, tile_k)
    moved = counted(plan.numbers_moved * plan.width, "bytes moved", "B")
    below = tile.intensity.si < roofline.ridge(chip, "bf16").si
    words = "Intensity, below the ridge" if below else "Intensity, past the ridge"
    return [
        *held,
        readout("moved", f"Moved for {N} cubed", moved, unit="GB"),
        readout("intensity", words, tile.intensity),
    ]

"""Blocks dealt to a chip, live: the SMs of a last wave."""

from __future__ import annotations

from typing import Any

from stacklib import gpu, hardware
from stacklib.gpu.chip.placement import Filling
from stacklib.gpu.issue.occupancy import MOST_THREADS, WARP
from stacklib.plots.live import choices
from stacklib.plots.live.parts import counted
from stacklib.plots.marks import FAINT, Mark, Spec, across, axis, cells, chart, down
from stacklib.plots.spec import readout

DEVICES = ("a100_sxm_80gb", "h100_sxm", "b200_sxm", "rtx_4090")
THREADS = range(1, MOST_THREADS + 1)
BLOCKS = (
    *(1, 8, 32, 64, 100, 107, 108, 109, 128, 131, 132, 133, 147, 148, 149, 200),
    *(264, 265, 500, 1000, 1056, 1057, 1184, 1185, 2000, 5000, 10000),
)
PER_THREAD = 32  # registers of a thread; with more, fewer blocks per SM


def controls() -> list[dict[str, Any]]:
    """Menu and sliders of ``explore``."""
    return [
        choices.select("device", "Device", choices.short(DEVICES), "h100_sxm"),
        choices.slider("threads", "Threads per block", THREADS, 1000),
        choices.slider("blocks", "Blocks in the grid", BLOCKS, 265),
    ]


def explore(*, device: str, threads: int, blocks: int) -> Spec:
    """What a launch fills: SMs in the last wave, and lanes of a last warp."""
    chip = hardware.get(device)
    units = int(chip.compute_units.si)
    held = gpu.occupancy(threads=threads, registers=PER_THREAD, device=chip)
    found = gpu.fill(threads=threads, blocks=blocks, units=units, at_once=held.blocks)
    words = f"{units} SMs of {chip.short}, {WARP} per row"
    return chart(
        _title(found, units, chip.short),
        x=axis(words, ticks=(), limits=across(WARP)),
        y=axis("The last wave", ticks=(), limits=down(-(-units // WARP))),
        marks=_marks(found, units),
        readouts=_readouts(found, held.blocks),
        about={"device": device},
    )


def _marks(found: Filling, units: int) -> list[Mark]:
    spots = [(i % WARP, i // WARP) for i in range(units)]
    busy = {number % units for number in range(found.last_blocks)}
    on, off = (
        [s for i, s in enumerate(spots) if (i in busy) is b] for b in (True, False)
    )
    kind = "simulated"
    return [
        cells(on, "SM with blocks", kind, series=0),
        cells(off, "SM without", kind, shade=FAINT, series=4),
    ]


def _readouts(found: Filling, resident: int) -> list[dict[str, Any]]:
    idle, share = counted(found.idle_units, "idle SMs"), counted(found.share, "share")
    lanes = counted(found.idle_lanes, "idle lanes")
    return [
        readout("warps", "Warps per block", counted(found.warps, "warps")),
        readout("lanes", "Lanes without a thread", lanes),
        readout("resident", "Blocks per SM", counted(resident, "blocks")),
        readout("waves", "Waves", counted(found.waves, "waves")),
        readout("idle", "SMs idle in the last wave", idle),
        readout("share", "Places used over all waves", share, "share", unit="%"),
    ]


def _title(found: Filling, units: int, name: str) -> str:
    wave = "1 wave" if found.waves == 1 else f"{found.waves} waves"
    if not found.idle_units:
        return f"{wave} on {name}; in the last, every SM has work."
    return f"{wave} on {name}; in the last, {found.idle_units} of {units} SMs idle."

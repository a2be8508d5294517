"""Occupancy, live: what a kernel asks for, how many warps fit, and what they hide."""

from __future__ import annotations

from typing import Any

from stacklib import hardware
from stacklib.gpu.issue.hiding import Hidden, hide
from stacklib.plots.live import choices
from stacklib.plots.live.parts import counted, here
from stacklib.plots.marks import About, Spec, axis, chart, line
from stacklib.plots.spec import readout

DEVICES = ("a100_sxm_80gb", "h100_sxm", "b200_sxm")
THREADS = (32, 64, 96, 128, 192, 256, 384, 512, 768, 1024)
REGISTERS = (*range(16, 256, 8), 255)
STEPS = range(16, 257, 8)  # a warp gets its registers in steps of eight a thread
SHARED = (0, 4, 8, 16, 24, 32, 48, 64, 96, 113, 128, 160, 192, 227)
LOADS = (1, 2, 4, 8, 16)
WORD = 4


def controls() -> list[dict[str, Any]]:
    """Menu and sliders of ``explore``."""
    return [
        choices.select("device", "Device", choices.short(DEVICES), "h100_sxm"),
        choices.slider("threads", "Threads a block", THREADS, 256),
        choices.slider("registers", "Registers a thread", REGISTERS, 64),
        choices.slider("shared", "Shared memory a block (KiB)", SHARED, 16),
        choices.slider("loads", "Loads in flight a thread, 4 bytes each", LOADS, 1),
    ]


def explore(
    *, device: str, threads: int, registers: int, shared: int, loads: int
) -> Spec:
    """The share of the bandwidth that a kernel draws, against registers a thread.

    A block has ``shared`` KiB, a thread ``loads`` independent loads of 4 bytes.
    """

    def at(count: int) -> Hidden:
        size, each = shared * 1024, WORD * loads
        return hide(
            threads=threads,
            registers=count,
            shared_bytes=size,
            each=each,
            device=device,
        )

    found = at(registers)
    sweep = [at(min(step, 255)) for step in STEPS for _ in range(2)]
    x = [x for step in STEPS for x in (step - 7, step)]
    drawn = [100 * h.share.si for h in sweep]
    filled = [100 * h.occupancy.occupancy for h in sweep]
    mine = About(device=device)
    return chart(
        _title(found, device),
        x=axis("Registers a thread", limits=[0, 260]),
        y=axis("Share of all (%)", limits=[0, 105]),
        marks=[
            line(x, drawn, "bandwidth", "predicted", **mine),
            line(x, filled, "occupancy", "predicted", series=3, **mine),
            here(registers, 100 * found.share.si, "this kernel", **mine),
        ],
        readouts=_readouts(found),
        message=found.occupancy.reason or None,
        about=mine,
    )


def _readouts(found: Hidden) -> list[dict[str, Any]]:
    held = found.occupancy
    filled = counted(held.occupancy, "occupancy")
    return [
        readout("blocks", "Blocks on a unit", counted(held.blocks, "blocks")),
        readout("warps", "Warps on a unit", counted(held.warps, "warps")),
        readout("occupancy", "Occupancy", filled, "share", unit="%"),
        readout("share", "Share of the bandwidth", found.share, "share", unit="%"),
    ]


def _title(found: Hidden, device: str) -> str:
    held = found.occupancy
    if not held.blocks:
        return "Not one such block fits on a unit."
    name = hardware.get(device).short
    return (
        f"{held.warps} warps, limited by {held.limiter}: {found.share:.3 %} of the "
        f"bandwidth of {name}."
    )

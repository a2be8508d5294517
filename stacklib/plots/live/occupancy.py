"""Occupancy, live: what a kernel asks for, how many warps fit, and what they hide."""

from __future__ import annotations

from typing import Any

from stacklib import hardware
from stacklib.gpu.issue.hiding import Hidden, hide
from stacklib.quantity import Quantity

from ..spec import readout
from . import choices

DEVICES = ("a100_sxm_80gb", "h100_sxm", "b200_sxm")
THREADS = (32, 64, 96, 128, 192, 256, 384, 512, 768, 1024)
REGISTERS = (*range(16, 256, 8), 255)
STEPS = range(16, 257, 8)  # a warp gets its registers in steps of eight a thread
SHARED = (0, 4, 8, 16, 24, 32, 48, 64, 96, 113, 128, 160, 192, 227)
LOADS = (1, 2, 4, 8, 16)
WORD = 4


def controls() -> list[dict[str, Any]]:
    """Menu and sliders of ``explore``."""
    named = [[key, hardware.get(key).short] for key in DEVICES]
    return [
        choices.select("device", "Device", named, "h100_sxm"),
        choices.slider("threads", "Threads a block", THREADS, 256),
        choices.slider("registers", "Registers a thread", REGISTERS, 64),
        choices.slider("shared", "Shared memory a block (KiB)", SHARED, 16),
        choices.slider("loads", "Loads in flight a thread, 4 bytes each", LOADS, 1),
    ]


def explore(
    *, device: str, threads: int, registers: int, shared: int, loads: int
) -> dict[str, Any]:
    """Spec of the share of the bandwidth against registers a thread.

    Parameters
    ----------
    device : str
        Key of the device.
    threads, registers, shared : int
        Of a block, a thread, a block in KiB.
    loads : int
        Independent loads of 4 bytes a thread has in flight.

    Returns
    -------
    dict
        A figure spec.
    """

    def at(count: int) -> Hidden:
        return hide(threads=threads, registers=count, shared_bytes=shared * 1024,
                    each=WORD * loads, device=device)  # fmt: skip

    found = at(registers)
    sweep = [at(min(step, 255)) for step in STEPS for _ in range(2)]
    across = [x for step in STEPS for x in (step - 7, step)]
    mine = {"device": device}
    marks = [
        {"kind": "line", "evidence": "predicted", "name": "bandwidth drawn",
         "x": across, "y": [100 * h.share.si for h in sweep], **mine,
         "label_at": "none"},
        {"kind": "line", "evidence": "predicted", "name": "occupancy", "series": 5,
         "x": across, "y": [100 * h.occupancy.occupancy for h in sweep],
         "label_at": "none", **mine},
        {"kind": "dots", "evidence": "predicted", "name": "this kernel",
         "x": [registers], "y": [100 * found.share.si], "series": 4,
         "this_machine": False, "label_at": "none", **mine},
    ]  # fmt: skip
    held = found.occupancy
    return {
        "title": _title(found, device),
        "x": {"label": "Registers a thread", "limits": [0, 260]},
        "y": {"label": "Bandwidth drawn; grey: occupancy (%)", "limits": [0, 105]},
        "marks": marks,
        "readouts": [
            readout("blocks", "Blocks on a unit", _count(held.blocks, "blocks")),
            readout("warps", "Warps on a unit", _count(held.warps, "warps")),
            readout("occupancy", "Occupancy", _count(held.occupancy, "occupancy"),
                    "share", unit="%"),
            readout("share", "Share of the bandwidth", found.share, "share", unit="%"),
        ],
        "message": held.reason or None,
        "about": mine,
    }  # fmt: skip


def _count(value: float, label: str) -> Quantity:
    return Quantity(value, label=label, kind="assumption")


def _title(found: Hidden, device: str) -> str:
    held = found.occupancy
    if not held.blocks:
        return "Not one such block fits on a unit."
    name = hardware.get(device).short
    return (
        f"{held.warps} warps, limited by {held.limiter}: {found.share:.3 %} of the "
        f"bandwidth of {name}."
    )

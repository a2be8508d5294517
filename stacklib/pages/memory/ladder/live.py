"""The memory ladder, live: a device, a working set, and the level that answers.

One thread chases pointers through the working set. The line is the closed form of
``memory.chase_model``; the readouts add what one unit, and all of them, could draw from
the level that answers most of the loads.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from stacklib import hardware
from stacklib.memory.cache.chase_model import gpu_levels, latency, served
from stacklib.memory.ladder.rungs import Rung, ladder
from stacklib.memory.warp.coalescing import LINE
from stacklib.plots.live import choices
from stacklib.plots.live.parts import counted, here
from stacklib.plots.marks import About, Spec, axis, chart, line, rule, sizes
from stacklib.plots.spec import readout
from stacklib.quantity import one_of

KIB = tuple(2**i for i in range(2, 23))  # 4 KiB to 4 GiB
SIZES = tuple(4096 * 2 ** (i // 4) * (4 + i % 4) // 4 for i in range(81))
WORDS = "latency of a load"
# A level of the chase, in the words of the ladder.
RUNGS = {
    "L1": "shared memory",
    "L2": "L2",
    "near L2": "L2",
    "far L2": "L2",
    "memory": "memory",
}


def controls() -> list[dict[str, Any]]:
    """Menu and slider of ``explore``: GPUs whose levels and clock are known."""
    ends = KIB[0], KIB[-1]
    known = choices.knowing(
        lambda device: [explore(device=device.key, kib=size) for size in ends]
    )
    return [
        choices.select("device", "Device", known, "h100_sxm"),
        choices.slider("kib", "Working set (KiB)", KIB, 128),
    ]


def explore(*, device: str, kib: int) -> Spec:
    """Latency of one thread's loads by working set, on an NVIDIA GPU."""
    chip, levels = hardware.get(device), gpu_levels(device)
    size = kib * 1024
    shares = served(size, levels)
    answering = levels[max(range(len(shares)), key=shares.__getitem__)].name
    cycles = counted(latency(size, levels), "mean latency", "cycle")
    mine = About(device=device, level=answering)
    ruled = {level.name: level.size for level in levels if level.size}
    unit = "cycle"
    return chart(
        f"{answering} of {chip.short} answers after {cycles:.3 cycle}.",
        x=sizes("Working set", SIZES[0], SIZES[-1]),
        y=axis("Latency of a load (cycles)", log=True, unit=unit, limits=[15, 1800]),
        marks=[
            line(SIZES, _curve(device), WORDS, "predicted", at="none", **mine),
            *(rule(name, "predicted", x=x, **mine) for name, x in ruled.items()),
            here(size, cycles.si, "working set chosen", **mine),
        ],
        readouts=[
            readout("level", "Answers most", answering),
            readout("cycles", "Latency in cycles", cycles / one_of("cycle")),
            readout("time", "In time", cycles / chip.clock, unit="ns"),
            *_drawn(_rung(device, RUNGS[answering])),
        ],
        about=mine,
    )


def _drawn(rung: Rung) -> list[dict[str, Any]]:
    """What one unit and all of them draw from a rung, where it is known."""
    one, every = rung.unit_bandwidth, rung.chip_bandwidth
    if one is None or every is None:
        return []
    unit = readout("unit", "One unit draws", one, unit="GB/s")
    return [unit, readout("chip", "All units draw", every, unit="TB/s")]


@cache
def _curve(device: str) -> tuple[float, ...]:
    levels = gpu_levels(device)
    return tuple(latency(s // LINE * LINE, levels) for s in SIZES)


def _rung(device: str, name: str) -> Rung:
    """The rung of a name; the last level goes by what the memory is made of."""
    rungs = {rung.name: rung for rung in ladder(device)}
    return rungs[name] if name in rungs else rungs["HBM"]

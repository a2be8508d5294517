"""The memory ladder, live: a device, a working set, and the level that answers.

One thread chases pointers through the working set. The line is the closed form of
``memory.chase_model``; the readouts add what one unit, and all of them, could draw from
the level that answers most of the loads.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from stacklib import hardware
from stacklib.memory.cache.chase_model import GPU_LINE, gpu_levels, latency, served
from stacklib.memory.ladder.rungs import Rung, ladder
from stacklib.plots.live import choices
from stacklib.plots.spec import readout
from stacklib.quantity import Quantity

KIB = tuple(2**i for i in range(2, 23))  # 4 KiB to 4 GiB
SIZES = tuple(4096 * 2 ** (i // 4) * (4 + i % 4) // 4 for i in range(81))
ONE = Quantity(1, "cycle", label="one cycle")
# A level of the chase, in the words of the ladder.
RUNGS = {
    "L1": "shared memory",
    "L2": "L2",
    "near L2": "L2",
    "far L2": "L2",
    "memory": "memory",
}


def _devices() -> list[list[str]]:
    """NVIDIA's GPUs whose levels are known, as ``[key, name]``."""
    found = []
    for key, name in choices.devices():
        try:
            gpu_levels(key)
        except hardware.UnknownSpec:
            continue
        found.append([key, name])
    return found


def controls() -> list[dict[str, Any]]:
    """Menu and slider of ``explore``."""
    return [
        choices.select("device", "Device", _devices(), "h100_sxm"),
        choices.slider("kib", "Working set (KiB)", KIB, 128),
    ]


def explore(*, device: str, kib: int) -> dict[str, Any]:
    """Spec of the latency of one thread's loads by working set.

    Parameters
    ----------
    device : str
        Key of an NVIDIA GPU.
    kib : int
        Working set in KiB.

    Returns
    -------
    dict
        A figure spec.
    """
    chip, levels = hardware.get(device), gpu_levels(device)
    size = kib * 1024
    shares = served(size, levels)
    answering = levels[max(range(len(shares)), key=shares.__getitem__)]
    cycles = Quantity(latency(size, levels), "cycle", label="mean latency")
    rung = _rung(device, RUNGS[answering.name])
    mine = {"device": device, "level": answering.name}
    marks: list[dict[str, Any]] = [
        {"kind": "line", "evidence": "predicted", "name": "latency of a load",
         "x": list(SIZES), "y": list(_curve(device)), "label_at": "none", **mine},
        *({"kind": "vline", "evidence": "predicted", "name": level.name,
           "x": [level.size], **mine} for level in levels if level.size),
        {"kind": "dots", "evidence": "predicted", "name": "working set chosen",
         "x": [size], "y": [cycles.si], "series": 4, "this_machine": False,
         "label_at": "none", **mine},
    ]  # fmt: skip
    said = [
        {"name": "level", "label": "Answers most", "text": answering.name},
        readout("cycles", "Latency in cycles", cycles / ONE),
        readout("time", "In time", cycles / chip.clock, unit="ns"),
    ]
    if rung.unit_bandwidth is not None and rung.chip_bandwidth is not None:
        one, every = rung.unit_bandwidth, rung.chip_bandwidth
        said.append(readout("unit", "One unit draws", one, unit="GB/s"))
        said.append(readout("chip", "All units draw", every, unit="TB/s"))
    return {
        "title": f"{answering.name} of {chip.short} answers after {cycles:.3 cycle}s.",
        "x": {"label": "Working set (B)", "scale": "log", "unit": "B",
              "limits": [SIZES[0], SIZES[-1]]},
        "y": {"label": "Latency of a load (cycles)", "scale": "log", "unit": "cycle",
              "limits": [15, 1800]},
        "marks": marks,
        "readouts": said,
        "message": None,
        "about": mine,
    }  # fmt: skip


@cache
def _curve(device: str) -> tuple[float, ...]:
    levels = gpu_levels(device)
    return tuple(latency(s // GPU_LINE * GPU_LINE, levels) for s in SIZES)


def _rung(device: str, name: str) -> Rung:
    """The rung of a name; the last level goes by what the memory is made of."""
    rungs = {rung.name: rung for rung in ladder(device)}
    return rungs[name] if name in rungs else rungs["HBM"]

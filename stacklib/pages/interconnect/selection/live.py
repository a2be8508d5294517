"""Selection, live: what is taken for a size, so many ranks, and a device."""

from __future__ import annotations

from typing import Any

from stacklib import hardware
from stacklib.interconnect.selection.machine import Fabric, fabric
from stacklib.interconnect.selection.select import Choice, select
from stacklib.interconnect.selection.timed import collective_time
from stacklib.plots.live import choices
from stacklib.plots.live.parts import counted, here
from stacklib.plots.marks import Mark, Spec, axis, chart, line, sizes
from stacklib.plots.spec import readout

KIB = tuple(float(4**power) for power in range(11))
SIZES = tuple(1024 * size for size in KIB)
RANKS = (2, 4, 8, 16, 32, 64)
DEVICES = (
    "v100_sxm2_32gb",
    "a100_sxm_80gb",
    "h100_sxm",
    "h800_sxm",
    "b200_sxm",
    "gb200",
    "l40s",
)
PORTS = (100, 200, 400, 800)  # Gbit/s of each GPU
PROTOCOLS = {"ll": "LL", "ll128": "LL128", "simple": "Simple"}
KINDS = {
    "all_reduce": "all-reduce",
    "all_gather": "all-gather",
    "reduce_scatter": "reduce-scatter",
}
NAMES = {
    "ring": "ring",
    "tree": "tree",
    "nvls": "the switches",
    "nvls_tree": "the switches, a tree between",
}


def controls() -> list[dict[str, Any]]:
    """Collective, size, ranks, device, and the port of each GPU to other nodes."""
    return [
        choices.select("kind", "Collective", KINDS, "all_reduce"),
        choices.slider("size", "Array (KiB)", KIB, 16),
        choices.slider("ranks", "GPUs in all", RANKS, 8),
        choices.select("device", "GPU", choices.short(DEVICES), "h100_sxm"),
        choices.slider("port", "Port of a GPU (Gbit/s)", PORTS, 400),
    ]


def quickest(choice: Choice, algorithm: str) -> float | None:
    """The least time of an algorithm over its protocols."""
    times = [
        row.time
        for row in choice.table
        if row.algorithm == algorithm and row.time is not None
    ]
    return min(times, default=None)


def lines(kind: str, on: Fabric) -> list[Mark]:
    """Each algorithm that is in question, by its best protocol."""
    found = [select(kind, size, **on.select()) for size in SIZES]
    marks = []
    for series, (algorithm, name) in enumerate(NAMES.items()):
        times = [quickest(choice, algorithm) for choice in found]
        known = [(s, t * 1e6) for s, t in zip(SIZES, times, strict=True) if t]
        if known:
            x, y = zip(*known, strict=True)
            marks.append(line(x, y, name, "predicted", at="key", series=series))
    return marks


def explore(*, kind: str, size: float, ranks: int, device: str, port: int) -> Spec:
    """Time against size for each algorithm, and what is taken."""
    on = fabric(device, int(ranks), port=port * 1e9 / 8)
    found = collective_time(kind, 1024 * size, on)
    short = hardware.get(device).short
    way = NAMES.get(found.algorithm, found.algorithm)
    if found.algorithm in ("ring", "tree"):
        way = f"the {way} with {PROTOCOLS[found.protocol]}"
    micro = 1e6 * found.time
    waits = 1e6 * (found.alpha + found.fill)
    told = [
        ("time", "Time", counted(micro, "time", "us"), "µs"),
        ("waits", "Of it latency and fill", counted(waits, "latency", "us"), "µs"),
        ("bus", "Bus bandwidth", counted(found.bus / 1e9, "bus", "GB/s"), "GB/s"),
    ]
    return chart(
        f"For this {KINDS[kind]} on {short}, NCCL's model takes {way}.",
        x=sizes("Array", SIZES[0], SIZES[-1]),
        y=axis("Time (µs)", log=True),
        marks=[*lines(kind, on), here(1024 * size, micro, "your call")],
        readouts=[
            *(readout(key, words, q, unit=unit) for key, words, q, unit in told),
            readout("nodes", "Nodes", counted(on.nodes, "nodes")),
        ],
        about={"device": device},
    )

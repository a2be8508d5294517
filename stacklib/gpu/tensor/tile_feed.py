"""Feeding a tensor core: tiles are loaded ahead while earlier ones are multiplied.

A block of a matrix product walks along the shared size in steps. Each step loads a
tile of both operands into a buffer of shared memory and multiplies it. A load keeps the
way to the L2 busy for ``load`` cycles and arrives ``latency`` later; a buffer is free
again when its step has been multiplied. With two buffers this is double buffering,
with more it is the multistage pipeline of CUTLASS (its *Efficient GEMM* page).

``run_feed`` moves every step through that, ``feed_time`` is the same in closed form and
exact. A path from the first load to the last product changes from multiplying back to
loading only where a buffer is handed over, which skips ``buffers`` steps; so the time
is the longest of such paths, and it is linear in the number of hand-overs:

    t(j) = (j + 1) (load + latency + mma) + (steps - 1 - j buffers) max(load, mma)

with j = 0, or as many hand-overs as there is room for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from stacklib import hardware
from stacklib.hardware import Accelerator
from stacklib.quantity import (
    Quantity,
    bytes_per_element,
    ceil,
    chosen,
    maximum,
    stamp,
)
from stacklib.quantity.bounds import above_zero, at_least, whole

from ..chip.slices import cluster_bytes
from .peaks import peak_of

__all__ = [
    "Feed",
    "Step",
    "feed_faults",
    "feed_of",
    "feed_share",
    "feed_time",
    "run_feed",
]

FAMILY = "tile_feed"  # of predictions that nobody has held against kernels yet


@dataclass(frozen=True, slots=True)
class Feed:
    """Cycles of a step, and how many steps can be under way."""

    load: Any  # cycles for which a step's loads keep the way to the L2 busy
    latency: Any  # cycles from then until they have arrived
    mma: Any  # cycles that the tensor cores multiply
    buffers: Any = 2  # steps that have room in shared memory


@dataclass(frozen=True, slots=True)
class Step:
    """What happened to one step, in cycles from the start."""

    load: float  # when its loads began
    there: float  # when they had arrived
    start: float  # when it was multiplied
    end: float


def _checked(feed: Feed, steps: Any) -> None:
    at_least(0, load=feed.load, latency=feed.latency)
    above_zero(mma=feed.mma)
    at_least(1, buffers=feed.buffers, steps=steps)


def _plain(feed: Feed) -> tuple[float, ...]:
    cycles = (feed.load, feed.latency, feed.mma)
    return tuple(float(getattr(c, "si", c)) for c in cycles)


def feed_time(feed: Feed, steps: Any, epilogue: Any = None) -> Any:
    """Cycles of a block: from its first load until its result is written."""
    _checked(feed, steps)
    once = feed.load + feed.latency + feed.mma
    pace = maximum(feed.load, feed.mma)
    handed = ceil(steps / feed.buffers) - 1
    never = once + (steps - 1) * pace
    always = (handed + 1) * once + (steps - 1 - handed * feed.buffers) * pace
    time = maximum(never, always)
    return time if epilogue is None else time + epilogue


def feed_share(feed: Feed, steps: Any, epilogue: Any = None) -> Any:
    """Utilisation: the share of a block's cycles in which its tensor cores multiply."""
    share = steps * feed.mma / feed_time(feed, steps, epilogue)
    return stamp(share, FAMILY) if isinstance(share, Quantity) else share


def run_feed(feed: Feed, steps: int) -> list[Step]:
    """Every step of a block: loaded when there is room, multiplied when it is there.

    ``feed``: cycles of a step; one tile, no arrays.
    """
    _checked(feed, steps)
    load_for, latency, mma = _plain(feed)
    done: list[Step] = []
    way = cores = 0.0  # free from then on
    for at in range(steps):
        room = done[at - feed.buffers].end if at >= feed.buffers else 0.0
        load = max(way, room)
        way = load + load_for
        there = way + latency
        start = max(there, cores)
        cores = start + mma
        done.append(Step(load, there, start, cores))
    return done


def feed_faults(feed: Feed, ran: Sequence[Step]) -> list[str]:
    """What is wrong with a timeline, read from its times alone.

    ``feed``: cycles of a step.
    """
    load_for, latency, mma = _plain(feed)
    faults, near = [], 1e-6
    for at, step in enumerate(ran):
        if step.there < step.load + load_for + latency - near:
            faults.append(f"step {at} arrives before its loads can")
        if step.start < step.there - near:
            faults.append(f"step {at} is multiplied before it is there")
        if step.end < step.start + mma - near:
            faults.append(f"step {at} is multiplied in less than {mma:g} cycles")
        if at and step.load < ran[at - 1].load + load_for - near:
            faults.append(f"step {at} is loaded while step {at - 1} is")
        if at and step.start < ran[at - 1].end - near:
            faults.append(f"step {at} is multiplied while step {at - 1} is")
        old = at - feed.buffers
        if old >= 0 and step.load < ran[old].end - near:
            faults.append(f"step {at} overwrites step {old}, which is still in use")
    return faults


def feed_of(
    on: str | Accelerator,
    *,
    rows: int = 128,
    columns: int = 256,
    depth: int = 64,
    dtype: str = "bf16",
    cluster: tuple[int, int] = (1, 1),
    buffers: int = 2,
) -> Feed:
    """The cycles of a step on a unit of a device, for a tile of a matrix product.

    Loads come from the L2 as fast as one unit was measured to read it. Blocks of a
    cluster share what they load.
    """
    sizes = {"rows": rows, "columns": columns, "depth": depth, "buffers": buffers}
    sizes |= {"cluster[0]": cluster[0], "cluster[1]": cluster[1]}
    whole(**sizes)
    built = peak_of(on, dtype)
    if cluster != (1, 1) and float(built.device.compute_capability or 0) < 9:
        raise ValueError(
            f"cluster = {cluster}: {built.device.short} has none; they came with 9.0"
        )
    # All cycles here are of the clock at which the tensor cores multiply.
    clock = built.device.peak_clock(dtype)
    l2 = hardware.level(built.device, "l2", clock)
    each = bytes_per_element(dtype)
    held = cluster_bytes(rows, columns, depth, width=each) * buffers
    most = hardware.microarchitecture(built.device).size("shared_per_block")
    if held.si > most.si:
        raise ValueError(
            f"{buffers} buffers of {rows} x {columns} x {depth} in {dtype} are "
            f"{held.text('KiB')}; a block may have {most.text('KiB')}"
        )
    drawn = cluster_bytes(rows, columns, depth, *cluster, width=each)
    work = chosen(rows * columns * depth, "MAC", label="MAC of a step")
    loads = (drawn / l2.known("width")).at_clock(clock).named("loads of a step")
    return Feed(
        stamp(loads, FAMILY),
        l2.known("cycles"),
        (work / built.macs).at_clock(clock).named("products of a step"),
        buffers,
    )

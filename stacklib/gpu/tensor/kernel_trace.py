"""What a profiler's timeline says about the tensor cores, and what it does not.

A timeline holds events in the *Trace Event Format* that Chrome, Perfetto and PyTorch's
profiler share: ``ts`` and ``dur`` in microseconds, ``cat`` says what it was. ``busy``
is the share of the time in which at least one kernel ran: the union of the intervals,
which is what ``nvidia-smi`` calls utilization. ``tensor_share`` is the operations done
over those the chip could have done meanwhile.

``run_kernels`` makes such a timeline without a GPU: blocks of the kernels of several
streams are handed to the units one by one. ``recorded`` is one it made, kept as a file
and labelled as simulated.
"""

from __future__ import annotations

import heapq
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stacklib import hardware
from stacklib.quantity import chosen
from stacklib.quantity.bounds import above_zero, is_whole, whole

from .peaks import peak_of
from .tile_feed import feed_of, feed_time

RECORDED = Path(__file__).parent / "data" / "simulated_trace.json"
US = 1e-6
DEVICE, ROWS, COLUMNS, DEPTH = "h100-sxm", 128, 256, 64
Event = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Kernel:
    """A kernel that a host launches, or a copy."""

    name: str
    stream: int  # in which it waits for the one before
    issued: float  # seconds at which the host launches it
    blocks: int  # its blocks; 0 for a copy, which needs no unit
    time: float  # seconds of one block, or of the copy
    flop: float = 0.0  # operations of the tensor cores, of all blocks


def run_kernels(kernels: Sequence[Kernel], units: int) -> list[dict[str, Any]]:
    """Run kernels block by block; a timeline of what ran when.

    Blocks are handed out in the order of launching, a block a unit, so a kernel of
    another stream starts where the last wave of one leaves units free.
    """
    whole(units=units)
    waiting: dict[int, list[Kernel]] = {}
    for one in kernels:
        if not (one.time > 0 and one.issued >= 0 and one.blocks >= 0 and one.flop >= 0):
            raise ValueError(f"{one}: times and counts from 0, the time above it")
        waiting.setdefault(one.stream, []).append(one)
    free, events = [0.0] * units, list[dict[str, Any]]()
    ends = dict.fromkeys(waiting, 0.0)
    while waiting:
        ready, stream = min((max(q[0].issued, ends[s]), s) for s, q in waiting.items())
        one = waiting[stream].pop(0)
        if not waiting[stream]:
            del waiting[stream]
        start, end = _handed(one, ready, free)
        ends[stream] = end
        # In the trace format, microseconds to a thousandth of one.
        events.append(_event(one, start, end))
    return events


def _handed(one: Kernel, ready: float, free: list[float]) -> tuple[float, float]:
    """Start and end of a kernel whose blocks go to the units that are free first."""
    if not one.blocks:
        return ready, ready + one.time
    starts = []
    for _ in range(one.blocks):
        starts.append(max(heapq.heappop(free), ready))
        heapq.heappush(free, starts[-1] + one.time)
    return min(starts), max(starts) + one.time


def _event(one: Kernel, start: float, end: float) -> dict[str, Any]:
    ts = round(start / US, 3)
    return {
        "name": one.name,
        "cat": "kernel" if one.blocks else "gpu_memcpy",
        "ph": "X",
        "pid": 0,
        "tid": one.stream,
        "ts": ts,
        "dur": round(end / US - ts, 3),
        "args": {"blocks": one.blocks, "flop": one.flop},
    }


def _product(name: str, stream: int, issued: float, m: int, n: int, k: int) -> Kernel:
    """A matrix product on an H100, its blocks fed by pairs."""
    feed = feed_of(DEVICE, cluster=(2, 1), buffers=4)
    cycles = feed_time(feed, chosen(k // DEPTH), feed.mma)
    blocks = -(-m // ROWS) * -(-n // COLUMNS)
    seconds = (cycles / peak_of(DEVICE, "bf16").clock).si
    return Kernel(name, stream, issued * US, blocks, seconds, 2.0 * m * n * k)


def sample() -> dict[str, Any]:
    """Simulate the timeline that ``recorded`` keeps.

    The products of one block of Llama-3-8B for a prompt of 2,048 tokens; norms,
    attention (causal) and activation as kernels of assumed length; a copy, and a small
    product of another model on a second stream.
    """
    kernels = [
        Kernel("copy in", 2, 0.0, 0, 40 * US),
        Kernel("norm", 0, 12 * US, 132, 9 * US),
        _product("qkv", 0, 18, 2048, 6144, 4096),
        _product("draft", 1, 100, 512, 4096, 4096),
        Kernel("attention", 0, 24 * US, 132, 60 * US, 2.0 * 2048**2 * 4096),
        _product("projection", 0, 30, 2048, 4096, 4096),
        Kernel("norm", 0, 36 * US, 132, 9 * US),
        _product("gate and up", 0, 420, 2048, 28672, 4096),
        Kernel("silu", 0, 426 * US, 132, 35 * US),
        _product("down", 0, 432, 2048, 4096, 14336),
    ]
    units = int(hardware.get(DEVICE).compute_units.si)
    return {
        "displayTimeUnit": "ms",
        "otherData": {
            "simulated": True,
            "by": "stacklib.gpu.tensor.kernel_trace.sample, not recorded on any GPU",
            "device": DEVICE,
        },
        "traceEvents": run_kernels(kernels, units),
    }


def recorded() -> dict[str, Any]:
    """The timeline kept with the book: a block of a model, simulated on an H100."""
    found: dict[str, Any] = json.loads(RECORDED.read_text(encoding="utf-8"))
    return found


def _spans(events: Iterable[Event], kind: str = "") -> list[tuple[float, float]]:
    """Start and end of every event, in seconds."""
    found = []
    for event in events:
        if event.get("ph") != "X" or (kind and event.get("cat") != kind):
            continue
        for name in ("ts", "dur"):
            value = event.get(name)
            number = isinstance(value, float) or is_whole(value)
            if not number or not float(value or 0) >= 0:
                said = f"{event.get('name')}: {name} = {value!r}"
                raise ValueError(f"{said}: microseconds from 0")
        found.append((event["ts"] * US, (event["ts"] + event["dur"]) * US))
    return found


def window(events: Sequence[Event]) -> float:
    """Seconds from the first start to the last end, copies and all."""
    spans = _spans(events)
    if not spans:
        raise ValueError("no complete event (ph = 'X') in the timeline")
    return max(end for _, end in spans) - min(start for start, _ in spans)


def busy(events: Sequence[Event], kind: str = "kernel") -> float:
    """Share of the window in which at least one event of a kind ran."""
    whole, union, until = window(events), 0.0, 0.0
    for start, end in sorted(_spans(events, kind)):
        union += max(0.0, end - max(start, until))
        until = max(until, end)
    return union / whole


def tensor_share(events: Sequence[Event], peak: float) -> float:
    """Operations of the tensor cores over those that the window had room for."""
    above_zero(peak=peak)
    done = sum(event.get("args", {}).get("flop", 0.0) for event in events)
    return float(done / (window(events) * peak))

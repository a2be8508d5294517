"""What a faster part, or one more worker, buys: Amdahl, Gustafson, their inverses.

The closed forms take floats, quantities or arrays. ``run_chunks`` is the slow way:
it hands pieces of work to workers one by one and reads the clock at the end.

Sources: G. Amdahl, *Validity of the single processor approach to achieving large
scale computing capabilities*, AFIPS 1967; J. Gustafson, *Reevaluating Amdahl's
law*, CACM 31(5), 1988; A. Karp, H. Flatt, *Measuring parallel processor
performance*, CACM 33(5), 1990.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from stacklib.quantity.bounds import whole

INFINITE = math.inf


def amdahl(serial: Any, workers: Any) -> Any:
    """Speed-up of fixed work of which a share cannot be spread.

    ``serial``: share of one worker's time that stays with one worker, 0 to 1.
    """
    _hold("serial share", serial, 0, 1)
    _hold("workers", workers, 1, INFINITE)
    return 1 / (serial + (1 - serial) / workers)


def amdahl_limit(serial: Any) -> Any:
    """Speed-up that no number of workers exceeds: one over the serial share."""
    _hold("serial share", serial, 0, 1)
    if _least(serial) == 0:
        raise ValueError("serial share 0: the speed-up has no limit")
    return 1 / serial


def gustafson(serial: Any, workers: Any) -> Any:
    """How much more work the same time holds, when the work grows with the workers."""
    _hold("serial share", serial, 0, 1)
    _hold("workers", workers, 1, INFINITE)
    return serial + (1 - serial) * workers


def karp_flatt(speed_up: Any, workers: Any) -> Any:
    """Serial share that would explain a measured speed-up.

    Computed at several numbers of workers it tells two diseases apart: a share that
    stays is serial work, one that grows with the workers is overhead.
    """
    _above("speed-up", speed_up, 0)
    _above("workers", workers, 1)
    # Below 0 where the speed-up exceeds the workers: then something else changed.
    return (1 / speed_up - 1 / workers) / (1 - 1 / workers)


def speed_up_of_part(share: Any, gain: Any) -> Any:
    """Speed-up of the whole when one part of it gets faster.

    ``share``: share of the old time that the part took, 0 to 1.
    """
    _hold("share", share, 0, 1)
    _above("gain", gain, 0)
    return 1 / (1 - share + share / gain)


def share_from_speed_up(gain: Any, speed_up: Any) -> Any:
    """Share of the old time that a part must have taken."""
    _above("gain", gain, 1)
    _above("speed-up", speed_up, 0)
    share = (1 - 1 / speed_up) / (1 - 1 / gain)
    if not (_least(share) >= 0 and _ends(share)[1] <= 1):
        raise ValueError(
            f"a part {_words(gain)} times faster cannot make the whole "
            f"{_words(speed_up)} times faster: its share would be {_words(share)}, "
            "which is not between 0 and 1; look for a second cause"
        )
    return share


def gain_from_speed_up(share: Any, speed_up: Any) -> Any:
    """How many times faster a part must become for a speed-up of the whole."""
    _hold("share", share, 0, 1)
    _above("share", share, 0)
    _above("speed-up", speed_up, 0)
    left = 1 / speed_up - (1 - share)
    if not _least(left) > 0:
        raise ValueError(
            f"a part that takes {_words(share)} of the time cannot make the whole "
            f"{_words(speed_up)} times faster, however fast it becomes"
        )
    return share / left


def speed_up_of_parts(times: Sequence[Any], gains: Sequence[Any]) -> Any:
    """Speed-up when several parts get faster, each by its own factor."""
    if not times or len(times) != len(gains):
        raise ValueError(f"{len(times)} times and {len(gains)} gains: one gain a part")
    for i, (time, gain) in enumerate(zip(times, gains, strict=True)):
        if not _least(getattr(time, "si", time)) >= 0:
            raise ValueError(f"time {i} is {_words(time)}: at least 0")
        _above(f"gain {i}", gain, 0)
    total = sum(times)
    if not _least(getattr(total, "si", total)) > 0:
        raise ValueError("the parts take no time at all: nothing can get faster")
    return total / sum(t / g for t, g in zip(times, gains, strict=True))


# -- counted, chunk by chunk ---------------------------------------------------


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of work that one worker does without a break."""

    work: float  # time it takes one worker, in any unit; above 0
    parallel: bool = True  # whether other chunks may run meanwhile

    def __post_init__(self) -> None:
        if not 0 < self.work < math.inf:
            raise ValueError(f"a chunk of work {self.work!r}: give a time above 0")


@dataclass(frozen=True, slots=True)
class Slot:
    """One chunk on one worker, from when to when."""

    chunk: int
    worker: int
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class ChunkRun:
    """What ``run_chunks`` saw."""

    workers: int
    slots: tuple[Slot, ...]  # every chunk, in the order given

    @property
    def time(self) -> float:
        """When the last worker is done."""
        return max((s.end for s in self.slots), default=0.0)

    @property
    def work(self) -> float:
        """What one worker alone would need."""
        return math.fsum(s.end - s.start for s in self.slots)

    @property
    def speed_up(self) -> float:
        """One worker's time over this one."""
        return self.work / self.time

    @property
    def idle(self) -> float:
        """Share of all workers' time in which they wait."""
        return 1 - self.work / (self.time * self.workers)


def run_chunks(chunks: Iterable[Chunk], workers: int) -> ChunkRun:
    """Hand out chunks in order, each to the worker that is free first."""
    whole(workers=workers)
    free = [0.0] * workers
    slots = []
    for i, chunk in enumerate(chunks):
        if not chunk.parallel:
            free = [max(free)] * workers
        worker = min(range(workers), key=free.__getitem__)
        start = free[worker]
        free[worker] = start + chunk.work
        slots.append(Slot(i, worker, start, free[worker]))
        if not chunk.parallel:
            free = [free[worker]] * workers
    if not slots:
        raise ValueError("no chunks: there is nothing to run")
    return ChunkRun(workers, tuple(slots))


def even_chunks(serial: float, work: float, pieces: int) -> list[Chunk]:
    """One serial chunk, and the rest of the work in equal pieces.

    ``serial``: share of the work that is serial, 0 to 1.
    """
    _hold("serial share", serial, 0, 1)
    _above("work", work, 0)
    if pieces < 1:
        raise ValueError(f"pieces={pieces!r}: cut the rest into 1 or more")
    first = [Chunk(serial * work, parallel=False)] if serial else []
    rest = (1 - serial) * work / pieces
    return first + ([Chunk(rest)] * pieces if rest else [])


def verify_chunks(run: ChunkRun, chunks: Sequence[Chunk]) -> None:
    """Hold a run to the rules, whoever made it."""
    by_chunk = sorted(run.slots, key=lambda s: s.chunk)
    if [s.chunk for s in by_chunk] != list(range(len(chunks))):
        raise ValueError("every chunk must run once")
    for a in by_chunk:
        took, asked = a.end - a.start, chunks[a.chunk].work
        if not math.isclose(took, asked, rel_tol=1e-9, abs_tol=1e-9 * run.time):
            raise ValueError(f"chunk {a.chunk} runs for {took:g}")
        for b in by_chunk[a.chunk + 1 :]:
            apart = a.end <= b.start or b.end <= a.start
            if a.worker == b.worker and not apart:
                raise ValueError(f"worker {a.worker} runs {a.chunk} and {b.chunk}")
            alone = not (chunks[a.chunk].parallel and chunks[b.chunk].parallel)
            if alone and not a.end <= b.start:
                raise ValueError(f"chunk {b.chunk} does not wait for chunk {a.chunk}")


# -- inputs ----------------------------------------------------------------------


def _ends(value: Any) -> tuple[float, float]:
    """Least and greatest of a value: a float, a plain quantity or an array."""
    if isinstance(value, (str, bytes, bool)):
        raise ValueError(f"{value!r} is no number")
    if getattr(value, "shape", ()) != ():
        if not value.size:
            raise ValueError("an empty array has no values")
        return float(value.min()), float(value.max())
    return float(value), float(value)


def _least(value: Any) -> float:
    return _ends(value)[0]


def _hold(name: str, value: Any, low: float, high: float) -> None:
    least, most = _ends(value)
    if not (low <= least and most <= high):  # NaN fails too
        reach = f"{low:g} to {high:g}" if high < math.inf else f"{low:g} or more"
        raise ValueError(f"{name} {_words(value)}: give {reach}")


def _above(name: str, value: Any, low: float) -> None:
    if not _least(value) > low:
        raise ValueError(f"{name} {_words(value)}: give more than {low:g}")


def _words(value: Any) -> str:
    if hasattr(value, "text"):
        return str(value.text(digits=4))
    least, most = _ends(value)
    return f"{least:.4g}" if least == most else f"{least:.4g} to {most:.4g}"

"""The levels of this machine's memory, found from bandwidth alone.

The four loops of STREAM run over arrays of growing size, and the bandwidth falls
in steps. ``plateaus`` finds the steps without being told how many there are or
where; ``reported`` is what the system says of its caches, to hold them against.

Bytes are counted as STREAM counts them: what the loop names. A cache that
allocates on a write first reads the line it is about to overwrite, so the wires
carry one array more (``moved_bytes``). Left out: which pages the arrays got,
other processes on the shared levels, and the clock.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import lru_cache
from statistics import median, quantiles
from typing import Any

from stacklib.hardware.this_machine import (
    CacheLevel,
    Machine,
    read_machine,
    usable_cores,
)

from ._kernels import BLOCK, SCALE, aligned, run_stream, slices, time_calls
from .plateaus import Plateau, plateaus

ELEMENT = 8  # bytes: fp64, as in STREAM
SMALLEST = 2**12
FIGURES = ("stream", "threads", "size", "bytes", "times_s")


@dataclass(frozen=True)
class Stream:
    """One of STREAM's loops: arrays it reads, and one that it writes."""

    name: str
    formula: str
    reads: int

    @property
    def arrays(self) -> int:
        """Arrays in all."""
        return self.reads + 1


STREAMS = {
    s.name: s
    for s in (
        Stream("copy", "c = a", 1),
        Stream("scale", "b = s c", 1),
        Stream("add", "c = a + b", 2),
        Stream("triad", "a = b + s c", 2),
    )
}


def stream(name: str) -> Stream:
    """One of the four loops."""
    if name not in STREAMS:
        raise ValueError(f"stream {name!r}: use one of {', '.join(STREAMS)}")
    return STREAMS[name]


def counted_bytes(name: str, elements: Any, element: Any = ELEMENT) -> Any:
    """Bytes one pass counts by STREAM's rule: each array once."""
    return elements * stream(name).arrays * element


def moved_bytes(
    name: str, elements: Any, element: Any = ELEMENT, write_allocate: bool = True
) -> Any:
    """Bytes that one pass moves between two levels."""
    extra = 1 if write_allocate else 0
    return elements * (stream(name).arrays + extra) * element


@dataclass(frozen=True)
class StreamPoint:
    """One loop at one working set, with its raw times."""

    stream: str
    threads: int  # threads, each with arrays of its own
    size: int  # working set in bytes, all arrays of all threads
    bytes: int
    times_s: tuple[float, ...]  # seconds a pass, one for each sample

    def __post_init__(self) -> None:
        stream(self.stream)
        numbers = (self.threads, self.size, self.bytes, *self.times_s)
        good = all(isinstance(x, (int, float)) and 0 < x < math.inf for x in numbers)
        if not self.times_s or not good:
            raise ValueError(
                f"{self.id}: threads, size, bytes and times_s must be positive, finite "
                f"numbers, not {numbers!r}"
            )

    @property
    def id(self) -> str:
        """Stable name, for example ``triad-t2-65536``."""
        return f"{self.stream}-t{self.threads}-{self.size}"

    @property
    def rate(self) -> float:
        """Bytes a second of the median sample."""
        return self.bytes / median(self.times_s)

    @property
    def spread(self) -> tuple[float, float]:
        """Rates at the 90th and the 10th percentile of the times."""
        times = self.times_s
        if len(times) == 1:
            return self.rate, self.rate
        cuts = quantiles(times, n=10, method="inclusive")
        return self.bytes / cuts[-1], self.bytes / cuts[0]


def point(row: Mapping[str, Any]) -> StreamPoint:
    """The point of a result file's row."""
    try:
        found = {name: row[name] for name in FIGURES}
    except (KeyError, TypeError):
        raise ValueError(f"bad row {row!r}: needs {', '.join(FIGURES)}") from None
    return StreamPoint(**{**found, "times_s": tuple(found["times_s"])})


# -- measuring -----------------------------------------------------------------


def elements(name: str, threads: int, size: int) -> int:
    """Elements of one array over all threads, for a working set in bytes."""
    one = size // ELEMENT // stream(name).arrays // threads
    return threads * max(8, one // 8 * 8)


def sizes(largest: int, step: float, smallest: int = SMALLEST) -> list[int]:
    """Working sets in equal ratios, each a whole number of lines for every loop.

    ``largest``, ``smallest``: bytes of the last and the first.
    """
    if not step > 1 or not largest >= smallest > 0:
        raise ValueError(f"sizes from {smallest} to {largest} by {step}: cannot grow")
    count = math.floor(math.log(largest / smallest) / math.log(step) + 0.5)
    return [round(smallest * step**i / 768) * 768 for i in range(count + 1)]


def sweep(
    quick: bool = True,  # true: about a second
    names: Sequence[str] = tuple(STREAMS),
    threads: Iterable[int] | None = None,
) -> tuple[StreamPoint, ...]:
    """Measure the loops over working sets from 4 KiB to beyond the last cache."""
    largest = beyond_cache(read_machine(), 2**26 if quick else 2**28)
    # Finely, several times over: a burst of other work then spoils some samples of many
    # points and not every sample of one.
    step, samples, passes = (2.0, 2, 1) if quick else (2**0.5, 7, 3)
    cores = sorted(set(threads or (1, usable_cores())))
    buffer = aligned(largest // ELEMENT + 2**16)
    jobs = [
        # Short samples mostly end before the system gives the core to someone
        # else; several threads take some time to start.
        _job(buffer, (stream(n), t, size), samples, 0.0007 if t == 1 else 0.002)
        for t in cores
        for size in sizes(largest, step)
        for n in names
    ]
    found: dict[str, StreamPoint] = {}
    for job in jobs * passes:
        p = job()
        before = found[p.id].times_s if p.id in found else ()
        found[p.id] = replace(p, times_s=(*before, *p.times_s))
    return tuple(found.values())


def beyond_cache(machine: Machine, at_least: int) -> int:
    """A working set that no cache holds: four times the largest, in a power of two.

    A quarter of the machine's memory is the most.

    ``at_least``: bytes to reach in any case, memory allowing.
    """
    cache = max((c.bytes for c in machine.caches), default=0)
    memory = machine.memory_bytes or 4 * at_least
    return 2 ** int(math.log2(min(max(at_least, 4 * cache), 2**30, memory // 4)))


def _job(
    buffer: Any, what: tuple[Stream, int, int], samples: int, sample_s: float
) -> Callable[[], StreamPoint]:
    loop, threads, size = what
    parts = slices(buffer, loop.arrays, threads, size // ELEMENT // loop.arrays)
    counted = counted_bytes(loop.name, elements(loop.name, threads, size))
    kernel = loops()[loop.name]

    def job() -> StreamPoint:
        with ThreadPoolExecutor(threads) as pool:
            times = time_calls(run_stream(kernel, parts, pool), samples, sample_s)
        return StreamPoint(loop.name, threads, size, counted, times)

    return job


@lru_cache(maxsize=1)
def loops() -> dict[str, Callable[..., None]]:
    """The four loops: one compiled pass with numba, else NumPy in blocks."""
    try:
        import numba
    except ImportError:
        return block_loops()
    jit = numba.njit(nogil=True, fastmath=True)
    plain = {"copy": _copy, "scale": _scale, "add": _add, "triad": _triad}
    return {name: jit(loop) for name, loop in plain.items()}


def block_loops() -> dict[str, Callable[..., None]]:
    """The same four loops in NumPy, blocks of which stay in a cache."""
    import numpy

    def blocked(do: Callable[..., object]) -> Callable[..., None]:
        def run(out: Any, *rest: Any) -> None:
            *arrays, repeats = rest
            for _ in range(repeats):
                for i in range(0, out.size, BLOCK):
                    do(out[i:][:BLOCK], *(x[i:][:BLOCK] for x in arrays))

        return run

    def triad(a: Any, b: Any, c: Any) -> None:
        numpy.multiply(c, SCALE, out=a)
        numpy.add(a, b, out=a)

    return {
        "copy": blocked(numpy.copyto),
        "scale": blocked(lambda b, c: numpy.multiply(c, SCALE, out=b)),
        "add": blocked(lambda c, a, b: numpy.add(a, b, out=c)),
        "triad": blocked(triad),
    }


def _copy(c: Any, a: Any, repeats: int) -> None:
    for _ in range(repeats):
        for i in range(c.size):
            c[i] = a[i]


def _scale(b: Any, c: Any, repeats: int) -> None:
    for _ in range(repeats):
        for i in range(b.size):
            b[i] = SCALE * c[i]


def _add(c: Any, a: Any, b: Any, repeats: int) -> None:
    for _ in range(repeats):
        for i in range(c.size):
            c[i] = a[i] + b[i]


def _triad(a: Any, b: Any, c: Any, repeats: int) -> None:
    for _ in range(repeats):
        for i in range(a.size):
            a[i] = b[i] + SCALE * c[i]


# -- the levels of a sweep ------------------------------------------------------


def found_levels(
    points: Iterable[StreamPoint], name: str = "triad", threads: int = 1
) -> list[Plateau]:
    """Levels in one loop's sweep."""
    curve = list(curve_of(points, name, threads))
    return plateaus([p.size for p in curve], [p.rate for p in curve])


def curve_of(
    points: Iterable[StreamPoint], name: str, threads: int
) -> Iterator[StreamPoint]:
    """Points of one loop with so many threads, by working set."""
    found = [p for p in points if (p.stream, p.threads) == (name, threads)]
    return iter(sorted(found, key=lambda p: p.size))


def reported(caches: Iterable[CacheLevel], threads: int = 1) -> list[int]:
    """Bytes of each cache level that so many threads have together, as reported.

    A level that each core has to itself counts once a thread, one that they share
    counts once.
    """
    return [c.bytes * -(-threads // (c.shared_by or 1)) for c in caches]

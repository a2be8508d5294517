"""The two streams that are timed, triad and read, and how they are timed.

``triad``: a[i] = b[i] + s c[i], the kernel of STREAM. ``read``: the sum of
x[i]^2 without a write, which is how a matrix-vector product uses its matrix.
With numba each is one compiled pass; without it, NumPy in blocks small enough
that a block's operands stay in the second-level cache between its two passes.
Both release the interpreter lock, so one thread a core runs at full speed.

``time_calls`` keeps raw times. A sample is as many calls as fill a minimum time,
far above the clock's resolution and the cost of waking threads.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

BLOCK = 8192  # fp64 elements: three operands of a block take 192 KiB
SCALE = 3.0
MOST_REPEATS = 10**12
STAGGER = 136  # fp64 elements, 17 cache lines


@dataclass(frozen=True)
class Kernels:
    """``triad(a, b, c, repeats)`` and ``read(x, repeats)``, with their origin."""

    name: str
    triad: Callable[[Any, Any, Any, int], None]
    read: Callable[[Any, int], float]


@lru_cache(maxsize=1)
def kernels() -> Kernels:
    """The compiled kernels where numba is present, else the NumPy ones."""
    try:
        import numba
    except ImportError:
        return numpy_kernels()
    jit = numba.njit(nogil=True, fastmath=True)
    return Kernels(f"numba {numba.__version__}", jit(_triad_loop), jit(_read_loop))


def numpy_kernels() -> Kernels:
    """The same two streams in NumPy, block by block."""
    import numpy

    return Kernels(f"numpy {numpy.__version__} blocks", _triad_blocks, _read_blocks)


def _triad_loop(a: Any, b: Any, c: Any, repeats: int) -> None:
    for _ in range(repeats):
        for i in range(a.size):
            a[i] = b[i] + SCALE * c[i]


def _read_loop(x: Any, repeats: int) -> float:
    total = 0.0
    for _ in range(repeats):
        part = 0.0
        for i in range(x.size):
            part += x[i] * x[i]
        # halved each time, so that no repeat can be replaced by a product
        total = 0.5 * total + part
    return total


def _triad_blocks(a: Any, b: Any, c: Any, repeats: int) -> None:
    import numpy

    for _ in range(repeats):
        for start in range(0, a.size, BLOCK):
            part = slice(start, start + BLOCK)
            numpy.multiply(c[part], SCALE, out=a[part])
            numpy.add(a[part], b[part], out=a[part])


def _read_blocks(x: Any, repeats: int) -> float:
    import numpy

    total = 0.0
    for _ in range(repeats):
        # BLOCK elements are too few for BLAS to use more than this thread
        blocks = range(0, x.size, BLOCK)
        part = sum(float(numpy.dot(x[i:][:BLOCK], x[i:][:BLOCK])) for i in blocks)
        total = 0.5 * total + part
    return total


def time_calls(
    run: Callable[[int], object], samples: int = 5, sample_s: float = 0.005
) -> tuple[float, ...]:
    """Seconds a call, once for each sample; ``run(n)`` makes n calls."""
    run(1)  # warm-up: first touch, compilation, caches
    repeats, first = _repeats(run, sample_s)
    more = (_timed(run, repeats) for _ in range(samples - 1))
    return tuple(elapsed / repeats for elapsed in (first, *more))


def _timed(run: Callable[[int], object], repeats: int) -> float:
    for _ in range(100):
        start = time.perf_counter()
        run(repeats)
        elapsed = time.perf_counter() - start
        if elapsed > 0:
            return elapsed
    raise RuntimeError(f"perf_counter stood still over 100 runs of {repeats} calls")


def _repeats(run: Callable[[int], object], sample_s: float) -> tuple[int, float]:
    """How many calls fill ``sample_s``, and the seconds that they took."""
    repeats = 1
    while (elapsed := _timed(run, repeats)) < sample_s:
        wanted = int(min(sample_s / elapsed, 50.0) * repeats)
        repeats = max(2 * repeats, wanted)
        if repeats > MOST_REPEATS:
            raise RuntimeError(f"{repeats} calls still take no {sample_s} s")
    return repeats, elapsed


def aligned(elements: int) -> Any:
    """fp64 ones that start on a 64-byte line, so no vector load straddles two."""
    import numpy

    raw = numpy.ones(elements + 8)
    skip = (-raw.ctypes.data % 64) // 8
    return raw[skip : skip + elements]


def slices(buffer: Any, operands: int, threads: int, elements: int) -> list[list[Any]]:
    """Per thread, ``operands`` views of ``elements // threads`` each.

    Neighbours start some lines further into a page each time: operands at equal
    page offsets collide in address checks and cache sets.
    """
    size = max(8, elements // threads // 8 * 8)
    step = size + STAGGER
    starts = [
        [(t * operands + i) * step for i in range(operands)] for t in range(threads)
    ]
    return [[buffer[s : s + size] for s in row] for row in starts]


def run_stream(
    kernel: Callable[..., object], parts: list[list[Any]], pool: Executor
) -> Callable[[int], object]:
    """``run(n)``: every thread sweeps its own slice n times, without a barrier."""
    if len(parts) == 1:
        return lambda repeats: kernel(*parts[0], repeats)
    return lambda repeats: [
        f.result() for f in [pool.submit(kernel, *p, repeats) for p in parts]
    ]

"""Chunks of real work on real threads, to hold Amdahl's law against a clock.

The work is the square root of an array that stays in a core's own second-level
cache, so that the cores share neither data nor bandwidth. NumPy gives up the
interpreter lock meanwhile, so one thread a core computes at full speed.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any

from .scaling import Chunk

ELEMENTS = 65_536  # fp64 in place: 512 KiB, above a first-level cache, below a second
CALLS = 8  # calls of the square root in one unit of work

_own = threading.local()


def operations(chunks: Sequence[Chunk]) -> int:
    """Square roots that these chunks take."""
    return sum(_calls(c) for c in chunks) * ELEMENTS


def _calls(chunk: Chunk) -> int:
    calls = round(chunk.work * CALLS)
    if calls < 1:
        raise ValueError(f"a chunk of {chunk.work:g} units is less than one call")
    return calls


def _work(calls: int) -> None:
    import numpy

    if not hasattr(_own, "x"):
        _own.x = numpy.full(ELEMENTS, 2.0)
    x: Any = _own.x
    for _ in range(calls):
        numpy.sqrt(x, out=x)


def time_unit(samples: int = 15, units: int = 8) -> list[float]:
    """Seconds one unit of work takes on one thread."""
    chunks = [Chunk(units, parallel=False)]
    return [t / units for t in time_chunks(chunks, 1, samples)]


def time_chunks(
    chunks: Sequence[Chunk], workers: int, samples: int = 3, pinned: bool = True
) -> list[float]:
    """Seconds to run chunks on that many threads, timed again and again."""
    if workers < 1 or samples < 1:
        raise ValueError(f"workers={workers}, samples={samples}: 1 or more of each")
    stages = _stages(chunks)
    with ThreadPoolExecutor(workers) as pool:
        meet = threading.Barrier(workers)
        cores = _cores() if pinned else []
        # Threads are started, and their arrays touched, before the first sample.
        # Pinned, each keeps to a core of its own; more threads than cores only take
        # turns.
        wait([pool.submit(_warm, meet, cores) for _ in range(workers)])
        return [_timed(pool, stages) for _ in range(samples)]


def _cores() -> list[int]:
    """The cores this process may use; empty where the system does not say."""
    if not hasattr(os, "sched_getaffinity"):
        return []
    return sorted(os.sched_getaffinity(0))


def _warm(meet: threading.Barrier, cores: list[int]) -> None:
    """Once in each thread: nobody leaves before all have come."""
    place = meet.wait()
    if cores:
        os.sched_setaffinity(0, {cores[place % len(cores)]})  # this thread alone
    _work(CALLS)


def _stages(chunks: Sequence[Chunk]) -> list[list[int]]:
    """Calls of the chunks between which everybody waits for everybody."""
    stages: list[list[int]] = []
    open_stage = False
    for chunk in chunks:
        if chunk.parallel and open_stage:
            stages[-1].append(_calls(chunk))
        else:
            stages.append([_calls(chunk)])
        open_stage = chunk.parallel
    return stages


def _timed(pool: ThreadPoolExecutor, stages: list[list[int]]) -> float:
    began = time.perf_counter()
    for stage in stages:
        for done in [pool.submit(_work, calls) for calls in stage]:
            done.result()
    return time.perf_counter() - began

"""The set-associative cache against pycachesim, one core, in one run.

    pip install pycachesim        # not among the pinned packages
    python benchmarks/cache.py    # -> results/cache.json

Both get the same addresses; misses must be equal. pycachesim is called the fastest way
it offers, with the whole trace at once, which must be a list of tuples: it is timed
from an array, as ours is, and once more with the list made beforehand.
"""

from __future__ import annotations

import sys
import time
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE)]

import host_common  # noqa: E402

from stacklib.roofline.host import measure as host  # noqa: E402

STEM = "cache"
SETS, WAYS, LINE = 64, 8, 64  # 32 KiB
ACCESSES, ROUNDS = 1_000_000, 5
BAR = 12.0  # times pycachesim's speed, with numba


def traces() -> dict[str, Any]:
    """Addresses by name: all over 4 MiB, and one after the other."""
    import numpy

    random = numpy.random.default_rng(0).integers(0, 1 << 19, ACCESSES) * 8
    return {"random": random, "stream": (numpy.arange(ACCESSES) * 8) % (1 << 22)}


def ours(trace: Any) -> int:
    """Misses by this project's simulator."""
    from stacklib.memory import Cache

    return Cache(SETS * WAYS * LINE, WAYS, LINE).run(trace).misses


def peer(trace: list[tuple[tuple[int], None]]) -> int:
    """Misses by pycachesim."""
    import cachesim

    level = cachesim.Cache("L1", SETS, WAYS, LINE, "LRU")
    memory = cachesim.MainMemory()
    memory.load_to(level)
    memory.store_from(level)
    simulator = cachesim.CacheSimulator(level, memory)
    simulator.loadstore(trace, length=1)
    return int(next(iter(simulator.stats()))["MISS_count"])


def peer_from_array(trace: Any) -> int:
    """The same, its list made on the way."""
    return peer(listed(trace))


def listed(trace: Any) -> list[tuple[tuple[int], None]]:
    """A trace as pycachesim takes it: loads and stores of each step."""
    return [((address,), None) for address in trace.tolist()]


def timed(call: Any, *arguments: Any) -> tuple[float, int]:
    """Seconds of a call, and what it gave."""
    began = time.perf_counter()
    given = call(*arguments)
    return time.perf_counter() - began, given


def measure() -> dict[str, Any]:
    """Both simulators on every trace, in turn, so that other work meets both."""
    watch = host.Watch()
    rows = []
    for name, trace in traces().items():
        ours(trace)  # compiled before the clock runs
        calls = {
            "stacklib": (ours, trace),
            "pycachesim": (peer_from_array, trace),
            "pycachesim-listed": (peer, listed(trace)),
        }
        samples: dict[str, list[float]] = {who: [] for who in calls}
        counted: dict[str, int] = {}
        for _ in range(ROUNDS):
            for who, (call, argument) in calls.items():
                took, counted[who] = timed(call, argument)
                samples[who].append(took)
        if len(set(counted.values())) > 1:
            raise SystemExit(f"{name}: misses differ: {counted}")
        misses = counted["stacklib"]
        for who, times in samples.items():
            row = {"id": f"{name}-{who}", "trace": name, "by": who, "misses": misses}
            rows.append({**row, "accesses": ACCESSES, "times_s": times})
            ratio = median(times) / median(samples["stacklib"])
            print(f"{name}: {misses} misses, {who} takes {ratio:.1f} times (bar {BAR})")
    return host_common.head(
        STEM,
        None,
        watch,
        driver="none",
        rows=rows,
        versions=host.versions() | {"pycachesim": version("pycachesim")},
        why_no_prediction="a comparison of speed with a named peer in one run",
    )


if __name__ == "__main__":
    host_common.save(HERE, STEM, measure())

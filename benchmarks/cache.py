"""The set-associative cache against pycachesim, one core, in one run.

    pip install pycachesim        # not among the pinned packages
    python benchmarks/cache.py    # -> results/cache.json

Three traces, loads alone and with stores, through whole lines, sectors and two levels;
both get the same addresses, and misses and write-backs must be equal. pycachesim is
called the fastest way it offers, with the whole trace at once as a list of tuples,
which is made before the clock runs. It has no sectors: there it moves whole lines, and
the lines are what is compared.
"""

from importlib.metadata import version
from statistics import median
from time import perf_counter
from typing import Any

import host_common

from stacklib.roofline.host import measure as host

STEM = "cache"
# Sets, ways and bytes of a line by level; two levels are those of pycachesim's README.
CACHES = {
    "lines": [(64, 8, 64)],
    "sectors": [(32, 8, 128)],
    "two levels": [(64, 8, 64), (512, 8, 64)],
}
SECTOR = 32
SHARE = 0.3  # of the accesses that store
ACCESSES, ROUNDS = 1_000_000, 9
LEAST, MEDIAN = 5.0, 12.0  # the bars, in times pycachesim's speed


def traces() -> dict[str, Any]:
    """Addresses by name: one after the other, anywhere in 4 MiB, and by popularity."""
    import numpy

    random = numpy.random.default_rng(0)
    return {
        "stream": (numpy.arange(ACCESSES) * 8) % (1 << 22),
        "random": random.integers(0, 1 << 19, ACCESSES) * 8,
        "zipf": random.zipf(1.2, ACCESSES) % (1 << 19) * 8,
    }


def ours(shape: str, trace: Any, stores: Any) -> tuple[float, list[tuple[int, int]]]:
    """Seconds, and the lines that each level brought in and wrote back."""
    from stacklib.memory import Cache, chain

    sector = SECTOR if shape == "sectors" else None
    # pycachesim renews nothing on a store.
    levels = [
        Cache(sets * ways * line, ways, line, sector, stores_renew=False)
        for sets, ways, line in CACHES[shape]
    ]
    began = perf_counter()
    if len(levels) > 1:
        found = chain(levels, trace, stores)
    else:
        found = [levels[0].run(trace, stores)]
    took = perf_counter() - began
    # Of sectors the lines that came are those that left and those inside: all places.
    came = [
        t.evictions + c.sets * c.ways if sector else t.misses
        for c, t in zip(levels, found, strict=True)
    ]
    return took, [(n, t.writebacks) for n, t in zip(came, found, strict=True)]


def peer(shape: str, listed: Any) -> tuple[float, list[tuple[int, int]]]:
    """The same by pycachesim."""
    import cachesim

    memory, levels = cachesim.MainMemory(), []
    for sets, ways, line in reversed(CACHES[shape]):
        behind = {"store_to": levels[0], "load_from": levels[0]} if levels else {}
        name = f"L{len(CACHES[shape]) - len(levels)}"
        levels.insert(0, cachesim.Cache(name, sets, ways, line, "LRU", **behind))
    memory.load_to(levels[-1])
    memory.store_from(levels[-1])
    simulator = cachesim.CacheSimulator(levels[0], memory)
    began = perf_counter()
    simulator.loadstore(listed, length=1)
    took = perf_counter() - began
    stats = list(simulator.stats())[: len(levels)]
    return took, [(d["MISS_count"], d["EVICT_count"]) for d in stats]


def listed(trace: Any, stores: Any) -> list[tuple[Any, Any]]:
    """A trace as pycachesim takes it: loads and stores of each step."""
    return [
        (None, (address,)) if store else ((address,), None)
        for address, store in zip(trace.tolist(), stores.tolist(), strict=True)
    ]


def case(shape: str, name: str, trace: Any, stores: Any) -> list[dict[str, Any]]:
    """Both simulators on a trace, in turn, so that other work meets both."""
    ours(shape, trace, stores)  # compiled before the clock runs
    made = listed(trace, stores)
    calls = {
        "stacklib": lambda: ours(shape, trace, stores),
        "pycachesim": lambda: peer(shape, made),
    }
    samples: dict[str, list[float]] = {who: [] for who in calls}
    counted: dict[str, Any] = {}
    for _ in range(ROUNDS):
        for who, call in calls.items():
            took, counted[who] = call()
            samples[who].append(took)
    which = f"{shape}, {name}, {'stores' if stores.any() else 'loads'}"
    if counted["stacklib"] != counted["pycachesim"]:
        raise SystemExit(f"{which}: misses and write-backs differ: {counted}")
    return [
        {
            "id": f"{which}, {who}",
            "case": which,
            "by": who,
            "lines": counted[who],
            "accesses": ACCESSES,
            "times_s": times,
        }
        for who, times in samples.items()
    ]


def ratios(rows: list[dict[str, Any]]) -> dict[str, float]:
    """Times pycachesim's speed by case, the least first."""
    times = {(row["case"], row["by"]): median(row["times_s"]) for row in rows}
    found = {
        which: took / times[which, "stacklib"]
        for (which, who), took in times.items()
        if who == "pycachesim"
    }
    return dict(sorted(found.items(), key=lambda pair: pair[1]))


def measure() -> dict[str, Any]:
    """Every case, and what came of the bars."""
    import numpy

    watch = host.Watch()
    rows: list[dict[str, Any]] = []
    some = numpy.random.default_rng(1).random(ACCESSES) < SHARE
    for shape in CACHES:
        for name, trace in traces().items():
            for stores in (numpy.zeros(ACCESSES, bool), some):
                rows += case(shape, name, trace, stores)
    found = ratios(rows)
    for which, ratio in found.items():
        print(f"{ratio:6.1f} times pycachesim's speed: {which}")
    least, middle = min(found.values()), median(found.values())
    print(f"least {least:.1f} (bar {LEAST}), median {middle:.1f} (bar {MEDIAN})")
    return host_common.head(
        STEM,
        None,
        watch,
        driver="none",
        rows=rows,
        bars={"least": LEAST, "median": MEDIAN},
        versions=host.versions() | {"pycachesim": version("pycachesim")},
        why_no_prediction="a comparison of speed with a named peer in one run",
    )


if __name__ == "__main__":
    host_common.save(host_common.HERE, STEM, measure())

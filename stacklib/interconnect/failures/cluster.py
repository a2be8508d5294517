"""How often a cluster fails: by cause, by count of parts, and how many spares it needs.

A synchronous training stops when any of its parts does, so the rates of all parts add.
Failures without memory come as a Poisson process; the hosts under repair at one moment
are then Poisson distributed too, whatever a single repair takes (M/G/infinity). Beside
each closed form stands the run in which every host has its own clock.
"""

from __future__ import annotations

import heapq
import math
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from stacklib.quantity.bounds import above_zero, at_least, whole


@dataclass(frozen=True, slots=True)
class Cause:
    """One line of a published table of interruptions."""

    name: str
    part: str  # gpu, host, network, software
    count: int


# The Llama 3 Herd of Models (2024), table 5: unexpected interruptions in 54 days of
# training on up to 16,384 H100s.
CAUSES = (
    Cause("faulty GPU", "gpu", 148),
    Cause("GPU HBM3 memory", "gpu", 72),
    Cause("software bug", "software", 54),
    Cause("network switch or cable", "network", 35),
    Cause("host maintenance", "host", 32),
    Cause("GPU SRAM", "gpu", 19),
    Cause("GPU system processor", "gpu", 17),
    Cause("network card", "host", 7),
    Cause("NCCL watchdog timeout", "network", 7),
    Cause("silent data corruption", "gpu", 6),
    Cause("GPU thermal interface and sensor", "gpu", 6),
    Cause("SSD", "host", 3),
    Cause("power supply", "host", 3),
    Cause("server chassis", "host", 2),
    Cause("IO expansion board", "host", 2),
    Cause("dependency", "software", 2),
    Cause("CPU", "host", 2),
    Cause("system memory", "host", 2),
)


def rate_per_part(failures: Any, parts: Any, time: Any) -> Any:
    """Failures a second of one part, from a count over many.

    ``time``: seconds in which they were counted.
    """
    above_zero(failures=failures, parts=parts, time=time)
    return failures / (parts * time)


def between_failures(rate: Any, parts: Any) -> Any:
    """Mean seconds between failures of all parts together: 1 / (rate x parts)."""
    above_zero(rate=rate, parts=parts)
    return 1 / (rate * parts)


def down(rate: Any, hosts: Any, repair: Any) -> Any:
    """Mean number of hosts under repair (Little): rate x hosts x repair.

    ``rate``: failures a second of one host; ``repair``: seconds it is away.
    """
    above_zero(rate=rate, hosts=hosts, repair=repair)
    return rate * hosts * repair


def more_than(spares: int, mean: float) -> float:
    """Probability that more hosts are down than there are spares (Poisson's tail)."""
    whole(0, spares=spares)
    above_zero(mean=mean)
    log_mean, upto = math.log(mean), 0.0
    for k in range(spares + 1):
        upto += math.exp(k * log_mean - mean - math.lgamma(k + 1))
    return max(0.0, 1 - upto)


def spares_for(mean: float, share: float) -> int:
    """Fewest spare hosts with which the job waits no more than a share of the time."""
    above_zero(mean=mean, share=share)
    if share >= 1:
        raise ValueError(f"share = {share}: of the time, below one")
    spares = 0
    while more_than(spares, mean) > share:
        spares += 1
    return spares


# -- the same, run ---------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Drawn:
    """Failures of a run in which every host has clocks of its own."""

    by_cause: Mapping[str, int]
    times: tuple[float, ...]  # of all failures, in order


def run_cluster(
    causes: Sequence[tuple[str, float]], *, hosts: int, time: float, seed: int = 0
) -> Drawn:
    """Let every host fail by clocks of its own, and note what failed when.

    ``causes``: name, and failures a second of one host; ``time``: seconds to watch.
    """
    whole(hosts=hosts)
    above_zero(time=time)
    draw = random.Random(seed)
    count: Counter[str] = Counter()
    times = []
    for name, rate in causes:
        above_zero(**{f"rate of {name}": rate})
        for _ in range(hosts):
            at = draw.expovariate(rate)
            while at < time:
                count[name] += 1
                times.append(at)
                at += draw.expovariate(rate)
    return Drawn(dict(count), tuple(sorted(times)))


def run_repairs(
    rate: float,
    *,
    hosts: int,
    repair: float,
    spares: int,
    failures: int = 20_000,
    seed: int = 0,
) -> tuple[float, float]:
    """Hosts down on average, and the share of time with more down than spares.

    The job always runs on ``hosts`` of them; each repair takes as long as the last,
    and its host then waits as a spare. Event by event.
    """
    whole(hosts=hosts, failures=failures)
    whole(0, spares=spares)
    above_zero(rate=rate, repair=repair)
    at_least(0, seed=seed)
    draw = random.Random(seed)
    ends: list[float] = []
    now = area = short = 0.0
    failure = draw.expovariate(rate * hosts)
    for _ in range(failures):
        while ends and ends[0] <= failure:
            then = heapq.heappop(ends)
            area += len(ends) * (then - now) + (then - now)
            short += (then - now) * (len(ends) + 1 > spares)
            now = then
        area += len(ends) * (failure - now)
        short += (failure - now) * (len(ends) > spares)
        now = failure
        heapq.heappush(ends, now + repair)
        failure = now + draw.expovariate(rate * hosts)
    return area / now, short / now

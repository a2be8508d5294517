"""What a schedule costs on a network where no message meets another.

A message of m bytes goes over all shortest paths alike. It takes the latency of a path,
and m times the longest that one of its links needs for its share of a byte. A step
lasts as long as the chip that sends or receives longest in it, and a step's latency is
that of its longest path. What messages take from each other where paths share a link is
``simulate``'s business; a closed form cannot know.
"""

from __future__ import annotations

from dataclasses import fields
from functools import lru_cache, partial
from itertools import pairwise
from operator import itemgetter
from typing import Any

from stacklib.interconnect.schedules.cost import Cost, least_share
from stacklib.interconnect.schedules.schedule import Schedule
from stacklib.quantity import Quantity, counted, stamp
from stacklib.quantity.bounds import at_least
from stacklib.quantity.keys import Same

from .topology import Topology

Pair = tuple[int, int]
LARGE = 1e6  # bytes from which a collective is of the larger half of family D


def cost(schedule: Schedule, topology: Topology, *, size: Any) -> Cost:
    """Time of a schedule on a network by latency and bandwidth, nothing shared.

    Parameters
    ----------
    schedule : Schedule
        Its ranks are the network's chips; switches that reduce are its first.
    topology : Topology
        Of as many chips.
    size : float, Quantity or array
        Bytes of one rank's whole array, of which a chunk is ``size / chunks``.

    Returns
    -------
    Cost
        ``.time``, its parts ``.alpha`` and ``.beta``, and ``.bound``, below which no
        schedule of this collective is on these ports.

    Raises
    ------
    ValueError
        For another number of ranks than the network has chips, and sizes below zero,
        infinite or NaN.

    Examples
    --------
    >>> from stacklib.interconnect import Topology, all_reduce
    >>> box = Topology.nvswitch(8)
    >>> told = cost(all_reduce(8), box, size=64 * 2**20)
    >>> told.bound < told.time
    True
    """
    at_least(0, size=size)
    if schedule.ranks != topology.ranks:
        raise ValueError(
            f"a schedule of {schedule.ranks} ranks on {topology.name}, which has "
            f"{topology.ranks} chips: make one for as many"
        )
    waiting, each = parts(schedule, topology)
    asked = (schedule.collective, schedule.ranks, schedule.switches > 0)
    least = least_share(*asked)
    alpha: Any = waiting
    beta: Any = each
    floor: Any = float(least) / widest(topology) if least else 0.0
    if isinstance(size, Quantity):
        made = f"{schedule.algorithm} on {topology.name}"
        run = partial(counted, parts, schedule, topology)
        alpha = run(unit="s", label=f"latency, {made}", take=itemgetter(0))
        beta = run(unit="s/B", label=f"time per byte, {made}", take=itemgetter(1))
        rate = counted(widest, topology, unit="B/s", label="the widest chip's rate")
        share = counted(least_share, *asked, label="least share of the array")
        floor = (share / rate).named(f"least per byte, {made}")
        parted = Cost(alpha + size * beta, alpha, size * beta, size * floor)
        return Cost(
            *(stamp(getattr(parted, f.name), family(size.si)) for f in fields(Cost))
        )
    return Cost(alpha + size * beta, alpha, size * beta, size * floor)


def family(size: float) -> str:
    """The half of family D that a collective of so many bytes belongs to."""
    return "D_large" if size >= LARGE else "D_small"


def widest(topology: Topology) -> float:
    """B/s that the best joined chip sends or receives, one direction."""
    ports: dict[tuple[str, int], float] = {}
    for (source, destination), rate in topology.capacity.items():
        for side, node in (("out", source), ("in", destination)):
            if node < topology.ranks:
                ports[side, node] = ports.get((side, node), 0.0) + rate
    return max(ports.values())


def parts(schedule: Schedule, topology: Topology) -> tuple[float, float]:
    """Seconds of latency in all steps, and seconds for each byte of the array."""
    return _parts(Same(schedule), Same(topology))


@lru_cache(maxsize=4)
def _parts(of: Same, on: Same) -> tuple[float, float]:
    schedule, topology = of.value, on.value
    known: dict[Pair, tuple[float, float]] = {}
    waiting = each = 0.0
    for sends in schedule.by_step():
        busy: dict[tuple[str, int], float] = {}
        late = 0.0
        for send in sends:
            pair = (send.source, send.destination)
            if pair[0] == pair[1]:
                continue
            if pair not in known:
                ways = topology.routes(*pair)
                known[pair] = (
                    sum(topology.latency[one] for one in pairwise(ways.path)),
                    max(s / topology.capacity[one] for one, s in ways.share.items()),
                )
            latency, per_byte = known[pair]
            late = max(late, latency)
            for side, node in zip(("out", "in"), pair, strict=True):
                if node < schedule.ranks:
                    busy[side, node] = busy.get((side, node), 0.0) + per_byte
        waiting += late
        each += max(busy.values(), default=0.0) / schedule.chunks
    return waiting, each

"""What a schedule costs on a network, by its most loaded links.

A message of m bytes goes over all shortest paths alike. It is there after the latency
of its way and the time that its most loaded link needs for all that the step sends
over it; a chip's port is its links together, and never needs longer than the busiest
of them. A step lasts until its last message is there.

Left out: how messages share a link. Here none is done before its most loaded link is,
and no link is idle while it still has to send; ``simulate`` shares links fairly, where
a link may wait for messages that are slow elsewhere. Both agree to rounding where all
messages of a step are alike, and within a tenth on all shapes and algorithms here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields
from functools import lru_cache, partial
from typing import Any

from stacklib.interconnect.schedules.cost import Cost, least_share
from stacklib.interconnect.schedules.schedule import Schedule
from stacklib.quantity import Quantity, counted, stamp
from stacklib.quantity.bounds import at_least
from stacklib.quantity.keys import Same

from .paths import Pair
from .topology import Topology
from .ways import Ways, fitting, messages_of

Lines = tuple[tuple[float, float], ...]
LARGE = 1e6  # bytes from which a collective is of the larger half of family D


def cost(schedule: Schedule, topology: Topology, *, size: Any) -> Cost:
    """Time of a schedule on a network by latency and the busiest link of each step.

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
        For another number of ranks than the network has chips, more switches than it
        has, and sizes below zero, infinite or NaN.

    Examples
    --------
    >>> from stacklib.interconnect import Topology, all_reduce
    >>> box = Topology.nvswitch(8)
    >>> told = cost(all_reduce(8), box, size=64 * 2**20)
    >>> told.bound < told.time
    True
    """
    at_least(0, size=size)
    fitting(schedule, topology)
    asked = (schedule.collective, schedule.ranks, schedule.switches > 0)
    least = least_share(*asked)
    floor: Any = float(least) / widest(topology) if least else 0.0
    if isinstance(size, Quantity):
        made = f"{schedule.algorithm} on {topology.name}"
        run = partial(counted, parts, schedule, topology, size.si)
        alpha = run(unit="s", label=f"latency, {made}", take="[0]")
        beta = run(unit="s/B", label=f"time per byte, {made}", take="[1]")
        rate = counted(widest, topology, unit="B/s", label="the widest chip's rate")
        share = counted(least_share, *asked, label="least share of the array")
        floor = (share / rate).named(f"least per byte, {made}")
        parted = Cost(alpha + size * beta, alpha, size * beta, size * floor)
        return Cost(
            *(stamp(getattr(parted, f.name), family(size.si)) for f in fields(Cost))
        )
    waiting, each = _each(schedule, topology, size)
    return Cost(waiting + size * each, waiting, size * each, size * floor)


def _each(schedule: Schedule, topology: Topology, size: Any) -> tuple[Any, Any]:
    """Latency and time per byte, of one size or of each of an array."""
    if not hasattr(size, "shape") or not size.shape:
        return parts(schedule, topology, float(size))
    import numpy as np

    found = [parts(schedule, topology, float(one)) for one in size.flat]
    waiting, each = np.array(found, float).reshape(-1, 2).T
    return waiting.reshape(size.shape), each.reshape(size.shape)


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


def parts(schedule: Schedule, topology: Topology, size: float) -> tuple[float, float]:
    """Seconds of latency in all steps, and seconds for each byte of the array.

    A step is as long as its last message takes, and which one that is may depend on
    the size: a large one to a neighbour, or a small one from far away.
    """
    waiting = each = 0.0
    for lines, steps in _steps(Same(schedule), Same(topology)).items():
        _, late, slope = max(
            (late + size * slope, late, slope) for late, slope in lines
        )
        waiting += steps * late
        each += steps * slope
    return waiting, each


@lru_cache(maxsize=4)
def _steps(of: Same, on: Same) -> dict[Lines, int]:
    """How many steps have the same lines, (latency, seconds a byte) of a message each.

    Of those that are at no size the last, none is kept.
    """
    schedule, topology = of.value, on.value
    ways = Ways(topology)
    seen: dict[Any, Lines] = {}
    found: dict[Lines, int] = {}
    for sends in schedule.by_step():
        messages = messages_of(sends)
        if not messages:
            continue
        key = tuple(sorted(messages.items()))
        if key not in seen:
            lines = {
                (late, slope / schedule.chunks)
                for late, slope in _lines(messages, ways)
            }
            kept: list[tuple[float, float]] = []
            for late, slope in sorted(lines, reverse=True):
                if not kept or slope > kept[-1][1]:
                    kept.append((late, slope))
            seen[key] = tuple(kept)
        found[seen[key]] = found.get(seen[key], 0) + 1
    return found


def _lines(messages: Mapping[Pair, int], ways: Ways) -> Iterator[tuple[float, float]]:
    """Of each message its latency, and seconds for each byte of a chunk.

    A link that n messages share fairly has passed one of m bytes when it has passed m
    of each, or all of those that are smaller.
    """
    capacity, many = ways.on.capacity, set(messages.values())
    needs: dict[int, dict[Pair, float]] = {}
    for count in many:
        passed = {pair: min(count, other) for pair, other in messages.items()}
        needs[count] = {
            link: load / capacity[link] for link, load in ways.loads(passed).items()
        }
    for pair, count in messages.items():
        share, latency = ways.way(pair)
        yield latency, max(map(needs[count].__getitem__, share))

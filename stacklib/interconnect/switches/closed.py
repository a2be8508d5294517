"""Closed forms of a fabric: ways without queues, queues, hashing, and reserves.

Rates are of one direction of a port, B/s; times are seconds. The formulas of time go
through with floats, quantities and arrays alike; those of chance are exact fractions.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import Any

from stacklib.quantity import minimum
from stacklib.quantity.bounds import above_zero, at_least, whole


def cut_through_time(
    size: Any, *, rate: Any, hops: Any, latency: Any, header: Any, cable: Any = 0.0
) -> Any:
    """Seconds of a frame or message over ``hops`` switches that forward its head.

    It is put on the wire once, and each switch adds its pipeline and the header that it
    has to read. A message's frames follow one another, so the same holds for it.

    - ``size``, ``header``: bytes; ``rate``: B/s of every port, one direction.
    - ``latency``: s of a switch's pipeline; ``cable``: s of one cable, of hops + 1.
    """
    at_least(0, hops=hops)
    above_zero(size=size, rate=rate)
    return size / rate + hops * (latency + header / rate) + (hops + 1) * cable


def stored_time(
    size: Any,
    *,
    rate: Any,
    hops: Any,
    latency: Any,
    frame: Any = None,
    cable: Any = 0.0,
) -> Any:
    """The same over switches that store a frame before they forward it.

    Each switch waits for a whole frame; while it sends one, the next one comes in. So
    the message is put on the wire once, and one frame of it once more per switch.

    - ``frame``: bytes of one; the whole message where not given.
    """
    at_least(0, hops=hops)
    above_zero(size=size, rate=rate)
    each = size if frame is None else frame
    return size / rate + hops * (latency + each / rate) + (hops + 1) * cable


def mean_wait(load: Any, service: Any, spread: Any = 0.0) -> Any:
    """Mean seconds in the queue of a port that others use: Pollaczek and Khinchine.

    Arrivals come independently of one another (Poisson), one at a time is served.

    - ``load``: share of the time in which the port sends, below 1.
    - ``service``: mean s of one; ``spread``: variance of it over its square, 0 where
      all are alike, 1 where they are exponential.
    """
    at_least(0, load=load, spread=spread)
    above_zero(service=service)
    at_least(0, **{"1 - load": 1 - load})
    above_zero(**{"1 - load": 1 - load})
    return load * service * (1 + spread) / (2 * (1 - load))


def clash_chance(flows: int, paths: int) -> Fraction:
    """Chance that at least two of some flows are hashed onto one path."""
    whole(flows=flows, paths=paths)
    apart = Fraction(1)
    for taken in range(flows):
        apart *= Fraction(max(paths - taken, 0), paths)
    return 1 - apart


def busiest_chances(flows: int, paths: int) -> tuple[Fraction, ...]:
    """Chance of each number of flows on the path that got most; from 0 on.

    Of all ``paths ** flows`` ways to hash, those with at most k on each path are
    counted: flows! times the coefficient in (1 + x + ... + x^k / k!) ^ paths.
    """
    whole(flows=flows, paths=paths)
    upto = [_at_most(flows, paths, k) for k in range(flows + 1)]
    return (upto[0], *(b - a for a, b in pairwise(upto)))


def _at_most(flows: int, paths: int, most: int) -> Fraction:
    """Chance that no path has more than ``most`` flows."""
    one = [Fraction(1)]
    for k in range(1, most + 1):
        one.append(one[-1] / k)
    total = [Fraction(1)] + [Fraction(0)] * flows
    for _ in range(paths):
        total = [
            sum((one[j] * total[n - j] for j in range(min(most, n) + 1)), Fraction(0))
            for n in range(flows + 1)
        ]
    ways = total[flows]
    for k in range(1, flows + 1):
        ways = ways * k / paths
    return ways


def mean_busiest(flows: int, paths: int) -> Fraction:
    """Mean number of flows on the path that got most."""
    return sum(
        (k * chance for k, chance in enumerate(busiest_chances(flows, paths))),
        Fraction(0),
    )


def headroom(rate: Any, *, cable: Any, response: Any, frame: Any) -> Any:
    """Bytes that still come after a port has decided to pause the one before it.

    The pause waits for a frame that is being sent the other way, crosses the cable, is
    obeyed after a while, and finds a frame that has begun; what is on the cable then
    arrives, too.

    - ``cable``: s of one way; ``response``: s until a pause is obeyed.
    """
    above_zero(rate=rate, frame=frame)
    at_least(0, cable=cable, response=response)
    return rate * (2 * cable + response) + 2 * frame


def credit_rate(buffer: Any, *, rate: Any, around: Any) -> Any:
    """B/s that credits let through: a buffer's worth per time that one is away.

    - ``buffer``: bytes of the input; ``around``: s from a frame's start to the return
      of its credit.
    """
    above_zero(buffer=buffer, rate=rate, around=around)
    return minimum(rate, buffer / around)

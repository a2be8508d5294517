"""What a schedule costs: steps times alpha, and bytes times beta.

The model is Hockney's: a message of m bytes takes alpha + m beta. Sends of a step
happen at the same time; a rank has one port that sends and receives at once, so that a
step lasts as long as the rank that sends or receives most in it needs. Ports of
switches are as many as they have neighbours, and never wait. Which links the messages
share is left out here.

No schedule takes less than ``bound``: one step, and the bytes that every rank must send
or receive whatever is done: 2 (n - 1) / n of the array for an all-reduce among ranks,
the whole where switches reduce (P. Patarasuk, X. Yuan, *Bandwidth optimal all-reduce
algorithms*, 2009).
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from stacklib.interconnect.schedules.schedule import Schedule
from stacklib.quantity.bounds import at_least


@dataclass(frozen=True, slots=True)
class Cost:
    """Time of a schedule and its parts, in the unit of alpha."""

    time: Any
    alpha: Any  # the part that does not depend on the size
    beta: Any  # the part that does
    bound: Any  # which no schedule of this collective beats


@dataclass(frozen=True, slots=True)
class Count:
    """What a schedule's steps move."""

    steps: int
    share: Fraction  # of the array: each step's busiest rank, summed


def cost(schedule: Schedule, *, size: Any, alpha: Any, beta: Any) -> Cost:
    """Time of a schedule by the alpha-beta model, counted from its steps.

    - ``size``: bytes of one rank's whole array, of which a chunk is ``size / chunks``:
      for an all-gather the gathered one, for an all-to-all all ``ranks * ranks``
      chunks.
    - ``alpha``: seconds a step; ``beta``: seconds a byte, one direction, which is one
      over the bandwidth of a rank. Floats, quantities or arrays.
    - raises ``ValueError`` for a size, alpha or beta below zero, infinite or NaN.
    """
    return priced(
        count(schedule),
        least_share(schedule.collective, schedule.ranks, schedule.switches > 0),
        size=size,
        alpha=alpha,
        beta=beta,
    )


def priced(moved: Count, least: Fraction, *, size: Any, alpha: Any, beta: Any) -> Cost:
    """Steps and bytes as time; ``least``: share of the array that must move."""
    at_least(0, size=size, alpha=alpha, beta=beta)
    waiting = moved.steps * alpha
    moving = size * float(moved.share) * beta
    bound = (1 if least else 0) * alpha + size * float(least) * beta
    return Cost(waiting + moving, waiting, moving, bound)


def count(schedule: Schedule) -> Count:
    """Steps of a schedule, and the chunks of each step's busiest rank."""
    chunks = 0
    for sends in schedule.by_step():
        out = Counter(send.source for send in sends)
        into = Counter(send.destination for send in sends)
        busy = [
            n for side in (out, into) for at, n in side.items() if at < schedule.ranks
        ]
        chunks += max(busy, default=0)
    return Count(schedule.steps, Fraction(chunks, schedule.chunks))


def least_share(collective: str, ranks: int, switches: bool = False) -> Fraction:
    """Share of the array that some rank must send or receive, whatever the schedule."""
    if ranks == 1:
        return Fraction(0)
    others = Fraction(ranks - 1, ranks)
    return {
        "all_reduce": Fraction(1) if switches else 2 * others,
        "reduce_scatter": others,
        "all_gather": others,
        "all_to_all": others / ranks,
        "broadcast": Fraction(1),
    }[collective]


def best_chunks(
    one: Count, many: Count, chunks: int, *, size: float, alpha: float, beta: float
) -> int:
    """Pieces with which a pipeline takes least time.

    Steps grow as p C + q and bytes as r + t / C, so that time is least at
    C = sqrt(t size beta / (p alpha)).

    - ``one``, ``many``: the same pipeline counted at ``chunks`` and twice as many.
    """
    at_least(0, size=size, beta=beta)
    if not alpha > 0:
        raise ValueError(f"alpha = {alpha!r}: above zero, else ever more chunks pay")
    p = Fraction(many.steps - one.steps, chunks)
    t = (one.share - many.share) * 2 * chunks
    if p <= 0 or t <= 0:
        return 1
    return max(1, round(math.sqrt(float(t) * size * beta / (float(p) * alpha))))

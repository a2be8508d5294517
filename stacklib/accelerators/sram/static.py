"""Stages on a timetable, and the same stages behind a queue.

A compiler that knows every duration can say in which cycle each token enters each
stage; nobody waits and nobody asks, so two runs cannot differ. Where durations vary,
whoever comes early waits for whoever is late, and the wait grows with the load:
``mean_wait`` has the closed form, ``run_line`` lets tokens queue.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from random import Random

from stacklib.quantity import resolve
from stacklib.quantity.bounds import above_zero, whole

SPREADS = {"fixed": 0.0, "exponential": 1.0}  # variance of a duration over its square


@dataclass(frozen=True, slots=True)
class Slot:
    """A token in a stage, from one cycle to the one in which it leaves."""

    token: int
    stage: int
    start: int
    end: int


def timetable(
    stages: int, busy: int, hop: int, tokens: int, every: int | None = None
) -> tuple[Slot, ...]:
    """The cycles in which each token is in each stage.

    - ``stages``: that a token passes
    - ``busy``, ``hop``: cycles in a stage, and from one to the next
    - ``tokens``: that enter, one each ``every`` cycles; default as soon as the first
      stage is free
    - raises ``ValueError`` where two would be in a stage at once
    """
    whole(stages=stages, busy=busy, tokens=tokens)
    whole(0, hop=hop)
    step = busy if every is None else every
    whole(every=step)
    # Python's own numbers: NumPy's narrow ones run over.
    stages, busy, hop, tokens, step = map(int, (stages, busy, hop, tokens, step))
    table = tuple(
        Slot(t, s, start := t * step + s * (busy + hop), start + busy)
        for t in range(tokens)
        for s in range(stages)
    )
    check(table)
    return table


def check(table: Iterable[Slot]) -> None:
    """Refuse a table in which a stage has two tokens in one cycle, or one too early."""
    rows = list(table)
    for one, two in pairwise(sorted(rows, key=lambda x: (x.stage, x.start))):
        if one.stage == two.stage and two.start < one.end:
            raise ValueError(
                f"stage {one.stage} has tokens {one.token} and {two.token} in cycle "
                f"{two.start}: the first leaves it in cycle {one.end}"
            )
    for one, two in pairwise(sorted(rows, key=lambda x: (x.token, x.stage))):
        if one.token == two.token and two.start < one.end:
            raise ValueError(
                f"token {one.token} enters stage {two.stage} in cycle {two.start}, and "
                f"leaves stage {one.stage} in cycle {one.end}"
            )


def latencies(table: Iterable[Slot]) -> list[int]:
    """Cycles from the first stage to the end of the last, token by token."""
    first, last = dict[int, int](), dict[int, int]()
    for slot in table:
        first[slot.token] = min(slot.start, first.get(slot.token, slot.start))
        last[slot.token] = max(slot.end, last.get(slot.token, slot.end))
    return [last[token] - first[token] for token in first]


def run_line(
    load: float, tokens: int, spread: str = "fixed", seed: int = 0
) -> list[float]:
    """Time that each token is in line and in a stage, in units of a mean duration.

    - ``load``: share of the time in which the stage works, below 1; tokens come
      independently of one another
    - ``spread``: ``"fixed"``, every duration is the same, or ``"exponential"``
    """
    above_zero(load=load, **{"1 - load": 1 - load})
    whole(tokens=tokens)
    whole(0, seed=seed)
    varies = SPREADS[resolve(spread, SPREADS, "spread", exact=True)] > 0
    draw, now, free, spent = Random(seed), 0.0, 0.0, []
    for _ in range(tokens):
        now += draw.expovariate(load)
        free = max(free, now) + (draw.expovariate(1.0) if varies else 1.0)
        spent.append(free - now)
    return spent

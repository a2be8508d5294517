"""Slack, and what a clock that comes late gives and takes.

level: derive

Suppose registers that a clock reaches at different times, and between two of them
several ways, each with its delay: `ways`, in ns, the first register's own delay
included. The clock reaches the first at `launch` and the second at `capture`, every
`period`. What arrives must be there `setup` before the second's next clock.

- `slack(period, ways, launch, capture, setup)`: what is left of the time, in ns.
- `shortest(stages, clocks, setup)`: registers in a ring; `stages[i]` are the ways from
  register `i` to the next, the last leads to the first, `clocks[i]` is when the clock
  reaches register `i`. The shortest period at which no slack is below zero.
- `best(stages, setup)`: the same where you may choose `clocks`. Hold is left out.

Then read `stacklib.frontier.timing(place("serial_mac"), clock=...)`.

hint: A late clock at a register is time for the stage before it and none for the stage
behind it. Around the ring all of that adds up to nothing.
"""

import random
from functools import partial

from stacklib.grading import expect

# ---- your answer ----


def slack(period, ways, launch, capture, setup):
    """The second's next clock, less the latest arrival and the setup."""
    return period + capture - setup - (launch + max(ways))


def shortest(stages, clocks, setup):
    """Each stage asks for one; the largest decides."""
    after = clocks[1:] + clocks[:1]
    asked = zip(stages, clocks, after, strict=True)
    return max(max(ways) + setup + a - b for ways, a, b in asked)


def best(stages, setup):
    """Skews cancel around the ring: the mean is the least, and can be had."""
    return sum(map(max, stages)) / len(stages) + setup


# ---- tests ----

PICK = random.Random(3)


def tenths(low, high):
    """A drawn time of whole tenths."""
    return PICK.randint(low, high) / 10


PATHS = [
    {"ways": [tenths(5, 40) for _ in range(3)], "launch": early, "capture": late}
    for early, late in ((0.0, 0.3), (0.5, 0.1), (0.8, 0.2), (0.1, 0.9))
]
RINGS = [
    {"stages": [[tenths(5, 40) for _ in range(2)] for _ in range(n)], "setup": 0.2}
    for n in (2, 3, 5, 8)
]
CLOCKED = [{**r, "clocks": [tenths(0, 9) for _ in r["stages"]]} for r in RINGS]


def left(period, ways, launch, capture, setup, latest=max, sign=1):
    """The cycle with its skew, less what is needed."""
    return period + sign * (capture - launch) - latest(ways) - setup


def least(stages, clocks, setup, sign=1):
    """By the slack at no period at all."""
    n = len(stages)
    return max(
        sign * (clocks[i] - clocks[(i + 1) % n]) + max(stages[i]) + setup
        for i in range(n)
    )


def settled(stages, setup):
    """A period halved in, clocks set one after another around the ring."""
    low, high = 0.0, 100.0
    for _ in range(60):
        period = (low + high) / 2
        clock = 0.0  # of each register as early as its stage allows
        for ways in stages:
            clock += max(ways) + setup - period
        low, high = (period, high) if clock > 1e-12 else (low, period)
    return high


def test_slack():
    told = {
        "A late clock at the end gives time, one at the start takes it.": partial(
            left, sign=-1
        ),
        "The latest way decides, not the earliest.": partial(left, latest=min),
    }
    cases = [{"period": 5.0, "setup": 0.3, **p} for p in PATHS]
    expect.function_matches(slack, left, cases, unit="ns", mistakes=told, rel=1e-6)


def test_shortest():
    told = {
        "Later at the end is a shorter period.": partial(least, sign=-1),
        "Each stage has a skew of its own.": partial(least, sign=0),
    }
    expect.function_matches(
        shortest, least, CLOCKED, unit="ns", mistakes=told, rel=1e-6
    )


def test_best():
    told = {
        "The slowest stage may borrow from its neighbours.": lambda stages, setup: (
            max(map(max, stages)) + setup
        ),
        "Setup is paid in every cycle.": lambda stages, setup: settled(stages, 0),
    }
    expect.function_matches(best, settled, RINGS, unit="ns", mistakes=told, rel=1e-6)
    expect.reading("a ring of two", best(RINGS[0]["stages"], 0.2), "ns")

"""Write the scheduler that hides latency.

level: build

Warps share one issue slot a cycle. Each goes `rounds` times through the same loop:
one load, whose value arrives `latency` cycles later, then `work` instructions that
need it. A load issued in cycle 0 with latency 5 lets its first instruction issue in
cycle 5. A warp issues one instruction after another, in order.

Write first, from Little's law, how many warps fill every slot (not rounded). Then
the scheduler: it stays with a warp until that warp has to wait, then takes the one
that has been ready longest, and among those the one with the lowest number. Return
the cycles until the last instruction has been issued. The first cycle is cycle 0, so
a single instruction returns 1.

hint: Keep for each warp the first cycle in which it may issue and how far it is.
In each step go to the smallest of those cycles, or stay where you are if it has
passed. After a load the warp may issue `latency` cycles later, after anything else
in the next cycle.
"""

from functools import cache

from stacklib import gpu
from stacklib.grading import expect

# ---- your answer ----


def warps_needed(work, latency):
    """Warps that fill every slot, not rounded."""
    return (latency + work) / (1 + work)


def cycles(warps, work, latency, rounds):
    """Cycles until the last warp has issued its last instruction."""
    free, at = [0] * warps, [0] * warps
    now, last, length = 0, None, rounds * (1 + work)
    while True:
        left = [w for w in range(warps) if at[w] < length]
        if not left:
            return now
        now = max(now, min(free[w] for w in left))
        ready = [w for w in left if free[w] <= now]
        last = min(ready, key=lambda w: (w != last, free[w], w))
        is_load = at[last] % (1 + work) == 0
        free[last] = now + (latency if is_load else 1)
        at[last] += 1
        now += 1


# ---- tests ----

CASES = [
    {"warps": n, "work": w, "latency": t, "rounds": r}
    for n in (1, 2, 5, 8)
    for w, t in ((1, 4), (4, 36), (7, 20))
    for r in (1, 6)
]


@cache
def scheduled(warps, work, latency, rounds, policy="greedy"):
    done = gpu.schedule(warps, work=work, latency=latency, rounds=rounds, policy=policy)
    return done.cycles


def test_warps_needed():
    expect.function_matches(
        warps_needed,
        lambda **case: gpu.warps_needed(**case),
        [{"work": w, "latency": t} for w in (1, 4, 10) for t in (20, 400, 670)],
        mistakes={
            "The load takes a slot too: a round fills work + 1 of them.": (
                lambda work, latency: (latency + work) / work
            ),
            "While a warp works the round goes on: it lasts latency + work.": (
                lambda work, latency: latency / (1 + work)
            ),
        },
    )


def test_cycles():
    expect.function_matches(
        cycles,
        scheduled,
        CASES,
        rel=1e-9,
        mistakes={
            "Your warps take turns, and so wait together. Stay with one until it "
            "has to wait.": lambda **c: scheduled(**c, policy="lrr"),
            "Your warps run one after the other: while one waits, another can "
            "issue.": lambda **c: c["warps"] * scheduled(**{**c, "warps": 1}),
            "That is the cycle of the last instruction; from cycle 0 on it is one "
            "more that have passed.": lambda **c: scheduled(**c) - 1,
            "The value is there `latency` cycles after the load was issued; yours "
            "comes a cycle late.": (
                lambda **c: scheduled(**{**c, "latency": c["latency"] + 1})
            ),
        },
    )

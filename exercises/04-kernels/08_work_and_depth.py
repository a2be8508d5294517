"""Which scan is faster?

level: derive

Work is how many operations there are, depth how many levels must follow each other.
Suppose three algorithms on `n` numbers, `n` a power of two from 2 on:

- `reduce`: a tree. Level k = 1, 2, ... adds n / 2^k pairs, until one number is left.
- `scan`: at level k = 0, 1, ... each of the n places is written anew, as itself plus
  the place 2^k to its left, until 2^k reaches n. A place that has none so far to its
  left is copied, which counts as an operation.
- `lean`: a tree up as `reduce`, then one operation that puts a zero at the top, then
  the same levels down again, the last first. On the way down a pair costs an addition
  and a move: both count as operations, and one lane does both in one step.

Write `work(kind, n)` and `depth(kind, n)`, in closed form or as a loop, and
`steps(kind, n, lanes)`: how many steps it takes with so many lanes. A lane serves one
pair or place in a step, and no level begins before the last has ended.

hint: Try eight additions on three lanes: how many steps, and who is idle in the last?
Where then must the rounding happen, inside the sum over levels or outside?
"""

import math

from stacklib.grading import expect
from stacklib.kernels.rows.primitives import primitive

# ---- your answer ----


def levels(kind, n):
    """Pairs or places of each level, in order."""
    up = [n >> k for k in range(1, n.bit_length())]
    if kind == "reduce":
        return up
    if kind == "scan":
        return [n] * len(up)
    return [*up, 1, *reversed(up)]


def work(kind, n):
    """Operations."""
    if kind == "lean":
        return 3 * n - 2
    return sum(levels(kind, n))


def depth(kind, n):
    """Levels that follow each other."""
    return len(levels(kind, n))


def steps(kind, n, lanes):
    """Steps with so many lanes."""
    return sum(-(-pairs // lanes) for pairs in levels(kind, n))


# ---- tests ----

KINDS = {"reduce": "reduce", "scan": "scan", "lean": "scan-work-efficient"}
SIZES = (2, 8, 64, 1024, 8192)
CASES = [{"kind": kind, "n": n} for kind in KINDS for n in SIZES]
LANES = (1, 3, 32, 128, 1024)


def log(n):
    return round(math.log2(n))


def told_work(kind, n):
    return primitive(KINDS[kind]).work(n)


def told_depth(kind, n):
    return primitive(KINDS[kind]).depth(n)


def test_work():
    expect.function_matches(
        work,
        told_work,
        CASES,
        rel=1e-9,
        mistakes={
            "A place that is only copied counts as an operation, too.": (
                lambda kind, n: (
                    n * log(n) - (n - 1) if kind == "scan" else told_work(kind, n)
                )
            ),
            "On the way down a pair costs an addition and a move.": (
                lambda kind, n: 2 * n - 1 if kind == "lean" else told_work(kind, n)
            ),
            "The zero at the top is an operation.": (
                lambda kind, n: 3 * n - 3 if kind == "lean" else told_work(kind, n)
            ),
        },
    )


def test_depth():
    expect.function_matches(
        depth,
        told_depth,
        CASES,
        rel=1e-9,
        mistakes={
            "It goes up and down again, and the zero stands between: the levels of "
            "both ways follow each other.": lambda kind, n: log(n),
            "Between up and down stands the zero.": (
                lambda kind, n: 2 * log(n) if kind == "lean" else log(n)
            ),
            "An addition and a move of one pair are one step.": (
                lambda kind, n: 3 * log(n) + 1 if kind == "lean" else log(n)
            ),
        },
    )


def served(kind, n):
    """Pairs of each level."""
    up = [n // 2**k for k in range(1, log(n) + 1)]
    return {"reduce": up, "scan": [n for _ in up], "lean": [*up, 1, *up]}[kind]


def right(kind, n, lanes):
    return sum(math.ceil(pairs / lanes) for pairs in served(kind, n))


def test_steps():
    expect.function_matches(
        steps,
        right,
        [{**case, "lanes": lanes} for case in CASES for lanes in LANES],
        rel=1e-9,
        mistakes={
            "A level ends before the next begins: round up level by level.": (
                lambda kind, n, lanes: math.ceil(sum(served(kind, n)) / lanes)
            ),
            "That is the depth: it holds for as many lanes as a level has pairs.": (
                lambda kind, n, lanes: len(served(kind, n))
            ),
            "That is work over lanes, as if a move had a step of its own and no level "
            "waited.": lambda kind, n, lanes: math.ceil(told_work(kind, n) / lanes),
            "The lane that adds a pair moves it in the same step.": (
                lambda kind, n, lanes: (
                    right(kind, n, lanes) + (kind == "lean") * right("reduce", n, lanes)
                )
            ),
        },
    )
    for lanes in (1024, 32):
        scan, lean = (right(kind, 1024, lanes) for kind in ("scan", "lean"))
        expect.reading(
            f"scan and lean, 1,024 numbers, {lanes} lanes", f"{scan}, {lean}"
        )

"""What is a per cent of each rate worth, where two lines run at once?

level: derive

Suppose a step reads `a` bytes at `x` per second while it multiplies `b` times at `y`
per second, and then sends `c` bytes at `z` per second:
`T = max(a / x, b / y) + c / z`.

- `elasticities(a, x, b, y, c, z)`: per cent of `T` that a per cent more of each rate
  takes away, a list for `x`, `y` and `z`. Where both lines of the maximum are equal
  there is none: raise `ValueError`.
- `off(share, by)`: the share of the time that is gone when a rate whose elasticity is
  `share` gets better by `by`, to `1 + by` times what it was, and everything else stays.
- `needed(share, gone)`: how much better that rate must get for the share `gone` of the
  time to go; raise `ValueError` where no rate can.

Then ask `stacklib.frontier.binding_layer` for a step of yours and add up its `layers`.

hint: The derivative of a logarithm is the derivative over the value. The line that
waits for the other may get better as much as it likes.
"""

import math
from functools import partial

from stacklib.grading import expect

# ---- your answer ----


def elasticities(a, x, b, y, c, z):
    """Shares of the lines that count."""
    read, multiplied, sent = a / x, b / y, c / z
    if read == multiplied:
        raise ValueError(f"{read} s both: better and worse have two answers here")
    whole = max(read, multiplied) + sent
    longer = [read * (read > multiplied), multiplied * (multiplied > read)]
    return [part / whole for part in (*longer, sent)]


def off(share, by):
    """Its line shrinks to 1 / (1 + by)."""
    return share * by / (1 + by)


def needed(share, gone):
    """The same, solved for the rate."""
    if not 0 <= gone < share:
        raise ValueError(f"gone = {gone!r}: the whole line is {share}")
    return gone / (share - gone)


# ---- tests ----

STEP = {"a": 17.4e9, "x": 3.35e12, "b": 17.4e9, "y": 989e12, "c": 2e8, "z": 450e9}
WIDE = {**STEP, "b": 4e13, "y": 1e15}  # many answers at once


def moved(a, x, b, y, c, z, place=0, by=1e-6):
    """One rate a little better, and the time taken again."""

    def time(x, y, z):
        return max(a / x, b / y) + c / z

    rates = [r * (1 + by * (i == place)) for i, r in enumerate((x, y, z))]
    return math.log(time(x, y, z) / time(*rates)) / math.log1p(by)


def summed(a, x, b, y, c, z, place=0):
    """As if no line waited for another."""
    return (a / x, b / y, c / z)[place] / (a / x + b / y + c / z)


def test_elasticities():
    def one(place, **case):
        return elasticities(**case)[place]

    cases = [{**case, "place": p} for case in (STEP, WIDE) for p in range(3)]
    told = {"Two lines that run at once are no sum: the longer one counts.": summed}
    expect.function_matches(one, moved, cases, rel=1e-4, mistakes=told)


def test_off():
    def gone(share, by, over=None):
        return share * (1 - 1 / (1 + by)) if over is None else share * over(by)

    told = {
        "A tenth more of a rate is a tenth less of no time: 1 / 1.1 is left.": partial(
            gone, over=float
        )
    }
    cases = [{"share": s, "by": by} for s in (0.05, 0.38, 1) for by in (0.1, 1)]
    expect.function_matches(off, gone, cases, rel=1e-9, mistakes=told)


def test_needed():
    for share, gone in ((0.38, 0.1), (0.5, 0.25), (0.05, 0)):
        more = needed(share, gone)
        expect.reading(f"{gone:.0%} of the time, by a line of {share:.0%}", more)
        expect.number(share * (1 - 1 / (1 + more)), gone, rel=1e-9)


def test_what_has_no_answer_is_refused():
    corner = {**STEP, "b": 3.0, "y": 1.0, "a": 6.0, "x": 2.0}
    expect.refuses(elasticities, corner, because="both lines are equal there")
    for gone in (0.4, 0.38):
        asked = {"share": 0.38, "gone": gone}
        expect.refuses(needed, asked, because="the line is no longer than that")

"""Merge two softmaxes that saw a part each.

level: derive

A row of scores is cut in two, and each part is somewhere else: in another tile, on
another SM, on another GPU. Each part is told by three numbers:

- its maximum m;
- its sum l of exp(s - m) over its scores s;
- its weighted sum o of exp(s - m) * v over its scores s and values v, not divided by l.

A value is one number here. A part that saw no key is `NOTHING`.

- `partial(scores, values)`: the three numbers of a list of scores, at least one, and as
  many values.
- `merge(a, b)`: the three numbers of both together, from `a` and `b` alone. It must not
  matter which is which, nor whether one of them, or both, are `NOTHING`.
- `finish(state)`: the softmax's result, the mean of the values by their weights.

Scores may be 10,000: exp of that is no number any more, so no exponent may be above
zero.

hint: what was measured from m is measured from a larger m' after a multiplication by
exp(m - m'). Both parts may need it. With two NOTHINGs, m - m' is no number.
"""

import math
import random

from stacklib.grading import expect

NOTHING = (-math.inf, 0.0, 0.0)

# ---- your answer ----


def partial(scores, values):
    """Maximum, sum of weights, weighted sum."""
    most = max(scores)
    weights = [math.exp(s - most) for s in scores]
    return most, sum(weights), sum(w * v for w, v in zip(weights, values, strict=True))


def merge(a, b):
    """The same of two parts together."""
    most = max(a[0], b[0])
    if most == -math.inf:
        return NOTHING
    left, right = math.exp(a[0] - most), math.exp(b[0] - most)
    return most, a[1] * left + b[1] * right, a[2] * left + b[2] * right


def finish(state):
    """The result of the softmax."""
    return state[2] / state[1]


# ---- tests ----

RNG = random.Random(16)
HALVES = {
    "the larger half second": (
        [1.0, 3.0],
        [1.0, 2.0],
        [2.0, 5.0, 4.0],
        [3.0, 4.0, 5.0],
    ),
    "the larger half first": ([6.0, 3.0], [1.0, -2.0], [2.0, 5.0], [3.0, 4.0]),
    "equal maxima": ([2.0, 1.0], [1.0, 2.0], [2.0], [7.0]),
    "scores of thousands": ([9_999.0, 9_998.0], [1.0, 2.0], [10_000.0], [3.0]),
    "scores far below": ([-9_999.0], [1.0], [-10_000.0, -9_998.5], [2.0, 3.0]),
    "halves far apart": ([500.0], [1.0], [-500.0], [2.0]),
    "drawn": tuple([RNG.gauss(0, 2) for _ in range(n)] for n in (5, 5, 9, 9)),
}


def told(scores, values):
    """By sums of fractions of the largest."""
    most = max(scores)
    weights = [math.exp(s - most) for s in scores]
    pairs = zip(weights, values, strict=True)
    return most, math.fsum(weights), math.fsum(w * v for w, v in pairs)


def three(value):
    items = expect.sequence(value, "maximum, sum and weighted sum", 3)
    return [float(item) for item in items]


def near(mine, right):
    return all(
        math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-12)
        for a, b in zip(mine, right, strict=True)
    )


def called(f, *args):
    try:
        return f(*args)
    except OverflowError:
        raise expect.Mistake(
            "exp of a large number: subtract the maximum before you take it"
        ) from None


def test_partial():
    for name, (s, v, *_) in HALVES.items():
        mine, right = three(called(partial, list(s), list(v))), told(s, v)
        if near(mine, right):
            continue
        if near(mine, (right[0], right[1], right[2] / right[1])):
            raise expect.Mistake(
                "o is already divided by l: two of those cannot be added. Divide once, "
                "in finish."
            )
        raise expect.Mistake(f"{name}: {mine} instead of {list(right)}")


SLIPS = {
    "Sums and outputs were added as they are: each part is measured from its own "
    "maximum.": lambda a, b: (max(a[0], b[0]), a[1] + b[1], a[2] + b[2]),
    "The factor is turned round: it must be exp(m - m'), which is never above one.": (
        lambda a, b: shrunk(a, b, lambda m, new: new - m)
    ),
    "Only the sum is corrected. The weighted sum was measured from the same maximum.": (
        lambda a, b: (*shrunk(a, b, lambda m, new: m - new)[:2], a[2] + b[2])
    ),
    "Only the first part is corrected. The second one may have the smaller maximum.": (
        lambda a, b: shrunk(a, b, lambda m, new: m - new if m == a[0] else 0.0)
    ),
}


def shrunk(a, b, exponent):
    new = max(a[0], b[0])
    left, right = (math.exp(min(700, exponent(m, new))) for m in (a[0], b[0]))
    return new, a[1] * left + b[1] * right, a[2] * left + b[2] * right


def test_merge():
    failed = []
    for name, (s, v, t, w) in HALVES.items():
        a, b = told(s, v), told(t, w)
        for one, other in ((a, b), (b, a)):
            mine = three(called(merge, one, other))
            if not near(mine, told(s + t, v + w)):
                failed.append((name, one, other, mine))
    if not failed:
        return
    for text, slip in SLIPS.items():
        near_ones = [f for f in failed if abs(f[1][0] - f[2][0]) < 100]
        if near_ones and all(near(slip(a, b), mine) for _, a, b, mine in near_ones):
            raise expect.Mistake(text)
    name, a, b, mine = failed[0]
    raise expect.Mistake(f"{name}: {mine} from {a} and {b}")


def test_nothing():
    """A part that saw no key, as where a mask leaves a tile empty."""
    some = told([1.0, 2.0], [3.0, 4.0])
    for a, b, right in (
        (NOTHING, some, some),
        (some, NOTHING, some),
        (NOTHING, NOTHING, NOTHING),
    ):
        mine = three(merge(a, b))
        if any(map(math.isnan, mine)):
            raise expect.Mistake("not a number: -inf less -inf, where nothing was seen")
        if not near(mine[1:], right[1:]):
            raise expect.Mistake(f"{mine} from {a} and {b}")


def test_finish():
    for name, (s, v, t, w) in HALVES.items():
        right = told(s + t, v + w)
        mine = called(finish, merge(told(s, v), told(t, w)))
        expect.number(mine, right[2] / right[1], rel=1e-9)
        if name == "drawn":
            expect.reading("output of a row in two parts", round(float(mine), 6))

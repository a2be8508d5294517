"""Put the pieces together.

level: build

A decode step has one query. Suppose its keys are cut into pieces, and each piece is
worked on by a block that sees no other. Build both ends, in plain Python or NumPy:

- `attend(scores, values)`: what one piece leaves, a tuple `(top, total, output)`: its
  largest score, the sum of `exp(score - top)` over its keys, and its output, the values
  weighted by `exp(score - top)` and divided by `total`. `values` has a row for each
  score, a list of numbers; `output` is one such row.
- `merge(parts)`: the same three for all keys together, from a list of such tuples.
  Whoever merges merged tuples again must get the same.

A mask may hide all keys of a piece. Suppose such a piece arrives at `merge` as
`(-inf, 0.0, row of zeros)`: it has no part in the result. At least one piece of each
list has keys, and `attend` is given no piece without them. Scores may be large: no
`exp` of a positive number is needed.

hint: A piece's weights were taken against its own largest score. What turns them into
weights against the largest of all? It is one factor a piece.
"""

import math
import random
from itertools import pairwise

from stacklib.grading import expect

# ---- your answer ----


def attend(scores, values):
    """Largest score, sum of weights and output of one piece."""
    top = max(scores)
    weights = [math.exp(score - top) for score in scores]
    total = sum(weights)
    columns = zip(*values, strict=True)
    output = [
        sum(w * x for w, x in zip(weights, column, strict=True)) / total
        for column in columns
    ]
    return top, total, output


def merge(parts):
    """The same three for all pieces together."""
    top = max(most for most, _, _ in parts)
    shares = [total * math.exp(most - top) for most, total, _ in parts]
    total = sum(shares)
    columns = zip(*(output for _, _, output in parts), strict=True)
    output = [
        sum(s * x for s, x in zip(shares, column, strict=True)) / total
        for column in columns
    ]
    return top, total, output


# ---- tests ----

RNG = random.Random(47)
NOTHING = -math.inf


def drawn(keys, spread=2.0, wide=3, up=0.0):
    scores = [up + RNG.gauss(0, spread) for _ in range(keys)]
    return scores, [[RNG.gauss(0, 1) for _ in range(wide)] for _ in range(keys)]


def exact(scores, values):
    """In exact sums, against the largest score."""
    top = max(scores)
    weights = [math.exp(score - top) for score in scores]
    total = math.fsum(weights)
    rows = zip(*values, strict=True)
    output = [
        math.fsum(w * x for w, x in zip(weights, row, strict=True)) / total
        for row in rows
    ]
    return top, total, output


CASES = {
    "pieces of one size": (drawn(12), [4, 8]),
    "pieces of all sizes": (drawn(23), [1, 3, 10, 11]),
    "the largest score comes first": (([9.0, *drawn(7)[0]], drawn(8)[1]), [3, 5]),
    "scores far apart": (drawn(16, 40.0), [4, 8, 12]),
    "large scores": (drawn(10, 3.0, up=900.0), [5]),
    "very negative scores": (drawn(10, 3.0, up=-900.0), [2, 7]),
    "one piece": (drawn(6), []),
}


def cut(name):
    """The pieces of a case as `(scores, values)`."""
    (scores, values), cuts = CASES[name]
    edges = [0, *cuts, len(scores)]
    return [(scores[a:b], values[a:b]) for a, b in pairwise(edges)]


def three(found):
    top, total, output = expect.sequence(found, "(top, total, output)", 3)
    return expect.read(top), expect.read(total), expect.numbers(output, "an output")


def near(mine, right):
    flat = zip([*mine[:2], *mine[2]], [*right[:2], *right[2]], strict=True)
    return len(mine[2]) == len(right[2]) and all(
        math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-12) for a, b in flat
    )


def run(function, *given):
    try:
        return three(function(*given))
    except OverflowError:
        raise expect.Mistake(
            "`exp` of a large score overflows. Take the largest score away before."
        ) from None


def test_attend():
    for name in CASES:
        for scores, values in cut(name):
            right = exact(scores, values)
            mine = run(attend, list(scores), [list(row) for row in values])
            if len(mine[2]) != len(right[2]):
                raise expect.Mistake(f"{name}: an output has a number for each column")
            if near(mine, right):
                continue
            if near((*mine[:2], [x / mine[1] for x in mine[2]]), right):
                raise expect.Mistake("The output is not divided by the sum of weights.")
            raise expect.Mistake(f"{name}: {mine} instead of {right}")


def by(parts, share, divided=True):
    """A merge whose piece weighs so much."""
    top = max(m for m, _, _ in parts)
    shares = [share(m, s, top) for m, s, _ in parts]
    total = sum(shares)
    rows = zip(*(o for _, _, o in parts), strict=True)
    output = [
        sum(a * x for a, x in zip(shares, row, strict=True)) / (total if divided else 1)
        for row in rows
    ]
    return top, total, output


SLIPS = {
    "All pieces weigh the same with you. One with large scores must weigh more.": (
        lambda parts: by(parts, lambda m, s, top: 1.0)
    ),
    "The sums were taken against different maxima. A piece's sum needs a factor before "
    "it is added to another's.": lambda parts: by(parts, lambda m, s, top: s),
    "A piece weighs as much as its largest score alone; its sum has to come in.": (
        lambda parts: by(parts, lambda m, s, top: math.exp(m - top))
    ),
    "The outputs are weighted but not divided by the new sum.": (
        lambda parts: by(parts, lambda m, s, top: s * math.exp(m - top), False)
    ),
}


def told(parts, mine, right, name):
    for text, slip in SLIPS.items():
        if near((0, 0, mine[2]), (0, 0, slip(parts)[2])):
            raise expect.Mistake(text)
    if near((0, 0, mine[2]), (0, 0, right[2])):
        raise expect.Mistake(
            f"{name}: the output is right, but ({mine[0]:.6g}, {mine[1]:.6g}) are not "
            f"the largest score and the sum, ({right[0]:.6g}, {right[1]:.6g}). "
            "A second merge needs them."
        )
    raise expect.Mistake(f"{name}: {mine} instead of {right}")


def test_merge():
    for name in CASES:
        parts = [exact(*piece) for piece in cut(name)]
        right = exact(*CASES[name][0])
        mine = run(merge, list(parts))
        if not near(mine, right):
            told(parts, mine, right, name)


def test_hidden():
    """Pieces of which the query sees nothing."""
    name = "pieces of all sizes"
    parts = [exact(*piece) for piece in cut(name)]
    empty = (NOTHING, 0.0, [0.0] * 3)
    for hidden in ([empty, *parts], [*parts, empty], [parts[0], empty, *parts[1:]]):
        try:
            mine = run(merge, list(hidden))
        except (ZeroDivisionError, expect.Mistake) as error:
            raise expect.Mistake(
                f"a piece without keys spoils the merge: {error}"
            ) from None
        if not near(mine, exact(*CASES[name][0])):
            raise expect.Mistake("a piece without keys must not change the result")


def test_again():
    """Merged pieces merge."""
    parts = [exact(*piece) for piece in cut("scores far apart")]
    pairs = [merge(parts[:2]), merge(parts[2:])]
    mine = run(merge, pairs)
    if not near(mine, exact(*CASES["scores far apart"][0])):
        raise expect.Mistake("merging what was merged gives another result")
    expect.reading("sum of all weights", f"{mine[1]:.4f}")

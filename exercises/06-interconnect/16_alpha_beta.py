"""Alpha and beta from times.

level: derive
project: P6.4

Suppose two processes in two network namespaces: messages of several sizes went from
one to the other, and each took so many seconds one way. The time of a message is
alpha + beta size. Noise grows with the time, so that each point counts by one over the
square of its time; that is least squares of the relative error.

- `find(sizes, times)`: alpha in seconds and beta in seconds a byte, as a pair.
- `half_size(alpha, beta)`: the bytes of a message whose bytes take as long as alpha.
- `ring(alpha, beta, ranks, size)`: seconds of a ring all-reduce of `size` bytes a rank.

hint: write down the sum that has to be least, each square over its time's square, and
set both derivatives to zero. With weighted means the two equations become short.
"""

import random

from stacklib.grading import expect

# ---- your answer ----


def find(sizes, times):
    """Alpha in seconds and beta in seconds a byte."""
    weights = [1 / t**2 for t in times]
    total = sum(weights)
    x = sum(w * s for w, s in zip(weights, sizes, strict=True)) / total
    y = sum(w * t for w, t in zip(weights, times, strict=True)) / total
    both = zip(weights, sizes, times, strict=True)
    up = sum(w * (s - x) * (t - y) for w, s, t in both)
    down = sum(w * (s - x) ** 2 for w, s in zip(weights, sizes, strict=True))
    return y - up / down * x, up / down


def half_size(alpha, beta):
    """Bytes that take as long as alpha."""
    return alpha / beta


def ring(alpha, beta, ranks, size):
    """Seconds of a ring all-reduce."""
    return 2 * (ranks - 1) * (alpha + size / ranks * beta)


# ---- tests ----

SIZES = [4096.0 * 2**k for k in range(9)]
LINKS = {
    "bare": (88e-6, 1 / 1.8e9),
    "1 Gbit/s": (70e-6, 1 / 110e6),
    "2 ms away": (2.1e-3, 1 / 30e6),
}


def drawn(name, noise=0.05):
    draw = random.Random(name)
    alpha, beta = LINKS[name]
    return [(alpha + beta * s) * (1 + draw.gauss(0, noise)) for s in SIZES]


def fitted(sizes, times, weights):
    total = sum(weights)
    x = sum(w * s for w, s in zip(weights, sizes, strict=True)) / total
    y = sum(w * t for w, t in zip(weights, times, strict=True)) / total
    up = sum(
        w * (s - x) * (t - y) for w, s, t in zip(weights, sizes, times, strict=True)
    )
    beta = up / sum(w * (s - x) ** 2 for w, s in zip(weights, sizes, strict=True))
    return y - beta * x, beta


def right(sizes, times):
    return fitted(sizes, times, [1 / t**2 for t in times])


SLIPS = {
    "Every point counts alike: the largest message decides, and alpha is lost in its "
    "noise. Weigh by one over the square of the time.": lambda s, t: fitted(
        s, t, [1.0] * len(t)
    ),
    "One over the time is not enough: errors are squared, so the weight is, too.": (
        lambda s, t: fitted(s, t, [1 / x for x in t])
    ),
    "That is bytes a second; beta is seconds a byte.": lambda s, t: (
        right(s, t)[0],
        1 / right(s, t)[1],
    ),
    "The smallest message's time is not alpha: it holds its bytes, too.": (
        lambda s, t: (t[0], right(s, t)[1])
    ),
    "The pair is alpha, then beta.": lambda s, t: right(s, t)[::-1],
}


def same(mine, told):
    return all(abs(a / b - 1) < 1e-6 for a, b in zip(mine, told, strict=True))


def test_find():
    cases = [(SIZES, drawn(name)) for name in LINKS]
    mine = [tuple(map(float, find(list(s), list(t)))) for s, t in cases]
    if all(same(got, right(*case)) for got, case in zip(mine, cases, strict=True)):
        return
    for text, slip in SLIPS.items():
        if all(same(got, slip(*case)) for got, case in zip(mine, cases, strict=True)):
            raise expect.Mistake(text)
    raise expect.Mistake(f"bare: {mine[0]} instead of {right(*cases[0])}")


def test_half_size():
    expect.function_matches(
        half_size,
        lambda alpha, beta: alpha / beta,
        [{"alpha": a, "beta": b} for a, b in LINKS.values()],
        unit="B",
        rel=1e-9,
        mistakes={
            "Upside down: alpha over beta has the unit of bytes.": (
                lambda alpha, beta: beta / alpha
            ),
        },
    )


def test_ring():
    expect.function_matches(
        ring,
        lambda alpha, beta, ranks, size: (
            2 * (ranks - 1) * (alpha + size / ranks * beta)
        ),
        [
            {"alpha": a, "beta": b, "ranks": n, "size": s}
            for a, b in LINKS.values()
            for n in (2, 4, 8)
            for s in (16384, 1 << 24)
        ],
        unit="s",
        rel=1e-9,
        mistakes={
            "A step of a ring moves a part of the array, not all of it.": (
                lambda alpha, beta, ranks, size: 2 * (ranks - 1) * (alpha + size * beta)
            ),
            "That is half of it: the sums have to go around, too.": (
                lambda alpha, beta, ranks, size: (
                    (ranks - 1) * (alpha + size / ranks * beta)
                )
            ),
        },
    )

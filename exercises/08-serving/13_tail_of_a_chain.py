"""The tail of a chain.

level: derive

An agent asks one model after another. Each hop takes an exponential time of mean one,
and no hop knows of another.

- `quantile(sample, q)`: the smallest value of a sample that at least a share `q` of its
  values do not exceed.
- `later(hops, t)`: the probability that a chain of so many hops takes longer than `t`.
- `overstated(hops, q)`: how many times the chain's own `q`-th quantile the sum of the
  hops' is. A quantile is the time that a share `q` does not exceed.

hint: A chain takes longer than t if fewer than `hops` events of a Poisson stream of
rate one come before t. For the last one look for the t at which `later` is 1 - q: it
falls as t grows, so halve an interval until it is short.
"""

import random
from math import ceil, exp, factorial, log

from stacklib.grading import expect
from stacklib.serving.agentic.tails import Hop, exponential_tail

# ---- your answer ----


def quantile(sample, q):
    """The smallest value that a share q does not exceed."""
    ordered = sorted(sample)
    return ordered[ceil(q * len(ordered) - 1e-9) - 1]


def later(hops, t):
    """Probability that the chain takes longer than t."""
    return exp(-t) * sum(t**k / factorial(k) for k in range(hops))


def overstated(hops, q):
    """Sum of the hops' quantiles over that of the chain."""
    low, high = 0.0, 100.0 * hops
    for _ in range(80):
        middle = (low + high) / 2
        if later(hops, middle) > 1 - q:
            low = middle
        else:
            high = middle
    return hops * -log(1 - q) / high


# ---- tests ----

DRAW = random.Random(13)
SAMPLES = [
    {"sample": [3, 1, 2], "q": 0.5},
    {"sample": list(range(100, 0, -1)), "q": 0.99},
    {"sample": [5], "q": 0.99},
    {"sample": [DRAW.expovariate(1) for _ in range(250)], "q": 0.9},
]
TIMES = [{"hops": hops, "t": t} for hops in (1, 2, 7) for t in (0.5, 3.0, 14.0)]
CHAINS = [{"hops": hops, "q": q} for hops in (2, 4, 7) for q in (0.9, 0.99)]


def right_quantile(sample, q):
    """Counted: how many values each one is not exceeded by."""
    enough = (
        x for x in sample if sum(y <= x for y in sample) >= q * len(sample) - 1e-9
    )
    return min(enough)


def next_up(sample, q):
    """The value after it, where there is one."""
    above = [x for x in sample if x > right_quantile(sample, q)]
    return min(above, default=right_quantile(sample, q))


def right_later(hops, t):
    """One hop more takes longer where one fewer does, or where the last one is on."""
    if hops == 1:
        return exp(-t)
    last = 1.0
    for k in range(1, hops):
        last *= t / k
    return right_later(hops - 1, t) + exp(-t) * last


def right_ratio(hops, q):
    return exponential_tail([Hop(1.0)] * hops, q).ratio


def test_quantile():
    expect.function_matches(
        quantile,
        right_quantile,
        SAMPLES,
        mistakes={
            "Places are counted from zero: yours is the value after it.": next_up,
            "That is the mean; a quantile is one of the values.": (
                lambda sample, q: sum(sample) / len(sample)
            ),
        },
    )


def test_later():
    expect.function_matches(
        later,
        right_later,
        TIMES,
        rel=1e-6,
        mistakes={
            "With as many events as hops the chain has ended: the sum stops before.": (
                lambda hops, t: right_later(hops + 1, t)
            ),
            "That is how many have ended by t; those that take longer are asked for.": (
                lambda hops, t: 1 - right_later(hops, t)
            ),
            "That is one hop of the chain's mean; a chain varies less.": (
                lambda hops, t: exp(-t / hops)
            ),
        },
    )


def test_overstated():
    expect.function_matches(
        overstated,
        right_ratio,
        CHAINS,
        rel=1e-4,
        mistakes={
            "The chain is taken to be slow in every hop at once: then the sum would be "
            "right, and nothing overstated.": lambda hops, q: 1.0,
            "That is one hop's quantile over the chain's; add up all of them.": (
                lambda hops, q: right_ratio(hops, q) / hops
            ),
            "That is over the chain's mean, and its quantile is asked for.": (
                lambda hops, q: -log(1 - q)
            ),
        },
    )
    expect.reading("seven hops, the 99th", f"{overstated(7, 0.99):.2f}")

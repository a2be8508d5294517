"""Equal or not?

level: build

Two schemes have read the same documents. Of each document you have the cost under
either, in nats, and its length. Does one of them predict better, or can these documents
not tell?

- `perplexity(nats, tokens)`: of all documents together, as one long text.
- `interval(first, second, sizes, draws)`: the interval of the difference, first less
  second, in bits a byte. Each row of `draws` names documents, some more than once; the
  same documents are drawn for both. A draw's difference is that of the drawn documents
  as one text. Of all draws, leave out a fortieth at either end: `np.quantile`.
- `decide(low, high)`: `"first"` if the first predicts better by the whole interval,
  `"second"` if the second does, and `"equal"` if the documents cannot tell.

hint: A long document counts by its length: sum before you divide. Perplexity is a mean
in logarithms; a mean of perplexities is not. Bits are nats over the logarithm of two.
"""

import math

import numpy as np

from stacklib.grading import expect

# ---- your answer ----


def perplexity(nats, tokens):
    """Of all documents together."""
    return math.exp(sum(nats) / sum(tokens))


def interval(first, second, sizes, draws):
    """Low and high end of the difference in bits a byte."""
    less = (first - second) / np.log(2)
    found = less[draws].sum(axis=1) / sizes[draws].sum(axis=1)
    return np.quantile(found, 0.025), np.quantile(found, 0.975)


def decide(low, high):
    """Which predicts better, by the whole interval."""
    if high < 0:
        return "first"
    return "second" if low > 0 else "equal"


# ---- tests ----

RNG = np.random.default_rng(714)
MANY = 40
SIZES = RNG.integers(200, 9000, MANY)
TOKENS = SIZES // 3
HARD = RNG.uniform(0.7, 1.6, MANY)  # nats a byte: documents differ a lot
BASE = HARD * SIZES
SCHEMES = {
    "worse by a little": BASE * 1.004 + RNG.normal(0, 0.002, MANY) * SIZES,
    "hardly another": BASE + RNG.normal(0, 0.004, MANY) * SIZES,
    "better": BASE - 0.01 * SIZES + RNG.normal(0, 0.004, MANY) * SIZES,
}
LN2 = math.log(2)
DRAWS = RNG.integers(MANY, size=(2000, MANY))
OTHER = RNG.integers(MANY, size=(2000, MANY))


def test_perplexity():
    def split(wrong):
        return lambda nats, tokens: wrong(np.array(nats), np.array(tokens))

    expect.function_matches(
        perplexity,
        split(lambda n, t: np.exp(np.log(np.exp(n / t)) @ t / t.sum())),
        [
            {"nats": BASE[:3].tolist(), "tokens": TOKENS[:3].tolist()},
            {"nats": BASE.tolist(), "tokens": TOKENS.tolist()},
            {"nats": [7.0, 120.0], "tokens": [1, 60]},
        ],
        rel=1e-6,
        mistakes={
            "That is a mean of perplexities; the mean is one of logarithms.": (
                split(lambda n, t: np.exp(n / t) @ t / t.sum())
            ),
            "A mean over documents, not tokens: short ones weigh like long ones.": (
                split(lambda n, t: np.exp((n / t).mean()))
            ),
            "A mean of the documents' perplexities, each weighed alike.": (
                split(lambda n, t: np.exp(n / t).mean())
            ),
            "That is the cost of a token in nats; perplexity is e to it.": (
                split(lambda n, t: n.sum() / t.sum())
            ),
        },
    )


def looped(first, second, draws, others=None, ends=(0.025, 0.975), unit=LN2):
    """Draw by draw."""
    found = []
    for a, b in zip(draws, draws if others is None else others, strict=True):
        one = sum(first[i] for i in a) / sum(SIZES[i] for i in a)
        two = sum(second[i] for i in b) / sum(SIZES[i] for i in b)
        found.append((one - two) / unit)
    return np.array([np.quantile(found, end) for end in ends])


def weighed_alike(first, second, draws):
    """A mean over documents of their differences a byte."""
    each = (first - second) / SIZES / math.log(2)
    return np.quantile(each[draws].mean(axis=1), [0.025, 0.975])


def test_interval():
    few = DRAWS[:400]
    for name, costs in SCHEMES.items():
        given = costs.copy(), BASE.copy(), SIZES.copy(), few.copy()
        pair = expect.sequence(interval(*given), "low and high end", 2)
        mine = np.array([expect.read(end) for end in pair])
        right = looped(costs, BASE, few)
        reach = right[1] - right[0]
        if np.allclose(mine, right, atol=0.02 * reach):
            continue
        if mine[0] > mine[1]:
            raise expect.Mistake(f"{name}: the low end first")
        slips = {
            "first less second is asked for; yours is the other way round": (
                -right[::-1]
            ),
            "in nats; bits are asked for": looped(costs, BASE, few, unit=1.0),
            "documents weigh alike, long or short; draw a text, not a mean": (
                weighed_alike(costs, BASE, few)
            ),
            "a twentieth left out at either end; together a twentieth": looped(
                costs, BASE, few, ends=(0.05, 0.95)
            ),
        }
        for text, wrong in slips.items():
            if np.allclose(mine, wrong, atol=0.02 * reach):
                raise expect.Mistake(f"{name}: {text}")
        if mine[1] - mine[0] > 5 * reach:
            raise expect.Mistake(
                f"{name}: {(mine[1] - mine[0]) / reach:.0f} times too wide: "
                "draw the same documents for both"
            )
        raise expect.Mistake(
            f"{name}: from {mine[0]:.5f} to {mine[1]:.5f} instead of from "
            f"{right[0]:.5f} to {right[1]:.5f}"
        )
    for name, costs in SCHEMES.items():
        low, high = interval(costs, BASE, SIZES, DRAWS)
        wide = looped(costs, BASE, few, OTHER[:400])
        expect.reading(f"{name}, paired", f"{low:+.4f} to {high:+.4f} bit/B")
        expect.reading(f"{name}, unpaired", f"{wide[0]:+.3f} to {wide[1]:+.3f} bit/B")


ENDS = {
    (-0.003, -0.001): "first",
    (0.001, 0.004): "second",
    (-0.002, 0.0001): "equal",
    (-0.0001, 0.02): "equal",
    (-0.5, 0.5): "equal",
}


def test_decide():
    mine = {ends: decide(*ends) for ends in ENDS}
    if mine == ENDS:
        return
    swapped = {"first": "second", "second": "first", "equal": "equal"}
    if all(mine[ends] == swapped[right] for ends, right in ENDS.items()):
        raise expect.Mistake("a difference below zero means that the first costs less")
    for ends, right in ENDS.items():
        if right == "equal" and mine[ends] in ("first", "second"):
            raise expect.Mistake(
                f"decide{ends}: {mine[ends]!r}, although zero lies within the interval"
            )
        expect.equal(mine[ends], right, among=("first", "second", "equal"))

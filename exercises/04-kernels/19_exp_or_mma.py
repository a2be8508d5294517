"""Exponentials or products?

level: derive

A tile of attention has `rows` queries, `columns` keys and a head of `d` numbers. On one
SM its two products, Q K^T and P V, run on the tensor cores, which do `tensor` FLOP per
cycle; a multiply-add is two. Its exponentials, one for each score, run on special units
that make `exp` of them per cycle. Nothing else is counted.

- `cycles(rows, columns, d, tensor, exp)`: cycles of both products together, and cycles
  of the exponentials, as two numbers.
- `binds(d, tensor, exp)`: "products" or "exponentials", whichever takes longer; "both"
  where they take equally long. Rows and columns do not matter: see why.
- `even_head(tensor, exp)`: the head size at which they take equally long.
- `share(d, tensor, exp, groups)`: the share of the time in which the tensor cores
  multiply, over many tiles. With 1 group a tile's products and its exponentials follow
  each other and nothing overlaps. With 2 groups they overlap as well as two units can:
  the one that has more to do never waits.
- `software_share(d, tensor, exp)`: suppose a share of the exponentials is made
  elsewhere, for nothing. The smallest share with which exponentials no longer take
  longer than the products; 0 where they do not anyway.

hint: for a score the products cost 4 d FLOP. With 2 groups two tiles are under way; the
pace is set by the larger of them, not by their sum.
"""

import math

from stacklib.grading import expect

# ---- your answer ----


def cycles(rows, columns, d, tensor, exp):
    """Cycles of the products, and of the exponentials."""
    scores = rows * columns
    return 4 * scores * d / tensor, scores / exp


def binds(d, tensor, exp):
    """Which of the two takes longer."""
    products, exponentials = cycles(1, 1, d, tensor, exp)
    if products == exponentials:
        return "both"
    return "products" if products > exponentials else "exponentials"


def even_head(tensor, exp):
    """The head size at which they take equally long."""
    return tensor / (4 * exp)


def share(d, tensor, exp, groups):
    """Share of the time in which the tensor cores multiply."""
    products, exponentials = cycles(1, 1, d, tensor, exp)
    together = max if groups == 2 else lambda a, b: a + b
    return products / together(products, exponentials)


def software_share(d, tensor, exp):
    """Share of the exponentials to make elsewhere."""
    products, exponentials = cycles(1, 1, d, tensor, exp)
    return max(0.0, 1 - products / exponentials)


# ---- tests ----

CHIPS = {  # FLOP and exponentials of an SM per cycle
    "A100, BF16": (2048, 16),
    "H100, BF16": (4096, 16),
    "H100, FP8": (8192, 16),
    "B200, BF16": (8192, 16),
    "B300, BF16": (8192, 32),
    "B200, FP8": (16384, 16),
}
HEADS = (64, 128, 256)
CASES = [
    {"d": d, "tensor": tensor, "exp": exp}
    for tensor, exp in CHIPS.values()
    for d in HEADS
]
WORDS = ("products", "exponentials", "both")


def both(rows, columns, d, tensor, exp, flop=4):
    return flop * rows * columns * d / tensor, rows * columns / exp


def test_cycles():
    slips = {
        "There are two products, not one.": 2,
        "A multiply-add is two FLOP: an addition, too.": 1,
        "Each of the two products is 2 FLOP a score and number, 4 in all.": 8,
    }
    for rows, columns in ((128, 128), (64, 192)):
        for case in CASES:
            found = expect.call(cycles, {"rows": rows, "columns": columns, **case})
            mine = expect.numbers(found, "cycles of products and of exponentials")
            if len(mine) != 2:
                raise expect.Mistake("two numbers are asked for")
            right = both(rows, columns, **case)
            if math.isclose(mine[1], right[0]) and math.isclose(mine[0], right[1]):
                if not math.isclose(*right):
                    raise expect.Mistake("products first, then exponentials")
            for text, flop in slips.items():
                if math.isclose(mine[0], both(rows, columns, **case, flop=flop)[0]):
                    raise expect.Mistake(text)
            if math.isclose(mine[1], right[1] * case["d"]):
                raise expect.Mistake(
                    "An exponential is taken once a score, whatever the head size."
                )
            for value, wanted in zip(mine, right, strict=True):
                expect.number(value, wanted, rel=1e-9)


def longer(d, tensor, exp):
    products, exponentials = both(1, 1, d, tensor, exp)
    if products == exponentials:
        return "both"
    return "products" if products > exponentials else "exponentials"


def test_binds():
    for case in CASES:
        mine = expect.call(binds, case)
        if mine in WORDS and mine != longer(**case):
            if longer(**case) == "both":
                raise expect.Mistake(f"{case}: they take equally long, which is both")
            raise expect.Mistake(f"{case}: {mine} do not take longer")
        expect.equal(mine, longer(**case), among=WORDS)
    expect.reading("B200, BF16, head 128", binds(128, 8192, 16))


def test_even_head():
    expect.function_matches(
        even_head,
        lambda tensor, exp: tensor / (4 * exp),
        [{"tensor": t, "exp": e} for t, e in CHIPS.values()],
        rel=1e-6,
        mistakes={
            "That is with one product of the two.": lambda tensor, exp: (
                tensor / (2 * exp)
            ),
            "That is with multiply-adds counted as one FLOP.": lambda tensor, exp: (
                tensor / exp
            ),
        },
    )


def of_the_other(d, tensor, exp, groups):
    """The exponential units' share of the time."""
    p, e = both(1, 1, d, tensor, exp)
    return e / (max(p, e) if groups == 2 else p + e)


def test_share():
    def right(d, tensor, exp, groups):
        p, e = both(1, 1, d, tensor, exp)
        return p / (max(p, e) if groups == 2 else p + e)

    expect.function_matches(
        share,
        right,
        [{**case, "groups": n} for case in CASES for n in (1, 2)],
        rel=1e-6,
        mistakes={
            "That is the share of the exponential units.": of_the_other,
            "With 2 groups the times do not add up: the larger is the pace.": (
                lambda d, tensor, exp, groups: right(d, tensor, exp, 1)
            ),
            "With 1 group nothing overlaps: the times add up.": (
                lambda d, tensor, exp, groups: right(d, tensor, exp, 2)
            ),
        },
    )


def test_software_share():
    expect.function_matches(
        software_share,
        lambda d, tensor, exp: max(0.0, 1 - 4 * d * exp / tensor),
        CASES,
        rel=1e-6,
        mistakes={
            "That is the share that stays.": lambda d, tensor, exp: min(
                1.0, 4 * d * exp / tensor
            ),
            "A share below zero: where products take longer, none has to move.": (
                lambda d, tensor, exp: 1 - 4 * d * exp / tensor
            ),
        },
    )

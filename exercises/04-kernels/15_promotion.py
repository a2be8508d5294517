"""What a short sum loses.

level: derive

Suppose a tensor core that adds FP8 products as Hopper's was found to, and keeps 14 bits
of a sum. In a step it takes up to `32` products, which are exact, and the running sum.
The exponent of a number x is that of the largest power of two which is not above its
magnitude, and the exponent of a product is the *sum* of the exponents of its two
factors. Let e be the largest exponent of the products and, where it is not zero, of the
running sum. Each of them is cut (towards zero, not rounded) to a multiple of
`2**(e-13)`, and then they are added exactly. The new sum is cut in the same way, to its
own exponent less `13`. It begins with zero. Factors are never zero here.

- `step(total, left, right)`: the running sum after one step. `left` and `right` are
  lists of up to `32` numbers whose products are added.
- `promoted(left, right, every)`: the sum of all products, where the running sum is
  taken out after each `every` products (`32`, `64`, ...), added to a total in a wider
  format that loses nothing, and begun again at zero.
- `share_lost(mean, every)`: derive what share of a sum of positive products is lost in
  the mean. Suppose that before each step the running sum is `mean` times the products
  so far, without loss; that the sum is larger than any product of the step; that each
  of its `32` products loses half of the unit to which it is cut, in the mean; that the
  first step and the cut of the new sum lose nothing. `every` is `32`, `64`, ...
- `longest(mean, limit)`: the longest interval among 32, 64, 128, ... 4096 whose share
  lost is at most `limit`, from 0 up.

hint: `math.frexp(x)[1] - 1` is an exponent. Over a step the unit is 2**(e - 13) with e
the exponent of `mean * 32 * s` after s steps; sum `16` times it over the steps after
the first and divide by `mean * every`.
"""

import math
import random

from stacklib.gpu.tensor.tensor_core import mma
from stacklib.gpu.tensor.tensor_core import promoted as emulated
from stacklib.grading import expect

# ---- your answer ----


def exponent(x):
    """Exponent of the largest power of two that is not above |x|."""
    return math.frexp(x)[1] - 1


def cut(x, power):
    """x, cut towards zero to a multiple of 2**power."""
    return math.trunc(x / 2.0**power) * 2.0**power


def step(total, left, right):
    """The running sum after a step of up to 32 products."""
    pairs = list(zip(left, right, strict=True))
    e = max(exponent(a) + exponent(b) for a, b in pairs)
    if total:
        e = max(e, exponent(total))
    found = cut(total, e - 13) + sum(cut(a * b, e - 13) for a, b in pairs)
    return cut(found, exponent(found) - 13) if found else 0.0


def promoted(left, right, every):
    """The sum of all products, taken out after each `every`."""
    total = 0.0
    for first in range(0, len(left), every):
        part = 0.0
        for at in range(first, min(first + every, len(left)), 32):
            end = min(at + 32, first + every)
            part = step(part, left[at:end], right[at:end])
        total += part
    return total


def share_lost(mean, every):
    """Share of a sum that is lost in the mean."""
    lost = 0.0
    for done in range(32, every, 32):
        lost += 32 * 2.0 ** (exponent(mean * done) - 13) / 2
    return lost / (mean * every)


def longest(mean, limit):
    """The longest interval that loses no more than the limit."""
    return max(n for n in (2**k for k in range(5, 13)) if share_lost(mean, n) <= limit)


# ---- tests ----

RNG = random.Random(15)
FORM, KEPT = "e4m3fn", 13


def factor(sign):
    """A normal number of E4M3: three digits behind the point."""
    size = (1 + RNG.randrange(8) / 8) * 2.0 ** RNG.randrange(-4, 3)
    return size * (RNG.choice((-1, 1)) if sign else 1)


def drawn(count, sign=False):
    return [factor(sign) for _ in range(count)], [factor(sign) for _ in range(count)]


def unit_step(total, left, right):
    columns = [[x] for x in right]
    return float(mma([left], columns, [[total]], dtype=FORM)[0, 0])


STARTS = (0.0, 0.75, 100.5, -3.0, 4088.0)
CASES = [
    {"total": total, "left": left, "right": right}
    for total in STARTS
    for left, right in (drawn(32, True), drawn(32), drawn(5, True))
]


def power(x):
    return math.floor(math.log2(abs(x)))


def other_step(total, left, right, how=math.trunc, least=None, again=True):
    products = [a * b for a, b in zip(left, right, strict=True)]
    e = max(power(a) + power(b) for a, b in zip(left, right, strict=True))
    if least is None and total:
        e = max(e, power(total))
    if least == "product":
        e = max([power(p) for p in products] + ([power(total)] if total else []))
    unit = 2.0 ** (e - KEPT)
    found = sum(how(x / unit) for x in (total, *products)) * unit
    if not found or not again:
        return found
    unit = 2.0 ** (power(found) - KEPT)
    return how(found / unit) * unit


SLIPS = {
    "It rounds in your step; the unit cuts towards zero.": (
        lambda **case: other_step(**case, how=round)
    ),
    "The unit cuts towards zero; you cut downwards, negative numbers too.": (
        lambda **case: other_step(**case, how=math.floor)
    ),
    "The running sum has an exponent, too, and is mostly the largest.": (
        lambda **case: other_step(**case, least="none")
    ),
    "The exponent of a product is the sum of those of its factors, even where the "
    "product has reached the next power.": (
        lambda **case: other_step(**case, least="product")
    ),
    "The new sum is cut once more, to its own exponent.": (
        lambda **case: other_step(**case, again=False)
    ),
}


def test_step():
    expect.function_matches(step, unit_step, CASES, rel=1e-9, mistakes=SLIPS)


def unit_sum(left, right, every):
    columns = [[x] for x in right]
    return float(emulated([left], columns, every=every, dtype=FORM)[0, 0])


def test_promoted():
    left, right = drawn(512)
    cases = [{"left": left, "right": right, "every": n} for n in (32, 64, 128, 512)]
    expect.function_matches(
        promoted,
        unit_sum,
        cases,
        rel=3e-7,  # the total of the tests is kept in FP32
        mistakes={
            "Nothing is taken out: `every` is not used.": (
                lambda left, right, every: unit_sum(left, right, 512)
            ),
            "The sum is taken out, but not begun again at zero.": (
                lambda left, right, every: sum(
                    unit_sum(left[:n], right[:n], 512) for n in range(every, 513, every)
                )
            ),
            "That is the exact sum, without any cut.": (
                lambda left, right, every: math.fsum(
                    a * b for a, b in zip(left, right, strict=True)
                )
            ),
        },
    )


def loss(mean, every, whole=1.0, kept=KEPT, terms=32):
    steps = range(1, every // 32)
    units = (2.0 ** (power(mean * 32 * s) - kept) for s in steps)
    return whole * terms / 2 * sum(units) / (mean * every)


MEANS = (
    {"mean": 0.25, "every": 4096},
    {"mean": 0.25, "every": 128},
    {"mean": 1.3, "every": 1024},
    {"mean": 1.3, "every": 32},
    {"mean": 37.0, "every": 512},
)


def test_share_lost():
    expect.function_matches(
        share_lost,
        loss,
        list(MEANS),
        rel=1e-9,
        mistakes={
            "A cut takes half a unit in the mean, not all of it.": (
                lambda mean, every: loss(mean, every, whole=2.0)
            ),
            "Fourteen bits are one before the point and 13 behind it.": (
                lambda mean, every: loss(mean, every, kept=KEPT + 1)
            ),
            "Each of the 32 products of a step is cut, not only their sum.": (
                lambda mean, every: loss(mean, every, terms=1)
            ),
            "That is the loss; its share of the sum is asked.": (
                lambda mean, every: loss(mean, every) * mean * every
            ),
        },
    )
    expect.reading("share lost of 4,096 products", 100 * share_lost(0.25, 4096), "%")


def test_longest():
    def searched(mean, limit):
        steps = [2**k for k in range(5, 13)]
        return max(n for n in steps if loss(mean, n) <= limit)

    cases = [
        {"mean": mean, "limit": limit}
        for mean in (0.25, 1.3)
        for limit in (0.0, 0.0006, 0.01, 0.5)
    ]
    expect.function_matches(
        longest,
        searched,
        cases,
        rel=1e-9,
        mistakes={
            "One step too far: that interval loses more than the limit.": (
                lambda mean, limit: min(4096, 2 * searched(mean, limit))
            ),
        },
    )

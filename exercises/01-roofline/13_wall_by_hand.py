"""The wall, by hand.

level: estimate

From the data sheets: an A100 of 2020 does 312 TFLOP/s of dense bf16 arithmetic and
reads 2.04 TB/s; a B200 of 2024 does 2,250 TFLOP/s and reads 7.7 TB/s. Work out how
fast each rate grows, and how fast the two part.

Growth in a period is what one multiplies with, once for each period that passes.
Then the same with its uncertainty: suppose a line through the natural logarithm of
the ridge of many chips rises by 0.15 a year, that this slope has a standard error of
0.04, and that Student's t for so many chips is 2.03.

Return plain numbers. Within a twentieth of the exact one counts as right.

hint: The years between hold two such periods, so the growth in one of them,
multiplied with itself, is the growth in all. For the years until the ridge is so far
away, ask how many periods it takes: logarithms turn a product into a sum. A slope of a
logarithm becomes a growth by the exponential, its ends as well.
"""

import math

from stacklib import hardware, roofline
from stacklib.grading import expect
from stacklib.quantity import Quantity

# ---- your answer ----


def arithmetic_growth():
    """Factor by which bf16 arithmetic grew in two years."""
    return math.sqrt(2250 / 312)


def bandwidth_growth():
    """Factor by which memory bandwidth grew in two years."""
    return math.sqrt(7.7 / 2.04)


def years_to_double():
    """Years until the ridge, arithmetic over bandwidth, is twice what it was."""
    ridge_growth = arithmetic_growth() / bandwidth_growth()
    return 2 * math.log(2) / math.log(ridge_growth)


def low_and_high():
    """Ends of the interval of the growth in two years, for the supposed line."""
    reach = 2.03 * 0.04
    return math.exp(2 * (0.15 - reach)), math.exp(2 * (0.15 + reach))


# ---- tests ----

A100, B200 = hardware.get("a100-sxm-80gb"), hardware.get("b200-sxm")
YEARS = B200.year - A100.year
SLOPE, ERROR, T = 0.15, 0.04, 2.03  # the supposed line


def in_two_years(ratio):
    return ratio ** (2 / YEARS)


def mistakes(ratio):
    return {
        f"That is the growth in {YEARS} years; asked is that in two.": ratio,
        "Growth compounds: it is no sum to be divided by the periods.": (
            1 + (ratio - 1) * 2 / YEARS
        ),
    }


def test_arithmetic_growth():
    ratio = (B200.peak("bf16") / A100.peak("bf16")).si
    expect.number(
        arithmetic_growth(), in_two_years(ratio), rel=0.05, mistakes=mistakes(ratio)
    )


def test_bandwidth_growth():
    ratio = (B200.memory_bandwidth / A100.memory_bandwidth).si
    expect.number(
        bandwidth_growth(), in_two_years(ratio), rel=0.05, mistakes=mistakes(ratio)
    )


def test_years_to_double():
    ratio = (roofline.ridge(B200, "bf16") / roofline.ridge(A100, "bf16")).si
    growth = in_two_years(ratio)
    expect.number(
        years_to_double(),
        YEARS * math.log(2) / math.log(ratio),
        unit="year",
        rel=0.05,
        mistakes={
            "That many periods of two years; asked are years.": (
                math.log(2) / math.log(growth)
            ),
            "Growth compounds: adding the same amount each period takes longer.": (
                2 / (growth - 1)
            ),
        },
    )


def in_two(slope):
    return math.exp(2 * slope)


def test_low_and_high():
    right = [math.exp(2 * (SLOPE + side * T * ERROR)) for side in (-1, 1)]
    found = expect.sequence(low_and_high(), "a pair, low end and high end,", 2)
    growth, reach = in_two(SLOPE), T * ERROR
    for value, end, side in zip(found, right, (-1, 1), strict=True):
        expect.number(
            value,
            Quantity(end),
            rel=0.01,
            mistakes={
                "The error belongs to the slope, inside the exponential.": (
                    growth + side * reach
                ),
                "The error of the slope counts for each of the two years, and t times: "
                "one standard error holds two thirds of the cases.": (
                    math.exp(2 * SLOPE + side * reach)
                ),
                "The ends are in the other order.": math.exp(
                    2 * (SLOPE - side * reach)
                ),
            },
        )

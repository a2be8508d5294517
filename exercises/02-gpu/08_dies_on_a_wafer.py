"""Dies on a wafer, by hand.

level: estimate

A wafer is a disc of `300 mm`. A die of a B200 covers `800 mm²`; take it for a square,
and forget streets and the edge. A wafer of this process costs `17000 USD`, and a square
centimetre has `0.1` defects. Suppose that defects know nothing of each other and that
any of them kills its die.

Return plain numbers. For the dies, subtract from area over area those that the rim
cuts: pi times the diameter, over the diagonal of a die.

hint: The diagonal of a square of area S is the root of 2 S. For the yield you need
defects on a die: mind that the area is in square millimetres and the density is not.
"""

from math import exp, pi, sqrt

from stacklib import cost
from stacklib.cost.wafers import dies_less_edge
from stacklib.grading import expect
from stacklib.quantity import Quantity

# ---- your answer ----


def dies():
    """Whole dies on the wafer, not rounded."""
    return pi / 4 * 300**2 / 800 - pi * 300 / sqrt(2 * 800)


def good_share():
    """Share of the dies without a defect, from 0 to 1."""
    return exp(-8 * 0.1)


def dollars():
    """USD for the two good dies of a B200."""
    return 2 * 17000 / (dies() * good_share())


def half_gain():
    """Good dies of 400 mm² over good dies of 800 mm², from one wafer each."""
    halves = pi / 4 * 300**2 / 400 - pi * 300 / sqrt(2 * 400)
    return halves * exp(-4 * 0.1) / (dies() * good_share())


# ---- tests ----

whole, paid = pi / 4 * 300**2, 17000.0


def gross(area):
    return dies_less_edge(area, 300.0, 1 / sqrt(2))


def good(area):
    return gross(area) * cost.poisson(area / 100 * 0.1)


def test_dies():
    expect.number(
        dies(),
        Quantity(gross(800)),
        rel=0.02,
        mistakes={
            "That is area over area; the rim cuts some of them.": Quantity(whole / 800),
            "You took the diameter for the radius.": Quantity(4 * whole / 800),
            "The rim takes pi d over the diagonal, not over the side.": Quantity(
                whole / 800 - pi * 300 / sqrt(800)
            ),
        },
    )
    expect.reading(
        "a grid that may be shifted holds", str(cost.grid_dies(0.026, 0.8 / 26))
    )


def test_good_share():
    expect.number(
        good_share(),
        Quantity(cost.poisson(0.8)),
        rel=0.02,
        mistakes={
            "You multiplied mm² by defects a cm².": Quantity(exp(-80)),
            "That is the share with a defect.": Quantity(1 - cost.poisson(0.8)),
            "Two defects on a die kill one die, not two: 1 - 0.8 is too few.": Quantity(
                0.2
            ),
        },
    )


def test_dollars():
    each = paid / good(800)
    expect.number(
        dollars(),
        2 * each,
        unit="USD",
        rel=0.03,
        mistakes={
            "That is one die.": each,
            "The dead dies are paid for too.": 2 * paid / gross(800),
        },
    )


def test_half_gain():
    expect.number(
        half_gain(),
        Quantity(good(400) / good(800)),
        rel=0.03,
        mistakes={
            "Twice as many dies, and each of them works more often.": Quantity(2.0),
            "You left out that the smaller die works more often.": Quantity(
                gross(400) / gross(800)
            ),
        },
    )

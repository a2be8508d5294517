"""A design in pieces against thrown defects, and the half reticle."""

import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib import cost
from stacklib.cost import pieces
from stacklib.cost.chiplets import good_dies
from stacklib.cost.wafers import dies_less_edge
from stacklib.cost.yields import murphy, thrown_harvest
from stacklib.quantity import Quantity

from ..rows import refusals

USD, DIRT = Quantity(17000, "USD"), Quantity(0.1, "1/cm2")


def cut(count, area=800.0, **more):
    case = {"price": USD, "defects": DIRT, **more}
    return pieces(Quantity(area, "mm2"), count, **case)


@settings(max_examples=12, deadline=None)
@given(st.sampled_from((1, 2, 4, 5)), st.floats(200, 850), st.floats(0.05, 0.3))
def test_thrown_defects_and_a_joining_table_agree(count, area, density):
    """Throw defects at a piece's units, join good pieces, and count what is paid."""
    units, needed, share = 40, 35 if count in (1, 5) else 36, 0.6
    more = {
        "defects": Quantity(density, "1/cm2"),
        "units": units,
        "needed": needed,
        "share": share,
        "bond": 0.97,
    }
    found = cut(count, area, **more)
    mean = found.area.to("cm2").value * density
    good = thrown_harvest(
        mean, units=units // count, needed=needed // count, share=share, dies=8000
    )
    draw = random.Random(1)
    joined = (
        sum(
            count == 1 or all(draw.random() < 0.97 for _ in range(count))
            for _ in range(8000)
        )
        / 8000
    )
    dollars = 17000 / (found.gross * good) * count / joined / area
    assert found.cost.to("USD/mm2").value == pytest.approx(dollars, rel=0.06)


def test_pieces_without_overhead_never_cost_more_a_good_millimetre():
    free = {"talk": 0.0, "bond": 1.0}
    dear = [cut(n, **free).cost.si for n in (1, 2, 4, 8, 16)]
    assert dear == sorted(dear, reverse=True)


def test_pieces_that_talk_too_much_cost_more():
    assert cut(2, talk=0.5).cost > cut(1).cost
    assert cut(16, bond=0.9).cost > cut(4, bond=0.9).cost


def test_the_monolith_is_the_die():
    whole = cut(1)
    same = cost.die(Quantity(800, "mm2"), price=USD, defects=DIRT)
    assert (whole.cost * Quantity(800, "mm2")).si == pytest.approx(same.cost.low.si)


def test_half_a_reticle_gives_three_times_the_good_dies():
    ratio = good_dies(0.026, 0.0165, 1000) / good_dies(0.026, 0.033, 1000)
    assert ratio == pytest.approx(132 / 64 * math.exp(0.429), rel=1e-9)
    textbook = [
        dies_less_edge(area, 300, 1 / math.sqrt(2)) * math.exp(-area / 1000)
        for area in (429, 858)
    ]
    assert textbook[0] / textbook[1] == pytest.approx(3.4, abs=0.02)


def test_gross_dies_of_the_first_review():
    """65, 132 and 60: the textbook's rim, no streets, no lost edge."""
    found = [dies_less_edge(a, 300, 1 / math.sqrt(2)) for a in (800, 430, 858)]
    assert [round(x) for x in found] == [65, 132, 60]
    assert cost.poisson(0.8) == pytest.approx(0.45, abs=0.005)
    assert murphy(0.8) == pytest.approx(0.47, abs=0.005)


test_what_cannot_be_cut_is_refused = refusals(
    ({"count": 0}, "count = 0"),
    ({"count": True}, "count = True"),
    ({"count": 1, "area": 900.0}, "does not fit"),
    ({"count": 2, "talk": 1.0}, "talk = 1.0"),
    ({"count": 2, "talk": True}, "talk = True"),
    ({"count": 2, "bond": 0}, "bond = 0"),
    ({"count": 3, "units": 40, "needed": 36}, "do not share out"),
    by=lambda case: cut(**case),
)

"""Yield laws: closed forms against defects thrown on wafers, and against each other."""

import math
from math import comb, exp

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib.cost import poisson
from stacklib.cost.yields import (
    harvested,
    murphy,
    negative_binomial,
    seeds,
    thrown,
    thrown_harvest,
)
from stacklib.quantity import Quantity, UnknownName

MEAN = st.floats(0.01, 4)
LAWS = {
    "poisson": lambda x, a: poisson(x),
    "murphy": lambda x, a: murphy(x),
    "seeds": lambda x, a: seeds(x),
    "negative binomial": negative_binomial,
}


@pytest.mark.rows("law", LAWS)
@pytest.mark.rows("defects", [0.05, 0.5, 1.5])
def test_thrown_defects_agree_with_the_law(law, defects):
    """Within a fiftieth of all dies: four standard errors of the wafers drawn."""
    told = LAWS[law](defects, 2.0)
    seen = thrown(law, defects, wafers=3000, dies=50, seed=7)
    assert seen == pytest.approx(told, abs=0.02)


def test_another_law_would_be_seen():
    """Planted: defects thrown for one law do not pass for another."""
    seen = thrown("seeds", 1.5, wafers=3000, dies=50, seed=7)
    assert abs(seen - poisson(1.5)) > 0.1


@given(MEAN, st.floats(0.3, 50))
def test_clustering_saves_dies(defects, alpha):
    """The same defects on fewer dies: Poisson is the least of all."""
    spread = negative_binomial(defects, alpha)
    assert poisson(defects) <= spread * (1 + 1e-12)
    assert poisson(defects) <= murphy(defects) <= seeds(defects) * (1 + 1e-12)
    assert 0 < spread < 1


@given(MEAN)
def test_limits_of_the_cluster_parameter(defects):
    assert negative_binomial(defects, 1) == pytest.approx(seeds(defects))
    assert negative_binomial(defects, 1e7) == pytest.approx(poisson(defects), rel=1e-5)


def test_floats_quantities_and_arrays():
    import numpy as np

    swept = np.array([0.2, 1.0])
    for law in LAWS.values():
        for i, x in enumerate(swept):
            assert law(Quantity(float(x)), 2.0).si == pytest.approx(law(float(x), 2.0))
            assert law(swept, 2.0)[i] == pytest.approx(law(float(x), 2.0))


@given(MEAN, st.integers(1, 12), st.data())
def test_harvesting_without_clusters_is_a_binomial_tail(defects, units, data):
    needed = data.draw(st.integers(1, units))
    good = exp(-defects / units)
    tail = sum(
        comb(units, j) * good**j * (1 - good) ** (units - j)
        for j in range(needed, units + 1)
    )
    found = harvested(defects, units=units, needed=needed, alpha=1e9)
    assert found == pytest.approx(tail, rel=1e-5)


@settings(max_examples=10, deadline=None)
@given(st.floats(0.2, 2), st.integers(2, 10), st.floats(0.3, 1), st.floats(0.7, 4))
def test_harvesting_agrees_with_thrown_defects(defects, units, share, alpha):
    case = {"units": units, "needed": units - 1, "share": share, "alpha": alpha}
    told = harvested(defects, **case)
    assert thrown_harvest(defects, **case, seed=3) == pytest.approx(told, abs=0.02)


@given(MEAN, st.floats(0.5, 5))
def test_harvesting_ends(defects, alpha):
    """All units needed: the plain law. Any one unit: nearly every die."""
    every = harvested(defects, units=16, needed=16, alpha=alpha)
    assert every == pytest.approx(negative_binomial(defects, alpha), rel=1e-9)
    shares = [harvested(defects, units=16, needed=k, alpha=alpha) for k in (16, 12, 1)]
    assert shares == sorted(shares) and shares[-1] <= 1


def test_many_units_do_not_lose_their_digits():
    """144 units cancel by 10^43; a double would return noise."""
    found = harvested(0.7, units=144, needed=132)
    assert negative_binomial(0.7, 2) < found < 1


@pytest.mark.rows("alpha", [0, -1, math.nan, math.inf, True])
def test_a_cluster_parameter_that_is_none_is_refused(alpha):
    with pytest.raises(ValueError, match="alpha"):
        negative_binomial(0.5, alpha)


def test_what_makes_no_sense_is_refused():
    with pytest.raises(UnknownName, match="yield law"):
        thrown("gauss", 0.5)
    with pytest.raises(ValueError, match="defects"):
        thrown("poisson", -1)
    with pytest.raises(ValueError, match="more than there are"):
        harvested(0.5, units=4, needed=5)
    with pytest.raises(ValueError, match="whole number"):
        harvested(0.5, units=4, needed=0)
    with pytest.raises(ValueError, match="share"):
        harvested(0.5, units=4, needed=4, share=1.5)

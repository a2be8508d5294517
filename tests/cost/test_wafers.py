"""Dies on a wafer: counted, against two formulas and a slower count."""

import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from stacklib import cost
from stacklib.cost import grid_dies
from stacklib.cost.wafers import WAFER, Wafer, dies_exponential, dies_less_edge, lay
from stacklib.quantity import Quantity

SIDES = st.floats(0.003, 0.033)


def street(width: float, height: float) -> float:
    return (width + WAFER.scribe) * (height + WAFER.scribe)


def slow_count(width: float, height: float, wafer: Wafer, steps: int = 40) -> int:
    """Corner by corner, over a plain lattice of offsets."""
    across, up = width + wafer.scribe, height + wafer.scribe
    reach = int(wafer.diameter / min(across, up)) + 2
    best = 0
    for i in range(steps):
        for j in range(steps):
            left = np.arange(-reach, reach) * across + i * across / steps
            low = np.arange(-reach, reach) * up + j * up / steps
            x = np.maximum(abs(left), abs(left + width))
            y = np.maximum(abs(low), abs(low + height))
            inside = np.hypot(x[:, None], y[None, :]) <= wafer.radius * (1 + 1e-12)
            best = max(best, int(inside.sum()))
    return best


@settings(max_examples=60, deadline=None)
@given(st.floats(0.003, 0.026), SIDES)
def test_formulas_agree_with_the_count(width, height):
    """Within a row of dies, for any die that a scanner can expose.

    The formulas know an average rim. The count takes the best place for its grid, and
    a size at which a whole row just fits gains most of one: at worst 8.5 % of 6,000
    sizes drawn, a square of 25.7 mm.
    """
    counted, area = grid_dies(width, height), street(width, height)
    row = 2 * WAFER.radius / min(width, height)
    for formula in (dies_less_edge, dies_exponential):
        found = formula(area, 2 * WAFER.radius)
        assert abs(found - counted) < row
        assert found == pytest.approx(counted, rel=0.1)


@settings(max_examples=15, deadline=None)
@given(st.floats(0.012, 0.033), st.floats(0.012, 0.033))
@example(0.0184979145730086, 0.0184979145730086)
def test_the_count_is_never_below_a_lattice_of_offsets(width, height):
    """And never above what lies on the wafer, corner by corner.

    The lattice alone is no bound from above: a square of 18.498 mm fits 177 times at
    places that forty steps of a pitch miss; there it is 173.
    """
    counted = grid_dies(width, height)
    assert slow_count(width, height, WAFER) - 1 <= counted
    corners = np.array(lay(width, height))
    far = np.maximum(abs(corners), abs(corners + np.array([width, height])))
    assert len({(round(x, 9), round(y, 9)) for x, y in corners}) == counted
    assert np.hypot(far[:, 0], far[:, 1]).max() <= WAFER.radius * (1 + 1e-9)
    pitch = [width + WAFER.scribe, height + WAFER.scribe]
    steps = (corners - corners[0]) / pitch
    assert np.allclose(steps, np.round(steps), atol=1e-6)


@given(SIDES, SIDES)
@settings(max_examples=30, deadline=None)
def test_a_wafer_never_holds_more_than_its_area(width, height):
    whole = math.pi * WAFER.radius**2 / (width * height)
    assert grid_dies(width, height) <= whole
    swapped = grid_dies(height, width)  # only the tried offsets differ
    assert swapped == pytest.approx(grid_dies(width, height), rel=0.02, abs=1)


def test_edge_and_streets_cost_dies():
    die = (0.010, 0.010)
    bare = Wafer(edge=0, scribe=0)
    assert grid_dies(*die, bare) > grid_dies(*die, Wafer(edge=0)) > grid_dies(*die)
    assert grid_dies(0.2, 0.2) == 1 and grid_dies(0.3, 0.01) == 0


def test_the_textbook_coefficient_counts_too_few():
    """De Vries' 0.58 is nearer the count than 1/sqrt(2), for small and large dies."""
    for side in (0.005, 0.010, 0.020, 0.028):
        counted, area = grid_dies(side, side), street(side, side)
        fitted = dies_less_edge(area, 2 * WAFER.radius)
        plain = dies_less_edge(area, 2 * WAFER.radius, 1 / math.sqrt(2))
        assert abs(fitted - counted) < abs(plain - counted)


def test_one_formula_for_floats_quantities_and_arrays():
    areas = np.array([50e-6, 100e-6])
    for formula in (dies_less_edge, dies_exponential):
        swept = formula(areas, 0.294)
        for i, area in enumerate(areas):
            traced = formula(Quantity(area, "m2"), Quantity(0.294, "m"))
            assert traced.si == pytest.approx(formula(float(area), 0.294))
            assert swept[i] == pytest.approx(traced.si)


@pytest.mark.rows("bad", [0, -1, math.nan, math.inf, True])
def test_a_side_that_is_none_is_refused(bad):
    with pytest.raises(ValueError, match="above zero"):
        grid_dies(bad, 0.01)
    with pytest.raises(ValueError, match="diameter = -1: a number from 0"):
        Wafer(diameter=-1)
    with pytest.raises(ValueError, match="leaves nothing"):
        Wafer(edge=0.15)


@pytest.mark.rows("width", [0.003, 0.0113, 0.026])
@pytest.mark.rows("height", [0.004, 0.0165, 0.033, 0.31])
def test_the_dies_laid_are_those_counted_and_lie_on_the_wafer(width, height):
    laid = lay(width, height)
    assert len(laid) == len(set(laid)) == cost.grid_dies(width, height)
    for x, y in laid:
        for corner in (
            (x, y),
            (x + width, y),
            (x, y + height),
            (x + width, y + height),
        ):
            assert math.hypot(*corner) <= Wafer().radius * (1 + 1e-6)

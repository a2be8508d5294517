"""The chain of heat: against eigenvectors, the settled sum, and energy."""

import math

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib.diy.thermal import heat

CHAIN = [0.03, 0.06, 0.02, 0.025], [80, 900, 12e3, 1.2e6]
part = st.tuples(st.floats(1e-3, 2.0), st.floats(1.0, 1e7), st.floats(0.0, 3000.0))


def exact(resistances, capacities, watts, seconds, ambient):
    """By eigenvalues of the chain's own matrix, built from conductances."""
    n = len(resistances)
    across = numpy.zeros((n, n))
    for i, r in enumerate(resistances):
        across[i, i] += 1 / r
        if i + 1 < n:
            across[i + 1, i + 1] += 1 / r
            across[i, i + 1] -= 1 / r
            across[i + 1, i] -= 1 / r
    root = numpy.sqrt(numpy.asarray(capacities, float))
    values, vectors = numpy.linalg.eigh(across / root[:, None] / root[None, :])
    begun = vectors.T @ (numpy.asarray(watts) / root)
    gained = numpy.array([-math.expm1(-v * seconds) / v for v in values])
    return ambient + (vectors @ (begun * gained)) / root


@settings(max_examples=60, deadline=None)
@given(st.lists(part, min_size=1, max_size=5), st.floats(0.01, 24), st.floats(-20, 45))
def test_chain_is_exact(parts, hours, ambient):
    resistances, capacities, watts = map(list, zip(*parts, strict=True))
    made = heat(resistances, capacities, watts, hours, ambient, steps=7)
    for time, degrees in zip(made.times, made.parts, strict=True):
        told = exact(resistances, capacities, watts, time, ambient)
        assert degrees == pytest.approx(tuple(told), abs=0.02, rel=1e-6)


def test_settles_where_resistances_say():
    watts, across = [400, 0, 350, 60], CHAIN[0]
    rises = [r * sum(watts[: i + 1]) for i, r in enumerate(across)]
    made = heat(*CHAIN, watts, 1000, 22)
    ends = [22 + sum(rises[i:]) for i in range(len(across))]
    assert made.parts[-1] == pytest.approx(ends, abs=1e-6)


def test_a_step_cut_in_pieces_is_the_same():
    few, many = (heat(*CHAIN, 300, 2, 20, steps=n) for n in (3, 300))
    assert few.parts[-1] == pytest.approx(many.parts[-1], abs=1e-6)


@settings(max_examples=40, deadline=None)
@given(st.floats(50, 600), st.floats(45, 95))
def test_a_limit_is_held_and_never_passed(watts, most):
    made = heat(*CHAIN, watts, 6, 22, most=most)
    free = heat(*CHAIN, watts, 6, 22)
    hottest = max(part[0] for part in made.parts)
    assert hottest <= most + 1e-9
    assert (made.held > 0) == (max(part[0] for part in free.parts) > most)
    assert all(0 <= given <= watts for given in made.watts)
    # What goes in and does not stay has left through the last resistance.
    stored = sum(
        c * (end - 22) for c, end in zip(CHAIN[1], made.parts[-1], strict=True)
    )
    put_in = sum(made.watts[1:]) * (made.times[1] - made.times[0])
    assert 0 <= stored <= put_in * (1 + 1e-9)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"resistances": [0.1]}, "one each a part"),
        ({"resistances": []}, "one each a part"),
        ({"resistances": [0.1, -0.1]}, r"resistances\[1\] = -0.1"),
        ({"capacities": [1, 0]}, r"capacities\[1\] = 0"),
        ({"power": math.nan}, "power = nan"),
        ({"power": -5.0}, "power = -5.0"),
        ({"power": "500"}, "power = '500'"),
        ({"power": True}, "power = True"),
        ({"power": [1, 2, 3]}, "power of 3 parts: there are 2"),
        ({"hours": 0}, "hours = 0"),
        ({"ambient": math.inf}, "ambient = inf"),
        ({"ambient": -300}, "ambient = -300"),
        ({"ambient": True}, "ambient = True"),
        ({"resistances": [1e-200, 1], "capacities": [1e-200, 1]}, "x capacities"),
        ({"most": 20}, "degrees above ambient"),
        ({"power": [0, 5000], "most": 30}, "other parts alone"),
        ({"steps": 0.5}, "steps = 0.5"),
    ],
)
def test_what_is_no_chain_is_refused(changed, words):
    told = {
        "resistances": [0.1, 0.05],
        "capacities": [100, 1000],
        "power": 200,
        "hours": 1,
        "ambient": 20,
    } | changed
    with pytest.raises(ValueError, match=words):
        heat(**told)

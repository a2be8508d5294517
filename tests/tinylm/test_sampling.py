"""Sampling: each cut by its definition, and draws that follow their distribution."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib.tinylm.sampling import Sampling, draw, probabilities

LOGITS = np.log([0.4, 0.3, 0.15, 0.1, 0.05])
CUTS = {
    "all": (Sampling(), [0.4, 0.3, 0.15, 0.1, 0.05]),
    "greedy": (Sampling(temperature=0), [1, 0, 0, 0, 0]),
    "cold": (Sampling(temperature=0.5), np.square([0.4, 0.3, 0.15, 0.1, 0.05])),
    "top 2": (Sampling(top_k=2), [0.4, 0.3, 0, 0, 0]),
    "top 9": (Sampling(top_k=9), [0.4, 0.3, 0.15, 0.1, 0.05]),
    # 0.4 + 0.3 reach 0.7 and 0.71 needs the third
    "nucleus 0.69": (Sampling(top_p=0.69), [0.4, 0.3, 0, 0, 0]),
    "nucleus 0.71": (Sampling(top_p=0.71), [0.4, 0.3, 0.15, 0, 0]),
    "nucleus tiny": (Sampling(top_p=1e-9), [1, 0, 0, 0, 0]),
    "min p 0.3": (Sampling(min_p=0.3), [0.4, 0.3, 0.15, 0, 0]),
    "min p 1": (Sampling(min_p=1.0), [1, 0, 0, 0, 0]),
    # k first: of three, 0.4 + 0.3 are 0.82 of 0.85
    "k then p": (Sampling(top_k=3, top_p=0.8), [0.4, 0.3, 0, 0, 0]),
}


@pytest.mark.rows("name", CUTS)
def test_a_cut_keeps_what_it_says(name):
    how, kept = CUTS[name]
    assert probabilities(LOGITS, how) == pytest.approx(np.array(kept) / np.sum(kept))


@pytest.mark.rows("name", CUTS)
def test_draws_follow_their_distribution(name):
    # Pearson's statistic over 20,000 draws; its mean is the degrees of freedom.
    p = probabilities(LOGITS, CUTS[name][0])
    random = np.random.default_rng(7)
    n = 20_000
    seen = np.bincount([draw(p, random) for _ in range(n)], minlength=5)
    possible = p > 0
    assert not seen[~possible].any()
    statistic = ((seen - n * p)[possible] ** 2 / (n * p[possible])).sum()
    freedom = possible.sum() - 1
    assert statistic <= freedom + 4 * math.sqrt(2 * freedom)


def test_a_drawer_that_is_off_by_one_would_fail():
    p = np.array([0.5, 0.0, 0.5])
    random = np.random.default_rng(0)
    assert {draw(p, random) for _ in range(200)} == {0, 2}

    class Edge:
        def random(self):
            return 0.5

    assert draw(p, Edge()) == 2  # the empty token never takes the edge


@given(
    st.lists(st.floats(-30, 30), min_size=2, max_size=40),
    st.floats(0.05, 3),
    st.integers(0, 45),
    st.floats(0.01, 1),
    st.floats(0, 1),
)
@settings(max_examples=200, deadline=None)
def test_what_is_left_is_a_distribution_of_the_likeliest(logits, t, k, top_p, min_p):
    p = probabilities(logits, Sampling(t, k, top_p, min_p))
    assert p.sum() == pytest.approx(1) and (p >= 0).all()
    x = np.array(logits)
    if (p == 0).any():
        assert x[p > 0].min() >= x[p == 0].max()
    if k:
        assert (p > 0).sum() <= max(k, 1)
    assert p[np.argmax(x)] > 0


def test_equal_logits_are_kept_by_id():
    kept = probabilities(np.zeros(4), Sampling(top_k=2))
    assert kept.tolist() == [0.5, 0.5, 0, 0]


@pytest.mark.rows(
    ("field", "value"),
    [
        ("temperature", -1),
        ("temperature", math.nan),
        ("temperature", math.inf),
        ("temperature", "hot"),
        ("top_k", -1),
        ("top_k", 1.5),
        ("top_k", True),
        ("top_p", 0),
        ("top_p", 1.1),
        ("top_p", math.nan),
        ("min_p", -0.1),
        ("min_p", 1.1),
    ],
)
def test_a_value_out_of_range_is_named(field, value):
    with pytest.raises(ValueError, match=f"{field} = "):
        Sampling(**{field: value})


@pytest.mark.rows(
    "logits", [[], [[1.0]], [1.0, math.nan], [1.0, math.inf], [-math.inf, -math.inf]]
)
def test_what_is_no_row_of_logits_is_refused(logits):
    with pytest.raises(ValueError, match="one row, its largest finite"):
        probabilities(logits, Sampling())


def test_minus_infinity_is_never_drawn():
    p = probabilities([0.0, -math.inf, 1.0], Sampling())
    assert p[1] == 0 and p.sum() == pytest.approx(1)


def test_a_temperature_near_zero_is_one_of_zero_without_a_warning():
    with np.errstate(all="raise", under="ignore"):
        p = probabilities([1.0, 3.0, 2.0], Sampling(np.float32(1e-40)))
    assert p.tolist() == [0, 1, 0]

"""Closed forms held to the sends, and three kinds of numbers."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib.interconnect.schedules import algorithms
from stacklib.interconnect.schedules.algorithms import (
    GROUPED,
    KNOWN,
    PIPELINED,
    all_reduce,
    broadcast,
)
from stacklib.interconnect.schedules.closed import FORMS, closed_cost, closed_count
from stacklib.interconnect.schedules.cost import best_chunks, cost, count
from stacklib.quantity import Quantity, UnknownName, chosen

PAIRS = [(c, a) for c, table in FORMS.items() for a in table]


@pytest.mark.rows(("collective", "algorithm"), PAIRS)
def test_the_closed_form_is_what_the_sends_count(collective, algorithm):
    for ranks in (1, 2, 3, 4, 6, 7, 8, 12, 17, 33):
        hows = [{}]
        if algorithm in PIPELINED.get(collective, ()):
            hows += [{"chunks": chunks} for chunks in (2, 5)]
        if algorithm in GROUPED:
            hows += [{"group": g} for g in range(1, ranks + 1) if ranks % g == 0]
        for how in hows:
            made = getattr(algorithms, collective)(ranks, algorithm, **how)
            told = closed_count(collective, algorithm, ranks, **how)
            assert count(made) == told, (ranks, how)


def test_every_algorithm_but_two_trees_has_a_form():
    missing = {(c, a) for c, t in KNOWN.items() for a in t} - set(PAIRS)
    assert {a for _, a in missing} == {"double_binary_tree"}


@settings(deadline=None, max_examples=40)
@given(st.integers(2, 64), st.integers(1, 12))
def test_two_trees_stay_below_their_bound(ranks, chunks):
    down = 2 * (ranks.bit_length() - 1) + chunks + 1
    moved = count(broadcast(ranks, "double_binary_tree", chunks=chunks))
    assert moved.steps <= down
    both = count(all_reduce(ranks, "double_binary_tree", chunks=chunks))
    assert both.steps <= 2 * down
    assert both.share * chunks == both.steps  # one chunk a step


positive = st.floats(1e-9, 1e9)


@settings(deadline=None, max_examples=60)
@given(st.sampled_from(PAIRS), st.integers(1, 20), positive, positive, positive)
def test_nothing_beats_the_bound(pair, ranks, size, alpha, beta):
    made = getattr(algorithms, pair[0])(ranks, pair[1])
    told = cost(made, size=size, alpha=alpha, beta=beta)
    assert told.bound <= told.time * (1 + 1e-12)
    assert told.time == told.alpha + told.beta
    form = closed_cost(*pair, ranks, size=size, alpha=alpha, beta=beta)
    if ranks > 1:  # a single rank needs no switch
        assert form == told


def test_floats_quantities_and_arrays_agree():
    made = all_reduce(8, "halving_doubling")
    plain = cost(made, size=1e6, alpha=2e-6, beta=1e-9 / 4)
    traced = cost(
        made, size=chosen(1, "MB"), alpha=chosen(2, "us"), beta=1 / chosen(4, "GB/s")
    )
    swept = cost(made, size=np.array([1e6, 2e6]), alpha=2e-6, beta=1e-9 / 4)
    assert isinstance(traced.time, Quantity)
    for name in ("time", "alpha", "beta", "bound"):
        assert getattr(traced, name).si == pytest.approx(getattr(plain, name))
    assert swept.time[0] == plain.time
    assert swept.time[1] == pytest.approx(plain.alpha + 2 * plain.beta)
    assert swept.bound[1] > swept.bound[0]


def test_a_switch_gains_less_than_two():
    """The gain over a ring is 2 (n - 1) / n with pieces that follow one another."""
    for ranks, gain in ((8, 1.75), (72, 1.97)):
        ring = closed_count("all_reduce", "ring", ranks).share
        switch = closed_count("all_reduce", "in_switch", ranks, chunks=10_000).share
        assert float(ring / switch) == pytest.approx(gain, abs=0.005)


@pytest.mark.rows(
    ("algorithm", "ranks"), [("tree", 16), ("double_binary_tree", 13), ("in_switch", 8)]
)
def test_the_best_number_of_chunks_is_the_best_of_all(algorithm, ranks):
    numbers = {"size": 1e6, "alpha": 1e-6, "beta": 1e-10}

    def time(chunks):
        return cost(all_reduce(ranks, algorithm, chunks=chunks), **numbers).time

    one, many = (count(all_reduce(ranks, algorithm, chunks=c)) for c in (32, 64))
    best = best_chunks(one, many, 32, **numbers)
    # two trees take chunks in pairs
    assert time(best) <= min(map(time, range(2, 60, 2))) * 1.03
    with pytest.raises(ValueError, match="alpha = 0"):
        best_chunks(one, many, 32, size=1.0, alpha=0, beta=1.0)


@pytest.mark.rows("bad", [-1.0, math.nan, math.inf])
@pytest.mark.rows("name", ["size", "alpha", "beta"])
def test_bad_numbers_are_refused(name, bad):
    numbers = {"size": 1.0, "alpha": 1.0, "beta": 1.0, name: bad}
    with pytest.raises(ValueError, match=name):
        cost(all_reduce(2), **numbers)


def test_two_trees_have_no_closed_form_and_it_is_said():
    with pytest.raises(UnknownName, match="closed form of all_reduce"):
        closed_count("all_reduce", "double_binary_tree", 8)

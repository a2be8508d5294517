"""Costs on a network: what the simulator gives where no message meets another."""

import math

import numpy as np
import pytest

from stacklib.interconnect import Topology, all_gather, all_reduce, cost, simulate
from stacklib.quantity import Quantity

BOX = Topology.nvswitch(8)  # eighteen links of a chip over four planes
SIZE = 64 * 2.0**20


@pytest.mark.rows("algorithm", ["ring", "direct", "halving_doubling", "bruck"])
@pytest.mark.rows("size", [0.0, 8.0, 1e6, 1e9])
def test_it_is_the_simulator_where_nothing_is_shared(algorithm, size):
    schedule = all_reduce(8, algorithm)
    told, ran = cost(schedule, BOX, size=size), simulate(schedule, BOX, size)
    assert told.time == pytest.approx(ran.time, rel=1e-9)
    assert told.alpha == pytest.approx(ran.latency, rel=1e-9)


def test_where_paths_are_shared_the_simulator_is_later():
    pairs = [(0, 1), (1, 2), (2, 3)]
    links = [(*pair, 1e9) for a, b in pairs for pair in ((a, b), (b, a))]
    line = Topology("a line", 4, 4, links)
    schedule = all_reduce(4, "ring")  # its last rank sends over the whole line
    told, ran = cost(schedule, line, size=SIZE), simulate(schedule, line, SIZE)
    assert told.time <= ran.time
    crossing = cost(all_gather(4, "direct"), line, size=SIZE)
    assert crossing.time < simulate(all_gather(4, "direct"), line, SIZE).time


def test_a_ring_is_its_closed_form_and_at_its_bound_but_for_latency():
    told = cost(all_reduce(8), BOX, size=SIZE)
    rate = sum(link.bandwidth for link in BOX.links if link.source == 0)
    assert told.beta == pytest.approx(2 * 7 / 8 * SIZE / rate)
    assert told.bound == pytest.approx(told.beta)


def test_floats_quantities_and_arrays_agree():
    schedule = all_reduce(8, "tree")
    bare = cost(schedule, BOX, size=SIZE)
    whole = cost(schedule, BOX, size=Quantity(SIZE, "B", label="an array"))
    many = cost(schedule, BOX, size=np.array([SIZE, 2 * SIZE]))
    for name in ("time", "beta", "bound"):
        assert getattr(whole, name).si == pytest.approx(getattr(bare, name))
        assert getattr(many, name)[0] == pytest.approx(getattr(bare, name))
    assert whole.time.to("us").value == pytest.approx(1e6 * bare.time)


def test_bad_input_is_named():
    with pytest.raises(ValueError, match=r"a schedule of 4 ranks on .*8 chips"):
        cost(all_reduce(4), BOX, size=SIZE)
    for size in (-1.0, math.nan, math.inf):
        with pytest.raises(ValueError, match="size"):
            cost(all_reduce(8), BOX, size=size)
    assert cost(all_reduce(1), Topology("one", 1, 1, []), size=SIZE).time == 0

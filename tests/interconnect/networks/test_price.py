"""Costs on a network: what the simulator gives, by the most loaded links alone."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib.interconnect import Topology, all_reduce, cost, simulate
from stacklib.interconnect.networks.shapes_scaleup import CUBE_MESH
from stacklib.interconnect.schedules import algorithms
from stacklib.interconnect.schedules.algorithms import KNOWN
from stacklib.interconnect.schedules.schedule import Schedule
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


CUBE = {(a, a ^ 1 << k): 1 for k in range(3) for a in range(8) if a < a ^ 1 << k}
NETS = [
    Topology.nvlink_mesh(8),
    Topology.nvlink_mesh(8, CUBE_MESH, link="nvlink2"),
    Topology.nvlink_mesh(8, CUBE, link=25e9, latency=1e-6),
    BOX,
    Topology.torus((8,)),
    Topology.torus((2, 4), {"x": {"y": 2}}),
    Topology.fat_tree(4, 2),
    Topology.fat_tree(4, 2, oversubscription=3),
    Topology.rail(4, 2),
    Topology.dragonfly(2, 2, 1, groups=2),
]
PAIRS = [(c, a) for c, table in KNOWN.items() for a in table]


def test_eight_links_of_a_mesh_are_not_one():
    """Once priced as if one link carried what seven do: 1.835 ms, 7 times its bound."""
    told = cost(all_reduce(8, "direct"), Topology.nvlink_mesh(8), size=SIZE)
    assert told.time == pytest.approx(told.bound) == pytest.approx(262.144e-6)


@pytest.mark.rows("net", NETS)
def test_it_agrees_with_the_simulator_and_keeps_its_bound(net):
    for collective, algorithm in PAIRS:
        schedule = getattr(algorithms, collective)(net.ranks, algorithm)
        if schedule.switches > net.switches:
            continue
        for size in (0.0, 3e5, 1e9):
            told, ran = cost(schedule, net, size=size), simulate(schedule, net, size)
            assert told.bound <= told.time * (1 + 1e-9)
            assert told.time == pytest.approx(ran.time, rel=0.02), (schedule, size)


@st.composite
def anything(draw):
    """Random sends over random cables, no two alike."""
    ranks = draw(st.integers(3, 7))
    links = []
    for other in range(1, ranks):  # a tree, and some more
        links.append((draw(st.integers(0, other - 1)), other))
    pairs = [(a, b) for b in range(ranks) for a in range(b) if (a, b) not in links]
    links += draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    both = [
        (
            *pair,
            draw(st.sampled_from([1e9, 4e9, 5e10])),
            draw(st.sampled_from([0, 1e-6])),
        )
        for a, b in links
        for pair in ((a, b), (b, a))
    ]
    node = st.integers(0, ranks - 1)
    sends = st.tuples(st.integers(0, 2), node, node, st.integers(0, 3), st.booleans())
    schedule = Schedule(
        "all_reduce", "drawn", ranks, 4, sorted(draw(st.lists(sends, max_size=30)))
    )
    return schedule, Topology("drawn", ranks, ranks, both)


@settings(max_examples=60)
@given(anything(), st.sampled_from([0.0, 1e4, 1e6, 1e9]))
def test_it_agrees_with_the_simulator_on_anything(case, size):
    schedule, net = case
    told, ran = cost(schedule, net, size=size).time, simulate(schedule, net, size).time
    assert told == pytest.approx(ran, rel=0.1)


def test_which_message_is_last_depends_on_the_size():
    """A large one to a neighbour, a small one from far away."""
    links = [(0, 1, 1.0, 0.0), (1, 0, 1.0, 0.0), (1, 2, 9.0, 5.0), (2, 1, 9.0, 5.0)]
    net = Topology("near and far", 3, 3, links)
    sends = [(0, 0, 1, 0, True), (0, 0, 1, 1, True), (0, 2, 1, 0, True)]
    schedule = Schedule("all_reduce", "mine", 3, 2, sends)
    for size, time, alpha in ((2.0, 5 + 1 / 9, 5.0), (20.0, 20.0, 0.0)):
        told = cost(schedule, net, size=size)
        assert (told.time, told.alpha) == pytest.approx((time, alpha))
        assert simulate(schedule, net, size).time == pytest.approx(time)
    many = cost(schedule, net, size=np.array([[2.0, 20.0]]))
    assert many.time == pytest.approx(np.array([[5 + 1 / 9, 20.0]]))
    whole = cost(schedule, net, size=Quantity(20, "B", label="an array"))
    assert whole.time.si == pytest.approx(20) and whole.alpha.si == 0


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

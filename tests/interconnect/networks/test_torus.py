"""Tori and their twists: loads to the known values, closing, cubes and mirrors."""

from itertools import product
from math import prod

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from stacklib.interconnect.networks.lattice import all_pairs, lattice
from stacklib.interconnect.networks.shapes_optical import (
    cross_connect,
    goodput,
    run_goodput,
)
from stacklib.interconnect.networks.topology import Topology

from ...rows import refusals

XY = {"x": {"z": 4}, "y": {"z": 4}}
VECTORS = [  # all pairs' traffic, all shortest paths alike: the busiest link
    ((4, 4, 4), None, 32),
    ((8, 8, 8), None, 512),
    ((4, 4, 8), None, 128),
    ((4, 4, 8), XY, 220 / 3),
    ((4, 4, 8), True, 220 / 3),
    ((4, 4, 8), {"x": {"z": 4}}, 84),
    ((4, 8, 8), None, 256),
    ((4, 8, 8), {"x": {"y": 4, "z": 4}}, 184),
    ((4, 8, 8), {0: {1: 4}}, 256),
    ((8, 8, 16), None, 2048),
    ((8, 8, 16), True, 3568 / 3),
    ((8, 16, 16), None, 4096),
    ((8, 16, 16), True, 2976),
]


@pytest.mark.rows(("shape", "twist", "load"), VECTORS)
def test_the_busiest_link_of_known_tori(shape, twist, load):
    loads = all_pairs(lattice(shape, twist), 1.0)
    assert max(loads.values()) == pytest.approx(load)
    if twist in (True, XY):  # twisted fully, all links are alike
        assert min(loads.values()) == pytest.approx(load)


def test_what_a_twist_gains():
    load = {(shape, str(twist)): load for shape, twist, load in VECTORS}
    plain, both = load[(4, 4, 8), "None"], load[(4, 4, 8), str(XY)]
    assert round(plain / both, 3) == 1.745
    assert round(plain / load[(4, 4, 8), str({"x": {"z": 4}})], 3) == 1.524
    for shape, gain in [((8, 8, 16), 1.722), ((8, 16, 16), 1.376)]:
        assert round(load[shape, "None"] / load[shape, "True"], 3) == gain
    loads = [Topology.torus((4, 8, 8), twist).loads(1) for twist in (None, True)]
    assert round(max(loads[0].values()) / max(loads[1].values()), 3) == 1.391


def test_sixteen_cubed_loads_its_wires_as_the_formula_says():
    loads = all_pairs(lattice((16, 16, 16), None), 1.0)
    assert max(loads.values()) == pytest.approx(16**4 / 8)


shapes = st.lists(st.integers(1, 5), min_size=1, max_size=3).map(tuple)


@st.composite
def tori(draw):
    shape = draw(shapes)
    assume(2 <= prod(shape) <= 40)
    twist = {}
    for a, b in product(range(len(shape)), repeat=2):
        if a < b and shape[b] > 1:
            twist.setdefault(a, {})[b] = draw(st.integers(0, shape[b] - 1))
    return shape, twist


@settings(deadline=None, max_examples=60)
@given(tori())
def test_one_destination_tells_what_all_sources_tell(torus):
    shape, twist = torus
    net = Topology.torus(shape, twist)
    general = Topology("no shape", net.ranks, net.nodes, net.links)
    assert net.loads(1.0) == pytest.approx(general.loads(1.0))


@settings(deadline=None, max_examples=60)
@given(tori())
def test_steps_go_back_and_in_any_order(torus):
    places = lattice(*torus)
    assert sorted(map(places.node, places.places())) == list(range(places.nodes))
    moved = {
        step: places.moved(*step) for step in product(range(len(torus[0])), (1, -1))
    }
    for (axis, way), to in moved.items():
        back = moved[axis, -way]
        assert [back[node] for node in to] == list(range(places.nodes))
        for other in moved.values():
            assert [other[n] for n in to] == [to[n] for n in other]


def test_a_wrap_moves_forwards_by_its_shift_and_back_by_as_much():
    places = lattice((4, 4, 8), {"x": {"z": 3}})
    assert places.moved(0, 1)[places.node((3, 0, 0))] == places.node((0, 0, 3))
    assert places.moved(0, -1)[places.node((0, 0, 0))] == places.node((3, 0, 5))
    assert places.moved(1, 1)[places.node((0, 3, 0))] == places.node((0, 0, 0))


def test_the_bisection_of_a_torus_is_the_middle_of_its_longest_axis():
    for shape in [(4, 4, 4), (2, 4, 8), (4, 6), (3, 8), (2, 2), (6, 3, 3), (1, 12)]:
        net = Topology.torus(shape, link=1.0)
        found = net.bisection()
        ways = 1 if max(shape) == 2 else 2
        assert found.exact
        assert found.bandwidth == ways * net.ranks / max(shape)
        # the floor that traffic sets says the same as the proof
        floor = (net.ranks // 2) ** 2 / max(net.loads(1).values())
        assert found.bandwidth == pytest.approx(floor)


def test_a_twist_widens_the_middle_and_what_is_not_proved_is_not_called_exact():
    plain, twisted = (Topology.torus((4, 4, 8), t, link=1.0) for t in (None, True))
    assert plain.bisection().bandwidth == 32
    found = twisted.bisection()
    assert (found.bandwidth, found.exact) == (64, False)
    assert 55 < found.floor < 56
    assert not Topology.torus((5, 5), link=1.0).bisection().exact  # it has no middle


def test_the_bisection_of_9216_chips_a_chip():
    found = Topology.torus((16, 24, 24), link="ici_v7").bisection()
    assert found.exact
    assert found.per_chip / 1e9 == pytest.approx(16.67, abs=0.01)


test_bad_shapes_and_twists_that_do_not_close_are_refused = refusals(
    ((4, 4, 8), {"x": {"x": 2}}, "does not close: the wrap of x moves 2 along x"),
    ((4, 4, 8), {"x": {"z": 8}}, "does not close: .* which is 8 long"),
    ((4, 4, 8), {"x": {"y": 2}, "y": {"x": 2}}, "does not close: .* in a circle"),
    ((4, 4, 8), {"x": {"y": 1}, "y": {"z": 1}, "z": {"x": 1}}, "in a circle"),
    ((4, 4, 8), {"x": {"z": 1.5}}, "a whole number"),
    ((4, 4, 8), {"q": {"z": 4}}, "'q' is none of the axes xyz"),
    ((4, 4, 8), {"x": {3: 4}}, "3 is none of the axes"),
    ((4, 4, 8), {"x": 4}, "an axis and a shift"),
    ((4, 4, 8), "z", "say which wrap"),
    ((4, 4, 4), True, "no twist of shape"),
    ((4, 4, 12), True, "no twist of shape"),
    ((4, 8), True, "no twist of shape"),
    ((), None, "from 1 to 6 axes"),
    ((1, 1), None, "two chips"),
    ((4, 0), None, "length of y in shape .* = 0"),
    ((4, 2.5), None, "length of y"),
    by=Topology.torus,
)


# -- cubes ----------------------------------------------------------------------------


@pytest.mark.rows(
    ("shape", "twist"),
    [((16, 16, 16), None), ((4, 4, 8), XY), ((8, 16, 16), True), ((4, 8, 12), None)],
)
def test_mirrors_join_the_cubes_whose_chips_are_neighbours(shape, twist):
    plan = cross_connect(shape, twist, failed=(1, 3) if prod(shape) < 4096 else ())
    places = lattice(shape, twist)
    grid = lattice_cubes(plan)
    at = [grid[tuple(n // 4 for n in place)] for place in places.places()]
    for axis in range(3):
        joined = set(plan.joins[axis])
        assert len(joined) == len(plan.cubes)  # each face once
        edge = [n for n, p in enumerate(places.places()) if p[axis] % 4 == 3]
        to = places.moved(axis, 1)
        assert {(at[node], at[to[node]]) for node in edge} == joined


def lattice_cubes(plan):
    cells = product(*(range(n) for n in plan.grid))
    return dict(zip(cells, plan.cubes, strict=True))


def test_the_budget_of_ports():
    net = Topology.ocs((16, 16, 16))
    parts = net.parts()
    assert parts["optical switch"] == 48
    assert parts["optical port in use"] == 48 * 128
    assert parts["optical"] == 64 * 96 / 2  # two faces' links a cable
    small = Topology.ocs((4, 4, 8), XY)
    assert small.loads(1) == Topology.torus((4, 4, 8), XY).loads(1)
    assert cross_connect((4, 4, 4), installed=68).ports_used == 136
    with pytest.raises(ValueError, match="69 cubes need 138 ports"):
        cross_connect((4, 4, 4), installed=69)


def test_a_spare_takes_a_broken_cube_s_place():
    plan = cross_connect((8, 8, 8), installed=10)
    after = plan.replaced(3)
    assert 3 not in after.cubes and after.cubes[3] == 8 and after.spares == (9,)
    assert after.moved(plan) == 6  # two faces of three axes
    assert after.replaced(8).spares == ()
    with pytest.raises(ValueError, match="no spare is left"):
        after.replaced(8).replaced(9)
    with pytest.raises(ValueError, match="cube 3 is not in use"):
        after.replaced(3)


test_cubes_that_cannot_be_had_are_refused = refusals(
    ((4, 4, 6), {}, "6 is no multiple of 4"),
    ((4, 4, 8), {"twist": {"x": {"z": 3}}}, "3 is no multiple of 4"),
    ((8, 8), {}, "three axes"),
    ((16, 16, 16), {"failed": [5]}, "needs 64 cubes: 63 of 64"),
    ((4, 4, 4), {"failed": [64]}, "failed cube 64"),
    by=lambda shape, more: Topology.ocs(shape, **more),
)


def test_mirrors_let_whole_tori_run_when_cubes_fail():
    for cubes, up in [(1, 0.9), (8, 0.9), (16, 0.95), (64, 0.99)]:
        told = [goodput(64, cubes, up, mirrors=m) for m in (True, False)]
        drawn = [run_goodput(64, cubes, up, mirrors=m, runs=800) for m in (True, False)]
        assert told == pytest.approx(drawn, abs=0.05)
        assert told[0] >= told[1] - 1e-12
    assert goodput(64, 64, 1.0) == goodput(64, 16, 1.0, mirrors=False) == 1
    assert goodput(4, 1, 0.7) == pytest.approx(0.7)
    for bad in [(4, 5, 0.5), (4, 2, 1.5), (4, 2, float("nan")), (0, 1, 0.5)]:
        with pytest.raises(ValueError, match=r"cubes|up = nan|installed = 0"):
            goodput(*bad)

"""Section 6.8: loads three ways, the loop, bisection, cubes, and the live figure."""

from math import prod

import pytest

from stacklib.interconnect import Topology
from stacklib.interconnect.networks.lattice import lattice
from stacklib.pages.interconnect import torus as page
from stacklib.pages.interconnect.torus import drawings, live

from ...programs import loop_of

loop = loop_of("06-interconnect/torus")


@pytest.mark.parametrize("turn", [0, 4])
def test_the_loop_is_the_package(turn):
    said = float(loop.prints("4, 4, 8, 4", f"4, 4, 8, {turn}").split()[0])
    assert said == pytest.approx(page.mean(page.SHORT, turn > 0).si, abs=0.05)


def test_three_counts_of_a_twist_agree():
    for shape, gain in ((page.SHORT, 1.745), (page.WIDE, 1.391)):
        assert page.gain(shape).si == pytest.approx(gain, abs=0.001)
        for twist in (False, True):
            assert page.by_paths(shape, twist).si == page.most(shape, twist).si
        assert page.most(shape, True).si == pytest.approx(page.mean(shape, True).si)
    packets = page.slots(page.SHORT).si / page.slots(page.SHORT, True).si
    assert packets == pytest.approx(1.745, rel=0.06)


def test_the_formula_of_the_longest_axis_is_the_load():
    for shape in ((4, 4, 8), (4, 8, 8), (4, 4, 4), (6, 4, 2), (4, 4, 16)):
        load = max(Topology.torus(shape, link=1.0).loads(1.0).values())
        assert load == pytest.approx(prod(shape) * max(shape) / 8)


def test_bisection_of_a_built_torus_is_four_links_over_the_length():
    for shape in ((4, 6, 6), (8, 4, 4), (6, 8, 8)):
        built = Topology.torus(shape, link=100e9).bisection()
        told = 4 * 100e9 / max(shape)
        assert built.bandwidth / (prod(shape) / 2) == pytest.approx(told)
    assert page.bisection(page.POD).si == pytest.approx(16.67e9, rel=1e-3)
    assert page.exponent().si == pytest.approx(2 / 3)


def test_cubes_take_two_ports_at_every_switch():
    assert page.used_ports().si == page.ports_for(page.CUBES).si <= page.PORTS
    assert "288" in page.refused() and page.ports_for(page.RACKS).si == 288


def test_jobs_are_drawn_too():
    for mirrors in (True, False):
        drawn = page.running_drawn(mirrors).si
        assert drawn == pytest.approx(page.running(mirrors).si, abs=0.01)
    assert page.well().si == pytest.approx(page.HOST**page.HOSTS)


def test_a_cube_has_a_neighbour_for_every_step():
    assert page.token().si < 0.5 * page.token_line().si


def test_the_drawing_walks_the_lattice():
    places = lattice(drawings.FLAT, drawings.TURN)
    turned = drawings.reached(True)
    near = {places.moved(axis, way)[0] for axis, way in places.steps()}
    assert near == {chip for chip, links in enumerate(turned) if links == 1}
    assert max(turned) < max(drawings.reached(False))


def test_the_live_figure_says_what_a_shift_does():
    given = {c["name"]: c["value"] for c in live.controls()}
    spec = live.explore(**given)
    assert "nearer" in spec["title"]
    gain = next(r for r in spec["readouts"] if r["name"] == "gain")
    assert gain["tree"]["value"] == pytest.approx(1.745, abs=0.001)
    assert "no chip nearer" in live.explore(**given | {"shift": 0})["title"]

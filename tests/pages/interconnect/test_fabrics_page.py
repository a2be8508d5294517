"""Section 6.7: closed sizes against built graphs, cuts against flows, the loop."""

import re

import networkx
import pytest

from stacklib.interconnect import Topology, all_reduce, simulate
from stacklib.interconnect.networks.cuts import narrowest
from stacklib.interconnect.networks.shapes_fat_tree import fat_tree_size, levels_for
from stacklib.pages.interconnect import fabrics as page
from stacklib.pages.interconnect.fabrics import drawings, live, rows

from ...programs import loop_of

loop = loop_of("06-interconnect/fabrics")


def test_the_loop_is_the_package():
    said = loop.prints().splitlines()
    for text in said:
        gpus, levels, share = map(float, re.findall(r"\d+\.?\d*", text))
        assert levels == levels_for(int(gpus), page.RADIX)
        assert share / 100 == pytest.approx(page.share(int(levels)).si, abs=5e-4)
    assert len(said) == 6


@pytest.mark.rows(("radix", "levels"), [(4, 2), (4, 3), (8, 2), (8, 3), (4, 4)])
def test_a_built_tree_is_as_large_as_its_formula(radix, levels):
    tree, told = Topology.fat_tree(radix, levels), fat_tree_size(radix, levels)
    parts, half = tree.parts(), radix // 2
    assert tree.ranks == told.hosts == 2 * half**levels
    assert parts["switch"] == told.switches == (2 * levels - 1) * half ** (levels - 1)
    assert parts["link"] == told.cables == levels * told.hosts
    assert parts["switch port"] == (2 * levels - 1) * told.hosts


def test_the_large_one_was_counted():
    assert page.parts("switch").si == page.need(16_384).si == 1280
    assert page.parts("link").si == 3 * 16_384


@pytest.mark.parametrize("over", [1, 3])
def test_cut_is_flow_and_networkx_agrees(over):
    tree = Topology.fat_tree(8, 3, over, link=page.PORT)
    half = tree.ranks // 2
    flow, _ = narrowest(range(half), range(half, tree.ranks), tree.capacity)
    graph = networkx.DiGraph()
    for (a, b), width in tree.capacity.items():
        graph.add_edge(a, b, capacity=width / page.PORT)
    for gpu in range(half):
        graph.add_edge("from", gpu)
        graph.add_edge(half + gpu, "to")
    theirs = networkx.maximum_flow_value(graph, "from", "to") * page.PORT
    assert flow == pytest.approx(theirs) == pytest.approx(half * page.PORT / over)
    assert tree.bisection().bandwidth == pytest.approx(flow)
    assert page.flow(over).si == pytest.approx(page.PORT / over)


def test_a_missing_cable_is_seen_by_the_flow():
    """Planted: one cable between switches is gone."""
    tree = Topology.fat_tree(4, 3, link=page.PORT)
    above = next(pair for pair in tree.capacity if min(pair) >= tree.ranks)
    less = tree.fail(above)
    half = range(8), range(8, 16)
    whole, left = (narrowest(*half, net.capacity)[0] for net in (tree, less))
    assert left < whole


def test_the_price_is_that_of_its_parts():
    ours = page.network().si
    assert ours == pytest.approx(5 * 36_000 / 64 + 3 * 1280)
    assert page.share().si == pytest.approx(ours * 8 / 310_000)
    # the bill of the built tree, at the same prices
    bill = page.built().cost({"switch port": 36_000 / 64, "link": 1280})
    assert bill.total / page.built().ranks == pytest.approx(ours)
    assert page.paid("fat tree").si == pytest.approx(ours)


def test_the_spreadsheet_agrees_where_trees_are_full():
    agrees = [page.theirs(n).si == page.need(n).si for n in page.SHEETS]
    assert agrees == [True, False, True, False]
    assert len(rows.sheet()) == len(page.SHEETS)
    assert page.planes().si == page.reach("switch_q3400", 3).si == 746_496


def test_cheaper_shapes_cut_their_bisection():
    full, *others = page.SHAPES
    for name in others:
        assert page.paid(name).si < page.paid(full).si
        assert page.across(name).si < 0.6 * page.across(full).si == 0.6 * page.PORT


def test_two_servers_link_by_link():
    net = Topology.rail(2, 8)
    made = all_reduce(16, "hierarchical", group=8)
    run = simulate(made, net, page.vector().si)
    assert run.time == pytest.approx(page.once(2).si, rel=1e-6)
    rail = [pair for pair in run.bytes if 16 <= max(pair) and min(pair) < 16]
    spines = net.ranks + 2 + 8
    assert rail and all(max(pair) < spines for pair in run.bytes)
    assert page.both(2).si < page.both(1).si


def test_the_live_figure_finds_what_blocks():
    def title(network: str, traffic: str) -> str:
        return live.explore(network=network, traffic=traffic)["title"]

    for traffic in live.TRAFFIC:
        assert "blocks nothing" in title("tree", traffic)
    assert "Some link" in title("thin", "half")
    assert "Some link" in title("dragonfly", "half")


def test_the_drawing_lights_the_way():
    html = drawings.rails().html
    assert len(html) < 90_000
    for word in ("rails", "spines", "server A", "NVSwitch"):
        assert word in html

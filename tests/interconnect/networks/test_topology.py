"""Routes, loads and cuts against networkx and against every split; planted faults."""

from itertools import combinations, pairwise, product

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib.interconnect.networks.cuts import crossing, narrowest, search
from stacklib.interconnect.networks.links import Link
from stacklib.interconnect.networks.paths import islands
from stacklib.interconnect.networks.topology import Topology
from stacklib.quantity import Quantity, UnknownName

from ...rows import refusals


@st.composite
def networks(draw, most=7):
    """A connected network: a tree both ways, and more links one way."""
    nodes = draw(st.integers(2, most))
    ranks = draw(st.integers(2, nodes))
    found = {}
    for node in range(1, nodes):
        other = draw(st.integers(0, node - 1))
        found[node, other] = draw(st.integers(1, 4))
        found[other, node] = draw(st.integers(1, 4))
    for pair in draw(st.lists(st.tuples(*[st.integers(0, nodes - 1)] * 2), max_size=9)):
        if pair[0] != pair[1]:
            found.setdefault(pair, draw(st.integers(1, 4)))
    links = [(a, b, float(width), 0.0) for (a, b), width in found.items()]
    return Topology("drawn", ranks, nodes, links)


def graph(net):
    made = nx.DiGraph()
    made.add_nodes_from(range(net.nodes))
    for (a, b), width in net.capacity.items():
        made.add_edge(a, b, capacity=width)
    return made


@settings(deadline=None, max_examples=50)
@given(networks())
def test_routes_are_all_shortest_paths(net):
    peer = graph(net)
    for a, b in product(range(net.nodes), repeat=2):
        found = net.routes(a, b)
        paths = sorted(map(tuple, nx.all_shortest_paths(peer, a, b)))
        assert sorted(found.every()) == paths
        assert found.count == len(paths)
        assert found.path in paths
        assert found.hops == len(paths[0]) - 1
        share = {}
        for path in paths:
            for pair in pairwise(path):
                share[pair] = share.get(pair, 0) + 1 / len(paths)
        assert found.share == pytest.approx(share)


@settings(deadline=None, max_examples=40)
@given(networks(), st.data())
def test_loads_are_betweenness_for_all_pairs_and_add_up_for_any(net, data):
    everyone = Topology("chips", net.nodes, net.nodes, net.links)
    peer = nx.edge_betweenness_centrality(graph(net), normalized=False)
    assert everyone.loads(1.0) == pytest.approx(peer)

    node = st.integers(0, net.nodes - 1)
    sent = data.draw(
        st.dictionaries(st.tuples(node, node), st.floats(0, 9), max_size=9)
    )
    summed = dict.fromkeys(net.capacity, 0.0)
    for (a, b), amount in sent.items():
        for pair, share in net.routes(a, b).share.items():
            summed[pair] += amount * share
    assert net.loads(sent) == pytest.approx(summed)


@settings(deadline=None, max_examples=40)
@given(networks(), st.data())
def test_a_cut_is_as_narrow_as_the_flow_is_wide(net, data):
    chips = data.draw(st.integers(1, net.nodes - 1))
    width, side = narrowest(range(chips), range(chips, net.nodes), net.capacity)
    assert width == pytest.approx(crossing(range(chips), net.capacity))
    width, side = narrowest([0], [net.nodes - 1], net.capacity)
    assert width == pytest.approx(nx.maximum_flow_value(graph(net), 0, net.nodes - 1))
    assert width == pytest.approx(crossing(side, net.capacity))
    assert 0 in side and net.nodes - 1 not in side


def test_a_flow_takes_back_what_it_sent_a_wrong_way():
    # the shortest way, 0 1 2 7, has to be left again for two to fit
    ways = [(0, 1), (1, 2), (2, 7), (1, 3), (3, 4), (4, 7), (0, 5), (5, 6), (6, 2)]
    assert narrowest([0], [7], dict.fromkeys(ways, 1.0))[0] == 2


def test_a_split_is_taken_in_its_narrower_direction():
    links = [
        (a, b, 1.0 if a < b else 5.0) for a in range(12) for b in range(12) if a != b
    ]
    net = Topology("uneven", 12, 12, links)
    given = Topology("uneven", 12, 12, links, (tuple(range(6, 12)),))
    assert net.bisection().bandwidth == given.bisection().bandwidth == 36
    assert given.bisection().side == tuple(range(6))
    assert net.bisection().exact  # all pairs' traffic fills the narrow links evenly


def every_split(net):
    """The bisection by trying every set of nodes."""
    best = float("inf")
    for inside in product((0, 1), repeat=net.nodes):
        if sum(inside[: net.ranks]) in (net.ranks // 2, net.ranks - net.ranks // 2):
            side = [n for n in range(net.nodes) if inside[n]]
            best = min(best, crossing(side, net.capacity))
    return best


@settings(deadline=None, max_examples=40)
@given(networks())
def test_the_bisection_of_few_chips_is_the_least_of_all_splits(net):
    found = net.bisection()
    assert found.exact
    assert found.bandwidth == pytest.approx(every_split(net))
    assert crossing(found.side, net.capacity) == pytest.approx(found.bandwidth)


@pytest.mark.rows(
    "net",
    [
        Topology.torus((8,)),
        Topology.torus((2, 4)),
        Topology.torus((2, 2, 2)),
        Topology.nvlink_mesh(7),
        Topology.nvswitch(8, 4),
        Topology.nvswitch(5, 2, links=3, ports=20),
        Topology.fat_tree(4, 2),
        Topology.fat_tree(4, 1),
        Topology.fat_tree(6, 2, 2, hosts=8),
        Topology.fat_tree(4, 3, hosts=8),
        Topology.rail(4, 2, inside=100e9, cables=1),
    ],
)
def test_a_bisection_known_by_make_up_is_what_a_search_finds(net):
    assert net.bisection().exact
    assert net.bisection().bandwidth == pytest.approx(
        search(net.ranks, net.capacity).bandwidth
    )
    assert net.proof or net.ranks <= 10


@settings(deadline=None, max_examples=60)
@given(st.integers(1, 9), st.lists(st.tuples(*[st.integers(0, 8)] * 2), max_size=9))
def test_islands_are_connected_components(nodes, pairs):
    pairs = [(a % nodes, b % nodes) for a, b in pairs]
    peer = nx.Graph(pairs)
    peer.add_nodes_from(range(nodes))
    found = islands(nodes, pairs)
    assert sorted(map(sorted, nx.connected_components(peer))) == sorted(found)


def ring(ranks, **more):
    return Topology.torus((ranks,), link=1.0, latency=0.0, **more)


def test_what_is_not_connected_names_its_islands():
    pair = [(0, 1, 1.0), (1, 0, 1.0), (2, 3, 1.0), (3, 2, 1.0)]
    says = r"not connected: 2 islands, chips 0 to 1; chips 2 to 3"
    with pytest.raises(ValueError, match=says):
        Topology("two", 4, 4, pair)
    with pytest.raises(ValueError, match="chips 0 to 1 with 1 switches"):
        Topology("hung", 3, 4, [(0, 3, 1.0), (3, 0, 1.0), (1, 3, 1.0), (3, 1, 1.0)])
    assert Topology("spare switch", 2, 3, pair[:2]).switches == 1
    with pytest.raises(ValueError, match="no way from 0 to 2"):
        Topology("one way", 3, 3, [*pair[:2], (2, 1, 1.0)])


def test_a_link_fails_in_both_directions_and_the_way_goes_round():
    net = ring(6)
    assert net.routes(0, 1).hops == 1
    broken = net.fail((0, 1))
    assert len(broken.links) == len(net.links) - 2
    assert broken.routes(0, 1).path == (0, 5, 4, 3, 2, 1)
    assert (broken.bisection().bandwidth, net.bisection().bandwidth) == (1, 2)
    assert max(broken.loads(1.0).values()) == 9  # as a line: 3 x 3 pairs
    with pytest.raises(ValueError, match="not connected: 2 islands"):
        broken.fail((2, 3))
    with pytest.raises(ValueError, match="no link between 0 and 1"):
        broken.fail((0, 1))


def test_cables_and_switches_fail():
    net = Topology.nvswitch(8, 4, link=25e9)
    one = net.fail((0, 8), cables=1)
    mean = 18 / 4 * 25e9  # of a plane, whether it has four of the links or five
    assert net.capacity[0, 8] == mean and one.capacity[0, 8] == 4 / 5 * mean
    fewer = net.fail(8)
    assert fewer.routes(0, 7).count == 3
    assert fewer.bisection().per_chip == 3 * mean
    with pytest.raises(ValueError, match="node 0 is a chip"):
        net.fail(0)
    with pytest.raises(ValueError, match="nodes are 0 to 11"):
        net.fail(12)
    with pytest.raises(ValueError, match="two nodes of a link"):
        net.fail("0-8")


def test_parts_are_counted_and_priced():
    net = Topology.nvswitch(8, 4)
    parts = net.parts()
    assert parts == {
        "chip": 8,
        "switch": 4,
        "switch port": 144,
        "link": 144,
        "nvlink4": 144,
    }
    bill = net.cost({"switch": 100, "switch-port": 2})
    assert bill.total == 4 * 100 + 144 * 2
    priced = net.cost({"switch": Quantity(3, "USD"), "link": Quantity(1, "USD")})
    assert priced.total.si == 4 * 3 + 144
    for prices, says in [
        ({"fan": 1}, "fan"),
        ({}, "no prices"),
        ({"link": 1, "nvlink4": 1}, "priced twice"),
        ({"switch": -1}, "price of switch = -1"),
        ({"switch": float("nan")}, "price of switch = nan"),
    ]:
        with pytest.raises((ValueError, UnknownName), match=says):
            net.cost(prices)


test_bad_networks_are_refused = refusals(
    (0, 1, [], "ranks = 0"),
    (2, 1, [], "nodes = 1"),
    (2, 2, [(0, 0, 1.0)], "none to itself"),
    (2, 2, [(0, 2, 1.0)], "node 2: nodes are 0 to 1"),
    (2, 2, [(0, 1, 0.0)], "bandwidth of 0 -> 1 = 0.0"),
    (2, 2, [(0, 1, float("nan"))], "bandwidth of 0 -> 1 = nan"),
    (2, 2, [(0, 1, 1.0, -1.0)], "latency of 0 -> 1"),
    (2, 2, [(0, 1, 1.0, 0.0, 0)], "cables of 0 -> 1 = 0"),
    (2, 2, [(0, 1)], "source, destination, bandwidth"),
    (2, 2, [(0, 1, 1.0), (0, 1, 1.0)], "0 -> 1 is given twice"),
    by=lambda ranks, nodes, links: Topology("bad", ranks, nodes, links),
)


def test_bad_questions_are_refused():
    net = ring(4)
    with pytest.raises(ValueError, match="node 4"):
        net.routes(0, 4)
    with pytest.raises(ValueError, match="traffic = nan"):
        net.loads(float("nan"))
    with pytest.raises(ValueError, match="bytes from 0 to 1 = -1"):
        net.loads({(0, 1): -1})
    with pytest.raises(ValueError, match="no halves"):
        Topology("one", 1, 1, []).bisection()


def test_a_network_takes_quantities():
    wide = Quantity(50, "GB/s per_direction")
    net = Topology("pair", 2, 2, [(0, 1, wide, Quantity(1, "us")), Link(1, 0, 50e9)])
    assert net.capacity[0, 1] == 50e9 and net.latency[0, 1] == pytest.approx(1e-6)


def test_a_route_is_chosen_by_the_destination_and_shifts_meet_no_link_twice():
    tree = Topology.fat_tree(8, 3)
    for shift in (1, 5, 17, 64):
        used = [
            pair
            for a in range(tree.ranks)
            for path in [tree.routes(a, (a + shift) % tree.ranks).path]
            for pair in pairwise(path)
        ]
        assert len(used) == len(set(used))


def test_all_splits_of_six_chips_by_hand():
    net = ring(6)
    widths = [crossing(half, net.capacity) for half in combinations(range(6), 3)]
    assert net.bisection().bandwidth == min(widths) == 2

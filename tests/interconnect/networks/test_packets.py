"""Packets on a torus: each arrives by a shortest path, and the twist gains as told."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib.interconnect.networks.packets import run_packets
from stacklib.interconnect.networks.topology import Topology

nets = st.sampled_from(
    [
        Topology.torus((2, 4)),
        Topology.torus((3, 3), {"x": {"y": 1}}),
        Topology.torus((5,)),
        Topology.nvlink_mesh(5),
        Topology.fat_tree(4, 2),
    ]
)


@settings(deadline=None, max_examples=40)
@given(nets, st.integers(1, 3), st.sampled_from(["spread", "queue"]), st.integers(0, 9))
def test_every_packet_arrives_by_a_shortest_path(net, each, choice, seed):
    ran = run_packets(net, each, choice=choice, seed=seed)
    assert ran.delivered == each * net.ranks * (net.ranks - 1)
    hops = sum(
        net.routes(a, b).hops for a in range(net.ranks) for b in range(net.ranks)
    )
    assert ran.hops == each * hops == sum(ran.loads.values())
    assert ran.slots >= max(ran.loads.values())
    assert run_packets(net, each, choice=choice, seed=seed) == ran


def test_a_line_by_hand():
    both = [(0, 1, 1.0), (1, 0, 1.0), (1, 2, 1.0), (2, 1, 1.0)]
    ran = run_packets(Topology("line", 3, 3, both))
    assert set(ran.loads.values()) == {2}
    assert ran.slots in (2, 3)  # 2, if what goes far leaves first


def test_the_twist_of_4_4_8_gains_with_packets_too():
    plain, twisted = (Topology.torus((4, 4, 8), twist) for twist in (None, True))
    slots = [run_packets(net, choice="queue").slots for net in (plain, twisted)]
    assert slots[0] / slots[1] == pytest.approx(1.745, rel=0.06)
    drawn = run_packets(twisted, choice="spread")
    told = twisted.loads(1.0)
    counted = [drawn.loads[pair] for pair in told]
    # loads are sums of draws about the same mean: 73.3 a link
    assert sum(counted) / len(counted) == pytest.approx(220 / 3)
    assert 73.3 <= drawn.slots < 1.5 * 73.3


def test_packets_that_are_drawn_load_links_as_paths_are_counted():
    net = Topology.torus((3, 5)).fail((0, 1))
    ran = run_packets(net, 300)
    told = net.loads(300.0)
    assert [ran.loads[pair] for pair in told] == pytest.approx(
        list(told.values()), rel=0.07
    )


def test_links_of_two_bandwidths_are_refused():
    with pytest.raises(ValueError, match="links of one bandwidth"):
        run_packets(Topology.rail(2, 2))
    with pytest.raises(ValueError, match="each = 0"):
        run_packets(Topology.torus((4,)), 0)

"""Shapes counted by hand and in closed form, and the racks of the chapter."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib.interconnect.networks.paths import islands
from stacklib.interconnect.networks.shapes_fat_tree import (
    fat_tree,
    fat_tree_size,
    levels_for,
)
from stacklib.interconnect.networks.shapes_scaleup import CUBE_MESH, port_graph
from stacklib.interconnect.networks.topology import Topology
from stacklib.quantity import UnknownName


def test_the_rack_of_72():
    net = Topology.nvswitch(72, 18, links=18, ports=72, link="nvlink5")
    assert net.bandwidth == pytest.approx(129.6e12)
    assert net.parts()["switch port"] == 18 * 72  # every port used
    assert {net.routes(0, b).hops for b in range(1, 72)} == {2}
    found = net.bisection()
    assert found.exact and found.per_chip == pytest.approx(900e9)


def test_packed_planes_leave_nine_islands():
    wired = port_graph(72, 18, 9, 144, "packed")
    found = islands(81, list(wired))
    assert [len(island) for island in found] == [9] * 9  # eight chips and a plane
    assert all(sum(n < 72 for n in island) == 8 for island in found)
    assert sum(wired.values()) == 9 * 144  # though every port is used
    with pytest.raises(ValueError, match=r"9 islands, chips 0 to 7 with 1 switches"):
        Topology.nvswitch(72, 9, links=18, ports=144, wiring="packed")
    spread = port_graph(72, 18, 18, 72)
    assert len(islands(90, list(spread))) == 1
    assert set(spread.values()) == {1}


def test_chips_take_turns_where_ports_are_fewer():
    """72 chips on 21 switch chips of 64 ports: each leaves three out, none is alone."""
    wired = port_graph(72, 18, 21, 64)
    used = Counter(switch for _, switch in wired)
    assert sum(used.values()) == 72 * 18 and max(used.values()) <= 64
    mine = {chip: {s for c, s in wired if c == chip} for chip in range(72)}
    shared = {len(mine[a] & mine[b]) for a in range(72) for b in range(a)}
    assert min(shared) == 18 - 3 and max(shared) == 18
    with pytest.raises(ValueError, match="more switch chips or ports"):
        port_graph(72, 18, 20, 64)
    with pytest.raises(ValueError, match="more switch chips or ports"):
        port_graph(72, 2, 4, 36)  # two chips might share none


def test_too_few_ports_are_refused():
    with pytest.raises(ValueError, match="1296 links for 1152 ports"):
        Topology.nvswitch(72, 18, links=18, ports=64)
    with pytest.raises(UnknownName, match="unknown wiring"):
        Topology.nvswitch(8, wiring="mesh")
    with pytest.raises(ValueError, match="ranks = 0"):
        Topology.nvswitch(0)


def test_meshes():
    net = Topology.nvlink_mesh(8, link="if_mi300x")
    assert {net.routes(a, b).hops for a in range(8) for b in range(8) if a != b} == {1}
    assert net.bisection().bandwidth == 16 * 64e9
    cube = Topology.nvlink_mesh(8, CUBE_MESH, link=25e9)
    used = [sum(n for pair, n in CUBE_MESH.items() if g in pair) for g in range(8)]
    assert used == [6] * 8
    assert max(cube.routes(a, b).hops for a in range(8) for b in range(8)) == 2
    assert cube.bisection().exact
    with pytest.raises(ValueError, match="node 8"):
        Topology.nvlink_mesh(8, {(0, 8): 1})
    with pytest.raises(ValueError, match="not connected"):
        Topology.nvlink_mesh(4, {(0, 1): 1, (2, 3): 1})


@pytest.mark.rows("radix", [4, 6, 8])
@pytest.mark.rows("levels", [1, 2, 3, 4])
def test_a_full_fat_tree_in_closed_form_and_built(radix, levels):
    if fat_tree_size(radix, levels).hosts > 600:
        return
    size, net = fat_tree_size(radix, levels), fat_tree(radix, levels, link=1.0)
    half = radix // 2
    assert size.hosts == net.ranks == 2 * half**levels
    assert size.switches == net.switches == (2 * levels - 1) * half ** (levels - 1)
    assert size.cables == net.parts()["link"] == levels * size.hosts
    assert net.routes(0, net.ranks - 1).hops == 2 * levels
    assert net.routes(0, net.ranks - 1).count == half ** (levels - 1)
    found = net.bisection()
    assert found.exact and found.per_chip == 1


@settings(deadline=None, max_examples=40)
@given(
    st.sampled_from([(4, 1), (6, 1), (6, 2), (8, 1), (8, 3), (12, 2), (12, 5)]),
    st.integers(2, 3),
    st.data(),
)
def test_fat_trees_keep_to_their_ports(how, levels, data):
    radix, over = how
    size = fat_tree_size(radix, levels, over)
    if size.hosts > 400:
        return
    full = fat_tree(radix, levels, over, link=1.0)
    assert (full.ranks, full.switches) == (size.hosts, size.switches)
    assert full.parts()["link"] == size.cables
    assert full.bisection().per_chip == pytest.approx(1 / over)
    hosts = data.draw(st.integers(1, size.hosts))
    part = fat_tree(radix, levels, over, hosts=hosts, link=1.0)
    assert part.switches <= full.switches
    for net in (full, part):
        ports = dict.fromkeys(range(net.ranks, net.nodes), 0)
        for link in net.links:
            if link.source in ports:
                ports[link.source] += link.cables
        assert max(ports.values()) <= radix


def test_a_fat_tree_is_sized():
    assert fat_tree_size(64, 3).hosts == 65536
    assert levels_for(1024, 64) == 2
    assert levels_for(2049, 64) == 3
    thousand = fat_tree(64, 2, hosts=1024)
    assert thousand.switches == 32 + 16  # spines take two cables of each leaf
    assert fat_tree_size(64, 2, 3).up == 16
    with pytest.raises(ValueError, match="have room for 8; 3 levels are needed"):
        fat_tree(4, 2, hosts=9)
    with pytest.raises(ValueError, match="possible are 1, "):
        fat_tree(8, 2, 1.5)
    with pytest.raises(ValueError, match="radix = 5"):
        fat_tree(5, 2)
    with pytest.raises(ValueError, match=r"oversubscription = 0\.5"):
        fat_tree(8, 2, 0.5)
    with pytest.raises(ValueError, match="levels = 0"):
        fat_tree(8, 0)


def test_rails():
    net = Topology.rail(4, 8)
    assert net.routes(0, 8).path == (0, 36, 8)  # one place: over its rail
    crossed = net.routes(0, 9)
    assert crossed.hops == 4
    inside = {path[2] for path in crossed.every()}
    assert inside & set(range(32)), "some ways change rails inside a server"
    assert net.bisection().exact and net.bisection().per_chip == 50e9
    apart = Topology.rail(4, 8, spines=0)
    assert apart.switches == 4 + 8
    assert apart.routes(0, 9).count < crossed.count
    with pytest.raises(ValueError, match="servers = 40"):
        Topology.rail(40, 8)
    with pytest.raises(ValueError, match="spines = 3"):
        Topology.rail(4, 8, spines=3)


@pytest.mark.rows(("a", "p", "h"), [(2, 1, 1), (4, 2, 2), (3, 1, 2), (1, 2, 3)])
def test_a_dragonfly_reaches_every_group_at_once(a, p, h):
    net = Topology.dragonfly(a, p, h)
    groups = a * h + 1
    assert net.ranks == groups * a * p
    assert net.parts()["link"] == (
        net.ranks + groups * a * (a - 1) // 2 + groups * (groups - 1) // 2
    )
    ports = [0] * net.nodes
    for link in net.links:
        ports[link.source] += 1
    assert set(ports[net.ranks :]) == {p + a - 1 + h}
    hops = {net.routes(0, b).hops for b in range(1, net.ranks)}
    assert max(hops) <= 5


def test_dragonflies_of_fewer_groups():
    for groups in range(1, 9):
        net = Topology.dragonfly(4, 2, 2, groups=groups)
        assert net.ranks == groups * 8
        assert max(net.routes(0, b).hops for b in range(net.ranks)) <= 5
        assert net.bisection().floor <= net.bisection().bandwidth
    with pytest.raises(ValueError, match="reach 8 other groups"):
        Topology.dragonfly(4, 2, 2, groups=10)


def test_links_by_name_or_number():
    named, plain = Topology.torus((4,), link="ici_v4"), Topology.torus((4,), link=50e9)
    assert named.capacity == plain.capacity
    assert named.latency[0, 1] == pytest.approx(1e-6)
    assert set(plain.latency.values()) == {0.0}
    assert named.parts()["ici_v4"] == 4
    with pytest.raises(ValueError, match="link = 0"):
        Topology.torus((4,), link=0)
    with pytest.raises(ValueError, match="bandwidth of one link is not known"):
        Topology.torus((4,), link="neuronlink_v3")
    with pytest.raises(UnknownName, match="no_such"):
        Topology.torus((4,), link="no_such")

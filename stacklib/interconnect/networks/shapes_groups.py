"""Networks of groups: servers with a rail a chip, and dragonflies.

*Rail-optimised*: chip i of every server hangs on rail i, so that chips of one place
meet at one switch; chips of different places meet inside a server or over the spine.
*Dragonfly* (J. Kim and others, *Technology-driven, highly-scalable dragonfly topology*,
2008): groups of routers, each joined to each inside the group, and one cable or more
between any two groups.
"""

from __future__ import annotations

from stacklib.quantity.bounds import whole

from .links import Link, Wire, both, wire
from .topology import Topology


def rail(
    servers: int = 4,
    chips: int = 8,
    *,
    spines: int | None = None,
    ports: int = 64,
    inside: Wire = "nvlink4",
    cables: int = 18,
    link: Wire = "ib_ndr",
    latency: float | None = None,
) -> Topology:
    """Servers of chips on one switch inside, and a rail for each place in a server.

    - ``servers``, ``chips``: servers, and chips in each; chip ``i`` of a server is on
      rail ``i``.
    - ``spines``: switches over the rails, full bandwidth in all; 0 for rails that only
      meet inside the servers. The fewest that have the ports where it is None.
    - ``ports``: of each switch of the network.
    - ``inside``, ``cables``: a cable inside a server, and how many a chip has.
    - ``link``: the cable from a chip to its rail; one a chip.
    - ``latency``: seconds of each cable outside; the database's, halved, where it is
      None.
    - raises ``ValueError`` for more servers than a switch has ports, and spines among
      which the servers cannot be divided.

    >>> net = rail(4, 8)
    >>> net.routes(0, 8).hops, net.routes(0, 9).hops
    (2, 4)
    """
    whole(servers=servers, chips=chips, ports=ports, cables=cables)
    down = servers * (1 if spines == 0 else 2)
    if down > ports:
        raise ValueError(
            f"servers = {servers}: a rail needs {down} ports for them, it has {ports}"
        )
    if spines is None:
        fits = [s for s in range(1, servers + 1) if servers % s == 0]
        spines = next((s for s in fits if chips * servers // s <= ports), servers)
    whole(0, spines=spines)
    if spines and (servers % spines or chips * servers // spines > ports):
        raise ValueError(
            f"spines = {spines}: each takes {chips} rails x {servers / spines:g} "
            f"cables, whole and at most {ports} in all"
        )
    ranks = servers * chips
    near, outer = wire(inside, None, hops=2), wire(link, latency, hops=2)
    first, over = ranks + servers, ranks + servers + chips  # rails, spines
    links: list[Link] = []
    for rank in range(ranks):
        server, place = divmod(rank, chips)
        links += both(rank, ranks + server, near, cables)
        links += both(rank, first + place, outer)
    for place in range(chips):
        for spine in range(spines):
            links += both(first + place, over + spine, outer, servers // spines)
    half = servers // 2
    by_server = (*range(half * chips), *range(ranks, ranks + half))
    ways = [by_server]
    if chips % 2 == 0:
        left = tuple(r for r in range(ranks) if r % chips < chips // 2)
        ways.append((*left, *range(first, first + chips // 2)))
    proof = ""
    if spines and servers % 2 == 0:
        proof = "the rails' switches and spines let half of the chips send at once"
    name = f"{servers} servers of {chips} chips on rails"
    return Topology(name, ranks, over + spines, tuple(links), tuple(ways), proof)


def dragonfly(
    routers: int = 4,
    hosts: int = 2,
    outer: int = 2,
    *,
    groups: int | None = None,
    link: Wire = "eth_200g",
    latency: float | None = None,
) -> Topology:
    """Groups of routers, one link between any two groups, none further than three.

    - ``routers``, ``hosts``, ``outer``: routers of a group; hosts, and links to other
      groups, of each router.
    - ``groups``: groups; as many as have a link to each other, ``routers * outer + 1``,
      if None.
    - ``link``: one cable: a key of ``hardware.link``, or B/s in one direction.
    - ``latency``: seconds of each cable; a fifth of the database's, the longest way, if
      None.
    - raises ``ValueError`` for more groups than there are links for.

    >>> net = dragonfly(4, 2, 2)
    >>> net.ranks, net.switches, net.parts()["link"]
    (72, 36, 162)
    """
    whole(routers=routers, hosts=hosts, outer=outer)
    most = routers * outer + 1
    groups = most if groups is None else groups
    whole(groups=groups)
    if groups > most:
        raise ValueError(
            f"groups = {groups}: {routers} routers x {outer} outer links reach "
            f"{most - 1} other groups"
        )
    cable = wire(link, latency, hops=5)
    ranks, per_group = groups * routers * hosts, routers * hosts
    links: list[Link] = []

    def router(group: int, number: int) -> int:
        return ranks + group * routers + number

    for host in range(ranks):
        links += both(host, ranks + host // hosts, cable)
    for group in range(groups):
        for a in range(routers):
            for b in range(a + 1, routers):
                links += both(router(group, a), router(group, b), cable)
        for other in range(group + 1, groups):
            # port o of a group leads to the group o + 1 further on
            here, there = other - group - 1, groups - 1 - (other - group)
            one, two = router(group, here // outer), router(other, there // outer)
            links += both(one, two, cable)
    half = (groups // 2) * per_group
    split: list[int] = [*range(half), *range(ranks, ranks + groups // 2 * routers)]
    split += range(half, ranks // 2)  # of an odd number, hosts of one group more
    name = f"dragonfly of {groups} groups"
    return Topology(
        name, ranks, ranks + groups * routers, tuple(links), (tuple(split),)
    )

"""Fat trees: switches in levels, with as much bandwidth above as below, or less.

A tree of one level is one switch. A tree of more levels is a level of leaves, each with
``down`` hosts and ``up`` cables, and ``up`` trees of one level less whose hosts are the
leaves. With down = up = radix / 2 that is the fat tree of M. Al-Fares and others (*A
scalable, commodity data center network architecture*, 2008) and C. Leiserson (1985):
2 (k/2)^n hosts, (2n - 1) (k/2)^(n - 1) switches, n cables a host.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from stacklib.quantity.bounds import at_least, whole

from .links import Link, Wire, both, wire
from .topology import Topology


@dataclass(frozen=True, slots=True)
class Size:
    """A fat tree in numbers."""

    hosts: int
    leaves: int
    switches: int
    cables: int  # those of the hosts counted
    down: int  # ports of a leaf to hosts
    up: int  # and upwards


def _ports(radix: int, levels: int, oversubscription: float) -> tuple[int, int]:
    """Ports of a leaf downwards and upwards."""
    whole(levels=levels)
    whole(2, radix=radix)
    at_least(1, oversubscription=oversubscription)
    if levels == 1:
        return radix, 0
    if radix % 2:
        raise ValueError(f"radix = {radix}: an even number of ports is needed")
    ratio = Fraction(float(oversubscription)).limit_denominator(radix)
    up = Fraction(radix) / (1 + ratio)
    if up.denominator != 1 or abs(float(ratio) - oversubscription) > 1e-9:
        fine = [f"{(radix - u) / u:g}" for u in range(radix // 2, 0, -1)]
        raise ValueError(
            f"oversubscription = {oversubscription}: {radix} ports do not divide so; "
            f"possible are {', '.join(fine[:6])}"
        )
    return radix - int(up), int(up)


def fat_tree_size(radix: int, levels: int, oversubscription: float = 1) -> Size:
    """Hosts, switches and cables of a full fat tree, in closed form.

    - ``oversubscription``: a leaf's ports to hosts over those upwards.
    """
    down, up = _ports(radix, levels, oversubscription)
    if levels == 1:
        return Size(radix, 1, 1, radix, radix, 0)
    half = radix // 2
    leaves = 2 * half ** (levels - 1)
    above = (2 * levels - 3) * half ** (levels - 2)  # switches of each tree above
    return Size(
        leaves * down,
        leaves,
        leaves + up * above,
        leaves * down + up * (levels - 1) * leaves,
        down,
        up,
    )


def levels_for(hosts: int, radix: int, oversubscription: float = 1) -> int:
    """The fewest levels of a tree for so many hosts."""
    whole(hosts=hosts)
    whole(4, radix=radix)
    levels = 1
    while fat_tree_size(radix, levels, oversubscription).hosts < hosts:
        levels += 1
    return levels


def fat_tree(
    radix: int = 8,
    levels: int = 2,
    oversubscription: float = 1,
    *,
    hosts: int | None = None,
    link: Wire = "ib_ndr",
    latency: float | None = None,
) -> Topology:
    """A fat tree of switches that all have ``radix`` ports.

    - ``radix``, ``levels``: ports of a switch, and levels of switches.
    - ``oversubscription``: a leaf's ports to hosts over those upwards; 1 is full
      bandwidth.
    - ``hosts``: hosts that are there, leaf by leaf; leaves and switches that none needs
      are left out. As many as there is room for where it is None.
    - ``link``: one cable: a key of ``hardware.link``, or B/s in one direction.
    - ``latency``: seconds of each cable; the database's over the longest way where it
      is None.
    - raises ``ValueError`` for ports that cannot be divided so, and more hosts than
      there is room for.

    >>> tree = fat_tree(4, 3)
    >>> tree.ranks, tree.switches, tree.parts()["link"], tree.routes(0, 15).count
    (16, 20, 48, 4)
    >>> tree.bisection().bandwidth / 50e9
    8.0
    """
    down, up = _ports(radix, levels, oversubscription)
    room = fat_tree_size(radix, levels, oversubscription).hosts
    hosts = room if hosts is None else hosts
    whole(hosts=hosts)
    if hosts > room:
        raise ValueError(
            f"hosts = {hosts}: {levels} levels of {radix} ports have room for {room}; "
            f"{levels_for(hosts, radix, oversubscription)} levels are needed"
            if radix >= 4
            else f"hosts = {hosts}: there is room for {room}"
        )
    cable = wire(link, latency, hops=2 * levels)
    links: list[Link] = []
    nodes = _grow(list(range(hosts)), hosts, levels, down, up, radix, cable, links)
    leaves = -(-hosts // down) if levels > 1 else 1
    half = leaves // 2
    if leaves == 1:
        proof, split = "half of the hosts can send at once", tuple(range(hosts // 2))
    else:
        even = leaves % 2 == 0 and hosts == leaves * down
        proof = "leaves stay whole, and the levels above block nothing" if even else ""
        split = (*range(hosts // 2), *range(hosts, hosts + half))
    name = f"fat tree of {hosts} hosts, {levels} levels"
    return Topology(name, hosts, nodes, tuple(links), (split,), proof)


def _grow(
    below: list[int],
    free: int,
    levels: int,
    down: int,
    up: int,
    radix: int,
    cable: Link,
    links: list[Link],
    cables: int = 1,
) -> int:
    """Put switches over nodes, from number ``free`` on; the first number left.

    - ``cables``: from each of the nodes below to this tree.
    """
    if levels == 1:
        for node in below:
            links += both(node, free, cable, cables)
        return free + 1
    leaves = list(range(free, free + -(-len(below) // down)))
    for at, node in enumerate(below):
        links += both(node, leaves[at // down], cable)
    free += len(leaves)
    # Few leaves do not fill a top switch: it takes several cables of each.
    several = 1
    if levels == 2:
        fits = [n for n in range(1, up + 1) if up % n == 0 and n * len(leaves) <= radix]
        several = max(fits)
    half = radix // 2
    for _ in range(up // several):
        free = _grow(leaves, free, levels - 1, half, half, radix, cable, links, several)
    return free

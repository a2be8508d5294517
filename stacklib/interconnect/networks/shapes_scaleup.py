"""Chips in one box or rack: each joined to each, or all through switch chips.

``port_graph`` wires chips to switch chips and checks their ports. Wired *spread*, each
chip has a link to every switch chip, and any two chips are two links apart. Where a
switch chip has no port for every chip, and there are more of them than links but not
twice as many, each chip leaves other ones out, and any two still share some. Wired
*packed*, each switch chip takes all links of as many chips as it has room for: the
ports add up, and nothing joins one switch chip's chips to the next one's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from stacklib.quantity import resolve
from stacklib.quantity.bounds import whole

from .links import Link, Wire, both, wire
from .paths import Pair
from .topology import Topology

WIRINGS = ("spread", "packed")

# DGX-1 with V100: pairs and their NVLinks, six a chip, as `nvidia-smi topo -m` shows
# it on machines of eight V100, in public listings.
CUBE_MESH: Mapping[Pair, int] = {
    (0, 1): 1,
    (0, 2): 1,
    (0, 3): 2,
    (0, 4): 2,
    (1, 2): 2,
    (1, 3): 1,
    (1, 5): 2,
    (2, 3): 2,
    (2, 6): 1,
    (3, 7): 1,
    (4, 5): 1,
    (4, 6): 1,
    (4, 7): 2,
    (5, 6): 2,
    (5, 7): 1,
    (6, 7): 2,
}


def nvlink_mesh(
    ranks: int = 8,
    cables: int | Mapping[Pair, int] = 1,
    *,
    link: Wire = "if_mi300x",
    latency: float | None = None,
) -> Topology:
    """Chips joined directly, each to each or the pairs that are named.

    - ``ranks``: chips.
    - ``cables``: cables of every pair, or by pair; ``CUBE_MESH`` is that of eight V100.
    - ``link``: one cable: a key of ``hardware.link``, or B/s in one direction.
    - ``latency``: seconds of a cable; the database's where it is None.
    - raises ``ValueError`` for no chips, pairs of chips that are not there, and chips
      not connected.

    >>> nvlink_mesh(8).bisection().bandwidth / 64e9  # 4 x 4 pairs
    16.0
    >>> nvlink_mesh(8, CUBE_MESH, link="nvlink2").routes(0, 7).hops
    2
    """
    whole(ranks=ranks)
    cable = wire(link, latency)
    if isinstance(cables, Mapping):
        pairs, proof = dict(cables), ""
    else:
        pairs = {(a, b): cables for a in range(ranks) for b in range(a + 1, ranks)}
        proof = "every split cuts as many pairs"
    links: list[Link] = []
    for (one, other), count in pairs.items():
        whole(**{f"cables of {one} and {other}": count})
        links += both(one, other, cable, count)
    name = f"mesh of {ranks}"
    splits = (tuple(range(ranks // 2)),) if proof else ()
    return Topology(name, ranks, ranks, tuple(links), splits, proof)


def port_graph(
    ranks: int, links: int, chips: int, ports: int, wiring: str = "spread"
) -> dict[Pair, int]:
    """Cables by (chip, switch); switches are nodes from ``ranks`` on.

    - ``links``: of each chip.
    - ``ports``: of each switch chip.
    - raises ``ValueError`` where a switch chip has too few ports.

    >>> len(port_graph(4, 2, 3, 3))  # each leaves one of three out
    8
    """
    whole(ranks=ranks, links=links, chips=chips, ports=ports)
    wiring = resolve(wiring, WIRINGS, "wiring")
    turns = ports < ranks and links < chips < 2 * links
    found: dict[Pair, int] = {}
    for rank in range(ranks):
        for one in range(links):
            at = (one + rank * turns) % chips
            if wiring == "packed":
                at = (rank * links + one) // ports
            found[rank, ranks + at] = found.get((rank, ranks + at), 0) + 1
    used: dict[int, int] = {}
    for (_, switch), cables in found.items():
        used[switch] = used.get(switch, 0) + cables
    most = max(used.values())
    if most > ports or max(used) >= ranks + chips:
        raise ValueError(
            f"{ranks} chips x {links} links on {chips} switch chips of {ports} ports: "
            f"{ranks * links} links for {chips * ports} ports, {most} on one chip; "
            "more switch chips or ports are needed"
        )
    return found


def nvswitch(
    ranks: int = 8,
    chips: int = 4,
    *,
    links: int = 18,
    ports: int = 64,
    wiring: str = "spread",
    link: Wire = "nvlink4",
    latency: float | None = None,
) -> Topology:
    """Chips joined through switch chips, every link of every chip used.

    - ``ranks``, ``chips``: chips, and switch chips (planes) between them.
    - ``links``, ``ports``: links of a chip, and ports of a switch chip.
    - ``wiring``: ``spread``, a chip's links over all switch chips, or ``packed``.
    - ``link``: one link: a key of ``hardware.link``, or B/s in one direction.
    - ``latency``: seconds of a link, of which two are on the way; half the database's
      if None.
    - raises ``ValueError`` for too few ports, and chips that are not connected: the
      islands are named.

    >>> rack = nvswitch(72, 18, links=18, ports=72, link="nvlink5")
    >>> rack.bandwidth / 1e12, rack.routes(0, 71).count, rack.bisection().per_chip
    (129.6, 18, 900000000000.0)
    """
    wired = port_graph(ranks, links, chips, ports, wiring)
    cable = wire(link, latency, hops=2)
    # A chip's bytes go over its links alike, so a plane that has five of them is as
    # busy as one that has four: routes share by planes, and each gets their mean.
    planes = Counter(chip for chip, _ in wired)
    made = [
        one._replace(bandwidth=cable.bandwidth * links / planes[a])
        for (a, b), n in wired.items()
        for one in both(a, b, cable, n)
    ]
    even = len(wired) == ranks * len({switch for _, switch in wired})
    return Topology(
        f"{ranks} chips on {chips} switch chips",
        ranks,
        ranks + chips,
        tuple(made),
        (tuple(range(ranks // 2)),),
        "half of the chips can send with all their links" if even else "",
    )

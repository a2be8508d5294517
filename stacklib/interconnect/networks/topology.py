"""A network as a graph: chips and switches, and links with a bandwidth and a latency.

``Topology`` holds nodes, of which the first are chips (*ranks*) and the rest switches,
and links in one direction each. Routes are shortest paths by links; ``loads`` spreads
traffic over all of them alike; ``bisection`` is the bandwidth between halves. Shapes
are made by ``Topology.torus(...)`` and its sisters, each in a module of its own.

Left out: adaptive routing, and routes that avoid a busy link.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from stacklib.quantity.bounds import at_least, whole

from .bill import Bill, bill, count_parts
from .connected import broken_pairs, require_connected, what_is_left
from .cuts import SEARCHED, Bisection, least, narrowest, search
from .lattice import Lattice, all_pairs
from .links import Link, check_node, checked, number
from .paths import Pair, Routes, Toward, neighbours, one_path, pour, toward

KEPT = 256  # destinations whose paths are remembered
FLOORED = 300  # nodes up to which the floor of a bisection is worked out


class _Shape:
    """A way to make a topology that lives in a module above this one."""

    def __init__(self, module: str) -> None:
        self.module = module

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, of: object, owner: type | None = None) -> Callable[..., Topology]:
        module = importlib.import_module(f".{self.module}", __package__)
        return getattr(module, self.name)


@dataclass(frozen=True, repr=False)
class Topology:
    """Chips and switches joined by links.

    Parameters
    ----------
    name : str
        What it is called in messages and drawings.
    ranks : int
        Chips: nodes 0 to ``ranks - 1``; the rest are switches.
    nodes : int
        Chips and switches.
    links : sequence of Link
        One a direction, at most one from a node to another; plain tuples will do.
    splits, proof, lattice, extra
        What a shape knows of itself: nodes of candidate halves, why the least of them
        is the bisection, places of a torus, and parts that are no node.

    Raises
    ------
    ValueError
        For a link to no node or given twice, a bandwidth that is not above zero, and
        chips that are not connected; the message names the islands.

    Examples
    --------
    >>> pair = Topology("pair", 2, 2, [(0, 1, 50e9), (1, 0, 50e9)])
    >>> pair.routes(0, 1).path, pair.bisection().bandwidth
    ((0, 1), 50000000000.0)
    >>> Topology.torus((4, 4, 8)).loads(1)[0, 1]
    128.0
    """

    name: str
    ranks: int
    nodes: int
    links: tuple[Link, ...]
    splits: tuple[tuple[int, ...], ...] = ()
    proof: str = ""
    lattice: Lattice | None = None
    extra: tuple[tuple[str, int], ...] = ()

    nvlink_mesh = _Shape("shapes_scaleup")
    nvswitch = _Shape("shapes_scaleup")
    fat_tree = _Shape("shapes_fat_tree")
    rail = _Shape("shapes_groups")
    dragonfly = _Shape("shapes_groups")
    torus = _Shape("shapes_torus")
    ocs = _Shape("shapes_optical")

    def __post_init__(self) -> None:
        whole(ranks=self.ranks)
        whole(self.ranks, nodes=self.nodes)
        links = tuple(checked(one, self.nodes) for one in self.links)
        object.__setattr__(self, "links", links)
        if len(self.capacity) < len(links):
            seen: set[Pair] = set()
            for link in links:
                if link[:2] in seen:
                    raise ValueError(
                        f"the link {link.source} -> {link.destination} is given twice: "
                        "add up its cables"
                    )
                seen.add(link[:2])
        require_connected(
            self.name, self.ranks, self.capacity, self._after, self._before
        )

    def __repr__(self) -> str:
        return (
            f"<Topology {self.name}: {self.ranks} chips, {self.switches} switches, "
            f"{len(self.links)} links in one direction>"
        )

    # -- the graph -------------------------------------------------------------------

    @property
    def switches(self) -> int:
        """Nodes that are no chips."""
        return self.nodes - self.ranks

    @property
    def bandwidth(self) -> float:
        """B/s of all links, both directions counted."""
        return sum(link.bandwidth for link in self.links)

    @cached_property
    def capacity(self) -> dict[Pair, float]:
        """B/s by (source, destination)."""
        return {(link.source, link.destination): link.bandwidth for link in self.links}

    @cached_property
    def latency(self) -> dict[Pair, float]:
        """Seconds by (source, destination)."""
        return {(link.source, link.destination): link.latency for link in self.links}

    @cached_property
    def _after(self) -> list[list[int]]:
        return neighbours(self.nodes, self.capacity)

    @cached_property
    def _before(self) -> list[list[int]]:
        return neighbours(self.nodes, [(b, a) for a, b in self.capacity])

    @cached_property
    def _known(self) -> dict[int, Toward]:
        return {}

    def _toward(self, destination: int) -> Toward:
        found = self._known.get(destination)
        if found is None:
            if len(self._known) >= KEPT:
                self._known.clear()
            found = self._known[destination] = toward(destination, self._before)
        return found

    # -- what it carries -------------------------------------------------------------

    def routes(self, source: int, destination: int) -> Routes:
        """All shortest paths between two nodes: their count, one path, each share.

        - ``source``, ``destination``: nodes.
        - raises ``ValueError`` for a node that is not there, or no way.
        """
        for node in (source, destination):
            check_node(node, self.nodes)
        to = self._toward(destination)
        if to.far[source] < 0:
            raise ValueError(f"{self.name}: no way from {source} to {destination}")
        path = one_path(source, to, self._after)
        share = pour({source: 1.0}, to, self._after) if len(path) > 1 else {}
        return Routes(source, destination, to.count[source], path, share)

    def nearer(self, node: int, destination: int) -> list[tuple[int, int]]:
        """Nodes next on the shortest paths, and how many of these go on over each.

        - ``node``, ``destination``: where from, and where to.
        """
        to = self._toward(destination)
        near = [w for w in self._after[node] if to.far[w] == to.far[node] - 1]
        return [(other, to.count[other]) for other in near]

    def loads(self, traffic: float | Mapping[Pair, float]) -> dict[Pair, float]:
        """Bytes on each link, all shortest paths of a pair used alike.

        - ``traffic``: bytes by (source, destination); one number is what every chip
          sends to every other.
        - raises ``ValueError`` for bytes below zero, and nodes without a way.
        """
        if isinstance(traffic, Mapping):
            asked = traffic
        else:
            at_least(0, traffic=traffic)
            if self.lattice is not None:
                return {
                    **dict.fromkeys(self.capacity, 0.0),
                    **all_pairs(self.lattice, number(traffic)),
                }
            chips = range(self.ranks)
            asked = {(a, b): traffic for a in chips for b in chips if a != b}
        towards: dict[int, dict[int, float]] = {}
        for (source, destination), amount in asked.items():
            check_node(source, self.nodes)
            check_node(destination, self.nodes)
            at_least(0, **{f"bytes from {source} to {destination}": amount})
            towards.setdefault(destination, {})[source] = number(amount)
        found = dict.fromkeys(self.capacity, 0.0)
        for destination, sources in towards.items():
            to = self._toward(destination)
            for source in sources:
                if to.far[source] < 0:
                    raise ValueError(
                        f"{self.name}: no way from {source} to {destination}"
                    )
            for pair, amount in pour(sources, to, self._after).items():
                found[pair] += amount
        return found

    def busiest(self, loads: Mapping[Pair, float]) -> tuple[Pair, float]:
        """The link that loads keep busy longest, and for how many seconds."""
        pair = max(loads, key=lambda one: loads[one] / self.capacity[one])
        return pair, loads[pair] / self.capacity[pair]

    def bisection(self) -> Bisection:
        """The least bandwidth from half of the chips to the other half.

        - raises ``ValueError`` for one chip, which has no halves.
        """
        if self.ranks == 1:
            raise ValueError(f"{self.name}: one chip has no halves")
        if not self.proof and self.ranks <= SEARCHED:
            return search(self.ranks, self.capacity)
        sides: list[Iterable[int]] = list(self.splits)
        if not sides:
            half = range(self.ranks // 2)
            rest = range(self.ranks // 2, self.ranks)
            sides = [narrowest(half, rest, self.capacity)[1]]
        floor = 0.0
        if not self.proof and (self.lattice is not None or self.nodes <= FLOORED):
            across = (self.ranks // 2) * (self.ranks - self.ranks // 2)
            floor = across / self.busiest(self.loads(1.0))[1]
        return least(self.ranks, self.capacity, sides, self.proof, floor)

    # -- what it is made of ------------------------------------------------------------

    def parts(self) -> dict[str, int]:
        """Chips, switches, ports of switches, cables (in all, and of each kind)."""
        counted = count_parts(self.ranks, self.nodes, self.links)
        return {**counted, **dict(self.extra)}

    def cost(self, prices: Mapping[str, Any]) -> Bill:
        """What its parts cost at given prices, each of one part."""
        return bill(self.parts(), prices, {link.kind for link in self.links} - {"link"})

    def fail(self, *broken: Pair | Link | int, cables: int | None = None) -> Topology:
        """The network without some links (both directions), or without a switch.

        - ``broken``: pairs of nodes, or the number of a switch.
        - ``cables``: how many of each link's; all of them where it is None.
        """
        gone: set[Pair] = set()
        for one in broken:
            gone.update(broken_pairs(one, self.ranks, self.nodes, self.capacity))
        if cables is not None:
            whole(cables=cables)
        left = what_is_left(self.links, gone, cables)
        named = " and ".join(str(one) for one in broken)
        return replace(
            self,
            name=f"{self.name} without {named}",
            links=left,
            proof="",
            lattice=None,
        )

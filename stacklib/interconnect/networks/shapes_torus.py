"""Tori: plain, twisted, and put together of cubes by optical switches.

A chip has a link up and one down each axis, and the last chip's goes round to the
first. The longest axis decides: half of all traffic between halves crosses its middle
twice. A twist lets the wraps of short axes move along the long ones and evens it out.

Cubes of 4 x 4 x 4 chips are wired with copper inside; the 96 links that leave a cube's
faces are optical. Opposite faces' links of one place end at one optical switch, 48 in
all, and a switch connects any port to any other: so cubes that stand anywhere become
neighbours, and the same cubes, turned differently, a twisted torus (N. Jouppi and
others, *TPU v4*, ISCA 2023; recalled).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from itertools import product
from math import prod

from stacklib.quantity.bounds import is_whole, whole

from .lattice import Lattice, Twist, lattice
from .links import Link, Wire, wire
from .topology import Topology


def torus(
    shape: tuple[int, ...],
    twist: Twist = None,
    *,
    link: Wire = "ici_v4",
    latency: float | None = None,
) -> Topology:
    """A torus; an axis of two has one link, for its wrap joins the same chips.

    Parameters
    ----------
    shape : tuple of int
        Chips along each axis: x, y, z, and w, v, u after them.
    twist : mapping or bool, optional
        How far the wrap of an axis moves along others, as ``{"x": {"z": 4}}``; axes
        by letter or number. True is the twist in use for k x k x 2k and k x 2k x 2k.
    link : str or float
        One link: a key of ``hardware.link``, or B/s in one direction.
    latency : float, optional
        Seconds of each link; the database's where it is None.

    Raises
    ------
    ValueError
        For a shape without chips, and a twist that does not close: wraps that move
        along their own axis, further than an axis is long, or along each other.

    Examples
    --------
    >>> plain, twisted = torus((4, 4, 8)), torus((4, 4, 8), twist=True)
    >>> loads = [max(one.loads(1).values()) for one in (plain, twisted)]
    >>> round(loads[0] / loads[1], 3)
    1.745
    """
    places = lattice(shape, twist)
    return _built(places, wire(link, latency), _name(places), {}, ())


def _name(places: Lattice) -> str:
    size = " x ".join(map(str, places.shape))
    return f"{'twisted ' if places.twisted else ''}torus {size}"


def _built(
    places: Lattice,
    cable: Link,
    name: str,
    kinds: dict[tuple[int, int], str],
    extra: tuple[tuple[str, int], ...],
) -> Topology:
    """A torus's topology.

    - ``kinds``: of links that are not like the rest.
    """
    links = []
    for axis, way in places.steps():
        for node, to in enumerate(places.moved(axis, way)):
            kind = kinds.get((node, to), cable.kind)
            links.append(Link(node, to, cable.bandwidth, cable.latency, 1, kind))
    # All pairs' traffic keeps each link of a longest axis busy just as long as it takes
    # to cross the middle, if there is one: no split can be narrower.
    even = not places.twisted and max(places.shape) % 2 == 0
    proof = "all pairs' traffic fills the longest axis evenly" if even else ""
    count, splits = places.nodes, tuple(places.halves())
    return Topology(name, count, count, tuple(links), splits, proof, places, extra)


# -- of cubes, by optical switches ---------------------------------------------------


@dataclass(frozen=True, slots=True)
class CrossConnect:
    """Which cube stands where, and what each optical switch joins.

    A switch belongs to an axis and to one of the places of a cube's face, and every
    switch of an axis joins the same cubes: shifts are by whole cubes.
    """

    shape: tuple[int, int, int]  # chips
    grid: tuple[int, int, int]  # cubes
    cubes: tuple[int, ...]  # numbers of the cubes, place by place, the last fastest
    joins: tuple[tuple[tuple[int, int], ...], ...]  # by axis: (cube above, cube below)
    spares: tuple[int, ...]  # cubes that are well and not in use
    switches: int
    ports_used: int  # of each switch: two a cube that is wired to it
    ports: int  # of each switch

    def replaced(self, broken: int) -> CrossConnect:
        """The same torus with a spare in a broken cube's place: only mirrors move."""
        if broken not in self.cubes:
            raise ValueError(f"cube {broken} is not in use: {self.cubes} are")
        if not self.spares:
            raise ValueError(f"cube {broken} fails and no spare is left")
        new, *rest = self.spares

        def swap(cube: int) -> int:
            return new if cube == broken else cube

        joins = tuple(tuple((swap(a), swap(b)) for a, b in row) for row in self.joins)
        return CrossConnect(
            self.shape, self.grid, tuple(map(swap, self.cubes)), joins, tuple(rest),
            self.switches, self.ports_used, self.ports,
        )  # fmt: skip

    def moved(self, before: CrossConnect) -> int:
        """Connections that every switch of an axis makes anew, over all axes."""
        return sum(
            len(set(now) - set(then))
            for now, then in zip(self.joins, before.joins, strict=True)
        )


def cross_connect(
    shape: tuple[int, int, int],
    twist: Twist = None,
    *,
    cube: int = 4,
    installed: int = 64,
    failed: Collection[int] = (),
    ports: int = 136,
) -> CrossConnect:
    """Give a torus its cubes out of those installed, and say what the switches join.

    - ``cube``: chips along each edge of a cube.
    - ``installed``, ``failed``: cubes that stand in the hall, and those that are down.
    - raises ``ValueError`` for shapes that are not whole cubes, too few cubes or
      ports, and twists that would leave a cube's face half way.
    """
    whole(2, cube=cube)
    whole(installed=installed, ports=ports)
    if len(shape) != 3:
        raise ValueError(f"shape = {shape}: cubes have three axes")
    places = lattice(shape, twist)
    uneven = [n for row in (shape, *places.shifts) for n in row if n % cube]
    if uneven:
        raise ValueError(
            f"shape {shape}, twist {twist!r}: {uneven[0]} is no multiple of {cube}, "
            "and switches join whole faces of cubes"
        )
    if 2 * installed > ports:
        raise ValueError(
            f"{installed} cubes need {2 * installed} ports of each optical switch, "
            f"which has {ports}: two a cube"
        )
    for one in failed:
        if not is_whole(one) or not 0 <= one < installed:
            raise ValueError(f"failed cube {one!r}: cubes are 0 to {installed - 1}")
    x, y, z = (n // cube for n in shape)
    well = [n for n in range(installed) if n not in set(failed)]
    if x * y * z > len(well):
        raise ValueError(
            f"shape {shape} needs {x * y * z} cubes: {len(well)} of {installed} "
            "are well"
        )
    used, spares = well[: x * y * z], well[x * y * z :]
    coarse = Lattice(
        (x, y, z), tuple(tuple(n // cube for n in r) for r in places.shifts)
    )
    joins = tuple(
        tuple(zip(used, (used[to] for to in coarse.moved(axis, 1)), strict=True))
        for axis in range(3)
    )
    return CrossConnect(
        (shape[0], shape[1], shape[2]), (x, y, z), tuple(used), joins, tuple(spares),
        3 * cube * cube, 2 * installed, ports,
    )  # fmt: skip


def ocs(
    shape: tuple[int, int, int],
    twist: Twist = None,
    *,
    cube: int = 4,
    installed: int = 64,
    failed: Collection[int] = (),
    ports: int = 136,
    link: Wire = "ici_v4",
    latency: float | None = None,
) -> Topology:
    """A torus of cubes that optical switches join, with its parts counted.

    Parameters
    ----------
    shape, twist
        As of ``torus``; three axes, and multiples of a cube's edge.
    cube, installed : int
        Chips along a cube's edge, and cubes in the hall.
    failed : collection of int
        Cubes that cannot be used; others take their places.
    ports : int
        Of each optical switch: two are used a cube, so 136 are enough for 64 and
        leave 8; there are ``3 * cube * cube`` switches, 48.
    link, latency
        As of ``torus``.

    Raises
    ------
    ValueError
        For shapes and twists that are not whole cubes, and too few cubes or ports.

    Examples
    --------
    >>> ocs((8, 8, 16), twist={"x": {"z": 8}, "y": {"z": 8}}).parts()["optical switch"]
    48
    """
    plan = cross_connect(
        shape, twist, cube=cube, installed=installed, failed=failed, ports=ports
    )
    places = lattice(shape, twist)
    numbers = list(places.places())
    optical: dict[tuple[int, int], str] = {}
    for axis, way in product(range(3), (1, -1)):
        for node, to in enumerate(places.moved(axis, way)):
            edge = numbers[node][axis] % cube
            if edge == (cube - 1 if way == 1 else 0):
                optical[node, to] = "optical"
    used = prod(plan.grid)
    extra = (
        ("optical switch", plan.switches),
        ("optical port", plan.switches * plan.ports),
        ("optical port in use", plan.switches * 2 * used),
    )
    name = f"{_name(places)} of {used} cubes"
    return _built(places, wire(link, latency), name, optical, extra)

"""Tori put together of cubes by optical switches.

Cubes of 4 x 4 x 4 chips are wired with copper inside; the 96 links that leave a cube's
faces are optical. Opposite faces' links of one place end at one optical switch, 48 in
all, and a switch connects any port to any other: so cubes that stand anywhere become
neighbours, and the same cubes, turned differently, a twisted torus (N. Jouppi and
others, *TPU v4*, ISCA 2023; recalled). What that is worth when cubes fail is
``goodput``, in closed form and by draws.

Left out: how long mirrors take to turn, and light lost on the way.
"""

from __future__ import annotations

import random
from collections.abc import Collection
from dataclasses import dataclass, replace
from itertools import product
from math import comb, prod

from stacklib.quantity.bounds import at_least, is_whole, whole

from .lattice import Lattice, Twist, lattice
from .links import Wire, wire
from .shapes_torus import built, named
from .topology import Topology


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
        cubes = tuple(map(swap, self.cubes))
        return replace(self, cubes=cubes, joins=joins, spares=tuple(rest))

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
        (shape[0], shape[1], shape[2]),
        (x, y, z),
        tuple(used),
        joins,
        tuple(spares),
        3 * cube * cube,
        2 * installed,
        ports,
    )


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

    - ``shape``, ``twist``: as of ``torus``; three axes, and multiples of a cube's edge.
    - ``cube``, ``installed``: chips along a cube's edge, and cubes in the hall.
    - ``failed``: cubes that cannot be used; others take their places.
    - ``ports``: of each optical switch: two are used a cube, so 136 are enough for 64
      and leave 8; there are ``3 * cube * cube`` switches, 48.
    - ``link``, ``latency``: as of ``torus``.
    - raises ``ValueError`` for shapes and twists that are not whole cubes, and too few
      cubes or ports.

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
    name = f"{named(places)} of {used} cubes"
    return built(places, wire(link, latency), name, optical, extra)


# -- when cubes fail -----------------------------------------------------------------


def goodput(installed: int, cubes: int, up: float, *, mirrors: bool = True) -> float:
    """Share of the installed cubes that work in whole tori, expected.

    With mirrors any well cubes make a torus: E[floor(well / cubes)] of them, the well
    ones binomial. Wired for good, a torus runs if all of its own cubes are well.

    - ``cubes``: of a torus, as many of which are made as there is room for.
    - ``up``: probability that a cube is well, all of its hosts and links.
    """
    _goodput_asked(installed, cubes, up)
    if not mirrors:
        return installed // cubes * cubes * up**cubes / installed
    return (
        sum(
            well
            // cubes
            * cubes
            * comb(installed, well)
            * up**well
            * (1 - up) ** (installed - well)
            for well in range(installed + 1)
        )
        / installed
    )


def run_goodput(
    installed: int,
    cubes: int,
    up: float,
    *,
    mirrors: bool = True,
    runs: int = 1000,
    seed: int = 0,
) -> float:
    """The same by draws: cubes fail, and tori are given cubes one after the other."""
    _goodput_asked(installed, cubes, up)
    whole(runs=runs)
    drawn = random.Random(seed)
    used = 0
    for _ in range(runs):
        well = [drawn.random() < up for _ in range(installed)]
        if mirrors:
            free = [cube for cube in range(installed) if well[cube]]
            while len(free) >= cubes:
                del free[:cubes]
                used += cubes
        else:
            for first in range(0, installed - cubes + 1, cubes):
                used += cubes * all(well[first : first + cubes])
    return used / runs / installed


def _goodput_asked(installed: int, cubes: int, up: float) -> None:
    whole(installed=installed, cubes=cubes)
    at_least(0, up=up)
    if up > 1 or cubes > installed:
        raise ValueError(
            f"{cubes} of {installed} cubes, well with probability {up}: no more cubes "
            "than there are, and no more than 1"
        )

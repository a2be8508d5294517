"""The places of a torus and its twist, and the traffic between all of them at once.

A torus is the whole-number grid with some steps counted as none: around an axis of
length n. A twist says that the step beyond the end of one axis also moves along
others: of 4 x 4 x 8 with x and y wrapped 4 up z, (4, 0, 0) is (0, 0, 4). Steps add up
in any order, so every chip sees the same network: what one destination receives tells
the load of every link (J. M. Camara and others, *Twisted torus topologies for enhanced
interconnection networks*, 2010; recalled).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import product
from math import prod

from stacklib.quantity.bounds import is_whole, whole

from .paths import pour, toward

AXES = "xyzwvu"
Twist = Mapping[str | int, Mapping[str | int, int]] | bool | None


@dataclass(frozen=True, slots=True)
class Lattice:
    """Lengths of the axes, and how far each wrap moves along the others."""

    shape: tuple[int, ...]
    shifts: tuple[tuple[int, ...], ...]  # of the wrap of each axis, along each axis

    @property
    def nodes(self) -> int:
        """Chips."""
        return prod(self.shape)

    @property
    def twisted(self) -> bool:
        """Whether any wrap moves along another axis."""
        return any(any(shift) for shift in self.shifts)

    def places(self) -> Iterator[tuple[int, ...]]:
        """Coordinates of each chip in the order of their numbers, the last fastest."""
        return product(*(range(length) for length in self.shape))

    def node(self, place: tuple[int, ...]) -> int:
        """The number of the chip at a place, which may lie outside the box."""
        at = list(place)
        for axis in _order(self.shifts):
            laps, at[axis] = divmod(at[axis], self.shape[axis])
            if laps:
                for other, shift in enumerate(self.shifts[axis]):
                    at[other] += laps * shift
        number = 0
        for length, one in zip(self.shape, at, strict=True):
            number = number * length + one
        return number

    def steps(self) -> list[tuple[int, int]]:
        """Steps to neighbours as (axis, +1 or -1); two that meet count once."""
        found: dict[int, tuple[int, int]] = {}
        for axis in range(len(self.shape)):
            for way in (1, -1):
                to = self.node(self._moved((0,) * len(self.shape), axis, way))
                if to:
                    found.setdefault(to, (axis, way))
        return list(found.values())

    def moved(self, axis: int, way: int) -> list[int]:
        """Of every chip, the neighbour one step along an axis."""
        return [self.node(self._moved(place, axis, way)) for place in self.places()]

    def _moved(self, place: tuple[int, ...], axis: int, way: int) -> tuple[int, ...]:
        return (*place[:axis], place[axis] + way, *place[axis + 1 :])

    def halves(self) -> Iterator[tuple[int, ...]]:
        """Splits across each axis: the first half along it."""
        places = list(self.places())
        for axis in range(len(self.shape)):
            along = [(place[axis], node) for node, place in enumerate(places)]
            order = [node for _, node in sorted(along)]
            yield tuple(order[: len(order) // 2])


@cache  # of every chip of a torus, in each direction
def _order(shifts: tuple[tuple[int, ...], ...]) -> tuple[int, ...]:
    """Axes so that each comes before those its wrap moves along; empty if none can."""
    left = set(range(len(shifts)))
    order: list[int] = []
    while left:
        free = [a for a in sorted(left) if not any(shifts[b][a] for b in left - {a})]
        if not free:
            return ()
        order.append(free[0])
        left.discard(free[0])
    return tuple(order)


def lattice(shape: tuple[int, ...], twist: Twist = None) -> Lattice:
    """The places of a torus; ``twist`` as ``torus`` takes it.

    - raises ``ValueError`` for a shape without chips and a twist that does not close.
    """
    lengths = tuple(shape) if isinstance(shape, tuple | list) else (shape,)
    if not lengths or len(lengths) > len(AXES):
        raise ValueError(f"shape = {shape!r}: from 1 to {len(AXES)} axes are needed")
    for axis, length in enumerate(lengths):
        whole(**{f"length of {AXES[axis]} in shape {lengths}": length})
    if prod(lengths) < 2:
        raise ValueError(f"shape = {lengths}: at least two chips are needed")
    made = Lattice(lengths, _shifts(lengths, twist))
    if len(_order(made.shifts)) < len(lengths):
        raise ValueError(
            f"twist = {twist!r} does not close: wraps move along each other in a "
            "circle, so that one chip would have two places; leave one of them out"
        )
    return made


def _shifts(shape: tuple[int, ...], twist: Twist) -> tuple[tuple[int, ...], ...]:
    """Shifts of each wrap as numbers, checked one by one."""
    if twist is True:
        twist = published(shape)
    rows = [[0] * len(shape) for _ in shape]
    if twist is None or twist is False:
        return tuple(map(tuple, rows))
    if not isinstance(twist, Mapping):
        raise ValueError(
            f"twist = {twist!r}: say which wrap moves how far along which axis, as "
            "{'x': {'z': 4}}"
        )
    for wrap, moves in twist.items():
        i = _axis(wrap, shape, twist)
        if not isinstance(moves, Mapping):
            raise ValueError(
                f"twist of {wrap!r} = {moves!r}: an axis and a shift, as {{'z': 4}}"
            )
        for along, shift in moves.items():
            j = _axis(along, shape, twist)
            if not is_whole(shift):
                raise ValueError(
                    f"twist of {wrap!r} along {along!r} is {shift!r}: "
                    "a whole number of chips is needed"
                )
            if i == j or not -shape[j] < shift < shape[j]:
                raise ValueError(
                    f"twist {twist!r} does not close: the wrap of {AXES[i]} moves "
                    f"{shift} along {AXES[j]}, which is {shape[j]} long; another axis "
                    "and less than its length is needed"
                )
            rows[i][j] = shift % shape[j]
    return tuple(map(tuple, rows))


def _axis(name: str | int, shape: tuple[int, ...], twist: Twist) -> int:
    names = AXES[: len(shape)]
    if isinstance(name, str) and len(name) == 1 and name.lower() in names:
        return names.index(name.lower())
    if is_whole(name) and 0 <= int(name) < len(shape):
        return int(name)
    raise ValueError(f"twist = {twist!r}: {name!r} is none of the axes {names}")


def published(shape: tuple[int, ...]) -> dict[str | int, dict[str | int, int]]:
    """The twist in use for k x k x 2k and k x 2k x 2k: by k along each longer axis.

    - raises ``ValueError`` for other shapes.
    """
    short, long = min(shape), max(shape)
    if len(shape) != 3 or long != 2 * short or set(shape) != {short, long}:
        raise ValueError(
            f"no twist of shape {shape} closes alike on all axes: k x k x 2k and "
            "k x 2k x 2k have one; say the shifts, as {'x': {'z': 4}}"
        )
    longer: dict[str | int, int] = {
        AXES[a]: short for a in range(3) if shape[a] == long
    }
    return {AXES[a]: dict(longer) for a in range(3) if shape[a] == short}


def all_pairs(places: Lattice, each: float) -> dict[tuple[int, int], float]:
    """Bytes on each link when every chip sends ``each`` bytes to every other.

    One destination is looked at. What all links of one kind of step carry towards it
    is what each single link of that kind carries towards all.
    """
    nodes = places.nodes
    steps = places.steps()
    moved = [places.moved(axis, way) for axis, way in steps]
    after = [[to[node] for to in moved] for node in range(nodes)]
    # For each step there is the step back, so who is near is who comes from there.
    loads = pour(dict.fromkeys(range(1, nodes), each), toward(0, after), after)
    found: dict[tuple[int, int], float] = {}
    for to in moved:
        load = sum(loads.get((node, to[node]), 0.0) for node in range(nodes))
        found.update(((node, to[node]), load) for node in range(nodes))
    return found

"""A clock tree: halves of halves, and how unequal the ways to the registers are.

The registers are cut in two at their median, across and along in turn, until each part
is small; a buffer stands in the middle of each. A wire's delay grows with the square of
its length (Elmore: resistance times the capacitance behind it), a buffer's does not.
On a regular grid of 4^n registers all ways are equal, which is an H-tree.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from stacklib.quantity.bounds import above_zero, at_least, whole

from .placing import Placement


@dataclass(frozen=True)
class Tree:
    """When the clock reaches each register, in ns, and the wire that takes."""

    arrivals: dict[str, float]
    wire: float  # tiles
    buffers: int

    @property
    def skew(self) -> float:
        """The last arrival less the first, in ns."""
        return max(self.arrivals.values()) - min(self.arrivals.values())


def clock_tree(
    registers: Placement | Mapping[str, tuple[float, float]],
    *,
    buffer: float = 0.1,
    wire: float = 0.002,
    leaf: int = 1,
) -> Tree:
    """The tree over registers at their places.

    - ``buffer``: delay of one, ns
    - ``wire``: delay of one tile of wire, ns; of n tiles n^2 times that
    - ``leaf``: registers that a last buffer drives at most
    """
    at_least(0, buffer=buffer)
    above_zero(wire=wire)
    whole(leaf=leaf)
    places: Mapping[str, tuple[float, float]]
    if isinstance(registers, Placement):
        cells = registers.packed.circuit.cells
        places = {c.name: registers.at[c.name][:2] for c in cells if c.register}
    else:
        places = registers
    if not places:
        raise ValueError("no register: there is nothing for a clock to reach")
    arrivals: dict[str, float] = {}
    length, buffers = 0.0, 0
    waiting = [(sorted(places.items()), _middle(places.values()), 0.0, 0)]
    while waiting:
        part, (x, y), begun, axis = waiting.pop()
        buffers += 1
        if len(part) <= leaf:
            for name, (u, v) in part:
                far = abs(u - x) + abs(v - y)
                length += far
                arrivals[name] = begun + buffer + wire * far**2
            continue
        part.sort(key=lambda p: (p[1][axis], p[0]))
        for half in (part[: len(part) // 2], part[len(part) // 2 :]):
            u, v = _middle(place for _, place in half)
            far = abs(u - x) + abs(v - y)
            length += far
            waiting.append((half, (u, v), begun + buffer + wire * far**2, 1 - axis))
    return Tree(arrivals, length, buffers)


def _middle(places: Iterable[tuple[float, float]]) -> tuple[float, float]:
    xs, ys = zip(*places, strict=True)
    return (min(xs) + max(xs)) / 2, (min(ys) + max(ys)) / 2

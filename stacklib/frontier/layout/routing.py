"""Maze routing: each net finds the cheapest way, and pays for what others want, too.

Wires lie on a grid of tracks, thirty-two a tile each way: on the first metal they run
along rows, on the second along columns, and a via joins the two. A net takes the
shortest way by what nodes cost; nodes that two nets took become dearer from round to
round, until nobody shares one (PathFinder: McMurchie and Ebeling, FPGA 1995). What
comes out are rectangles without names: what they join, ``rules`` reads from them.
"""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heappop, heappush

from stacklib.quantity.bounds import whole
from stacklib.roofline.work.fit import Infeasible

from .placing import Placement, Site

TRACKS = 32  # of a tile, each way
PITCH, HALF = 4, 1  # from track to track, and half the width of a wire
MARGIN = 32  # tracks around a net in which its way is looked for
VIA = 3  # what a via costs, in steps
FIRST, SECOND, CUT = "m1", "m2", "via"
Rect = tuple[str, int, int, int, int]  # layer, then left, low, right, high


@dataclass(frozen=True)
class Wired:
    """Rectangles, and where cells touch them.

    - ``shapes``: layer, left, low, right, high; four units from track to track
    - ``pins``: (cell, pin), the point on the first metal that it touches
    - ``joined``: for each net, the pins that are to be joined
    - ``rounds``: rounds until no two nets shared a node
    """

    shapes: tuple[Rect, ...]
    pins: dict[tuple[str, str], tuple[int, int]]
    joined: dict[str, tuple[tuple[str, str], ...]]
    rounds: int

    @property
    def wire(self) -> int:
        """Length of all wires, in tracks."""
        flat = [s for s in self.shapes if s[0] != CUT]
        return (
            sum(max(x1 - x0, y1 - y0) - 2 * HALF for _, x0, y0, x1, y1 in flat) // PITCH
        )

    @property
    def vias(self) -> int:
        """Vias between the two metals."""
        return sum(layer == CUT for layer, *_ in self.shapes)


def route(placement: Placement, *, rounds: int = 60) -> Wired:
    """Route every net of a placement; raises when two still share a wire.

    Parameters
    ----------
    placement : Placement
        Of ``place``. Nets with wires of their own, such as the clock's, are left out.
    rounds : int, optional
        At most so many.

    Returns
    -------
    Wired
        Rectangles of two metals and the vias between them.

    Raises
    ------
    Infeasible
        When two nets still share a node after all rounds, with how many do.
    ValueError
        For less than one round, or anything but a placement.

    Examples
    --------
    >>> from stacklib.frontier import place
    >>> rows = [("i", "IN", "", "a"), ("g", "NOT", "a", "b"), ("o", "OUT", "b", "")]
    >>> route(place(rows)).rounds
    1
    """
    whole(rounds=rounds)
    if not isinstance(placement, Placement):
        raise ValueError(f"{str(placement)[:40]!r}: what ``place`` returns is needed")
    pins, joined = _pins(placement)
    maze = _Maze(placement, pins, joined)
    for number in range(1, rounds + 1):
        maze.negotiate(number)
        if not maze.shared:
            return Wired(maze.shapes(), pins, joined, number)
    many = f"{len(maze.shared)} places are wanted by two nets after {rounds} rounds"
    raise Infeasible(f"{many}, with {TRACKS} tracks a tile; spread the cells")


def _pins(
    placement: Placement,
) -> tuple[
    dict[tuple[str, str], tuple[int, int]], dict[str, tuple[tuple[str, str], ...]]
]:
    """A point for each pin of each net: inputs to the left, the output to the right."""
    pins: dict[tuple[str, str], tuple[int, int]] = {}
    joined = {}
    taken: dict[int, int] = {}
    for net, blocks in placement.packed.nets.items():
        ends = []
        for n, block in enumerate(blocks):
            name = placement.packed.blocks[block].name
            taken[block] = taken.get(block, 0) + (n > 0)
            pin = f"i{taken[block]}" if n else f"o{net}"
            outs = sum(1 for cell, p in pins if cell == name and p[0] == "o")
            place = TRACKS - 2 * outs - 1 if n == 0 else 3 * taken[block]
            pins[name, pin] = _point(placement.sites[block], place)
            ends.append((name, pin))
        joined[net] = tuple(ends)
    return pins, joined


def _point(site: Site, along: int) -> tuple[int, int]:
    x, y, z = site
    return (x * TRACKS + along) * PITCH, (y * TRACKS + 4 * z + 1) * PITCH


class _Maze:
    """Nodes of two layers, who uses them, and what they cost."""

    def __init__(
        self,
        placement: Placement,
        pins: dict[tuple[str, str], tuple[int, int]],
        joined: dict[str, tuple[tuple[str, str], ...]],
    ) -> None:
        self.wide = (placement.grid.columns + 2) * TRACKS
        self.layer = self.wide * (placement.grid.rows + 2) * TRACKS
        self.ends = {
            net: [self._node(*pins[end]) for end in ends]
            for net, ends in joined.items()
        }
        self.owner = {n: net for net, ends in self.ends.items() for n in ends}
        self.used: dict[int, int] = {}
        self.past: dict[int, float] = {}
        self.trees: dict[str, dict[int, int]] = {}  # node, the node it came from
        self.shared: set[int] = set()

    def _node(self, x: int, y: int) -> int:
        return y // PITCH * self.wide + x // PITCH

    def negotiate(self, number: int) -> None:
        """Route again what shares a node; at first, everything."""
        weight = min(20.0, 0.5 * 1.5**number)
        again = [
            net
            for net in self.ends
            if net not in self.trees or not self.shared.isdisjoint(self.trees[net])
        ]
        for net in again:
            for node in self.trees.get(net, ()):
                self.used[node] -= 1
            self.trees[net] = tree = self._tree(net, weight)
            for node in tree:
                self.used[node] = self.used.get(node, 0) + 1
        self.shared = {node for node, count in self.used.items() if count > 1}
        for node in self.shared:
            self.past[node] = self.past.get(node, 0.0) + 1.0

    def _tree(self, net: str, weight: float) -> dict[int, int]:
        start, *sinks = self.ends[net]
        tree = {start: start}
        sinks.sort(key=lambda s: self._far(s, start))
        for sink in sinks:
            if sink not in tree:
                self._join(net, tree, sink, weight)
        return tree

    def _far(self, a: int, b: int) -> int:
        a, b = a % self.layer, b % self.layer
        rows, columns = a // self.wide - b // self.wide, a % self.wide - b % self.wide
        return abs(rows) + abs(columns)

    def _join(self, net: str, tree: dict[int, int], sink: int, weight: float) -> None:
        """Add the cheapest way from a tree to a sink: A* over nodes."""
        wide, layer = self.wide, self.layer
        sink_x, sink_y = sink % wide, sink // wide
        used, past, owner = self.used, self.past, self.owner
        columns = [n % wide for n in (*tree, sink)]
        lines = [n % layer // wide for n in (*tree, sink)]
        left, right = (
            max(0, min(columns) - MARGIN),
            min(wide - 1, max(columns) + MARGIN),
        )
        low, high = max(0, min(lines) - MARGIN), max(lines) + MARGIN
        high = min(layer // wide - 1, high)
        best = dict.fromkeys(tree, 0.0)
        came: dict[int, int] = {}
        heap = [(float(self._far(n, sink)), 0.0, n) for n in tree]
        heap.sort()
        while heap:
            _, cost, node = heappop(heap)
            if node == sink:
                break
            if cost > best[node]:
                continue
            flat = node % layer
            if flat == node:
                x, ways = flat % wide, [node + layer]
                ways += [node - 1] if x > left else []
                ways += [node + 1] if x < right else []
            else:
                y, ways = flat // wide, [flat]
                ways += [node - wide] if y > low else []
                ways += [node + wide] if y < high else []
            for other in ways:
                if owner.get(other, net) != net:
                    continue  # another net's pin
                step = 1 + past.get(other, 0.0) + weight * used.get(other, 0)
                if other % layer == flat:
                    step += VIA - 1
                total = cost + step
                if total < best.get(other, 1e18):
                    best[other] = total
                    came[other] = node
                    at = other % layer
                    ahead = abs(at % wide - sink_x) + abs(at // wide - sink_y)
                    heappush(heap, (total + ahead, total, other))
        else:
            raise Infeasible(f"net {net!r}: no way leads to one of its cells")
        node = sink
        while node not in tree:
            tree[node] = came[node]
            node = came[node]

    def shapes(self) -> tuple[Rect, ...]:
        """Wires joined to runs, and vias with metal above and below."""
        found: set[Rect] = set()
        for tree in self.trees.values():
            along: dict[tuple[str, int], set[int]] = {}
            for node, before in tree.items():
                flat, other = node % self.layer, before % self.layer
                x, y = flat % self.wide, flat // self.wide
                if flat == other:
                    if node != before:
                        found.update(
                            _square(name, x, y) for name in (FIRST, SECOND, CUT)
                        )
                elif node < self.layer:
                    along.setdefault((FIRST, y), set()).add(min(x, other % self.wide))
                else:
                    along.setdefault((SECOND, x), set()).add(min(y, other // self.wide))
            for (name, line), steps in along.items():
                found.update(_runs(name, line, sorted(steps)))
        for ends in self.ends.values():
            found.update(_square(FIRST, n % self.wide, n // self.wide) for n in ends)
        return tuple(sorted(found))


def _square(layer: str, x: int, y: int) -> Rect:
    x, y = x * PITCH, y * PITCH
    return layer, x - HALF, y - HALF, x + HALF, y + HALF


def _runs(layer: str, line: int, steps: list[int]) -> list[Rect]:
    """Steps that follow one another, as one wire each."""
    found = []
    first = last = steps[0]
    for step in [*steps[1:], steps[-1] + 2]:
        if step == last + 1:
            last = step
            continue
        a, b, c = first * PITCH - HALF, (last + 1) * PITCH + HALF, line * PITCH
        flat = (layer, a, c - HALF, b, c + HALF)
        found.append(flat if layer == FIRST else (layer, c - HALF, a, c + HALF, b))
        first = last = step
    return found

"""Design rules, and the netlist read back from the rectangles.

Widths, distances and vias are checked on the shapes alone. Then what touches is joined,
without a look at what the router meant: metal with metal of its layer, both with the
via that lies on them. A group of metal that touches pins of two nets is a short; a net
whose pins lie on two groups is open.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, combinations
from numbers import Integral

from .routing import CUT, FIRST, HALF, PITCH, SECOND, Rect, Wired

WIDTH, SPACE = 2 * HALF, PITCH - 2 * HALF
BUCKET, LARGE = 4 * PITCH, 4096  # a shape in more buckets is held against all
LAYERS = (FIRST, SECOND, CUT)


@dataclass(frozen=True, slots=True)
class Violation:
    """A rule that is broken: which, where, and what is wrong in words."""

    rule: str  # width, spacing, enclosure, pin, short or open
    layer: str
    at: tuple[int, int]
    what: str


def rules(layout: Wired) -> list[Violation]:
    """Every design rule that a layout breaks, and every short and open.

    Parameters
    ----------
    layout : Wired
        Of ``route``, or with shapes of one's own.

    Returns
    -------
    list of Violation
        Empty for a layout that can be made and is the netlist.

    Raises
    ------
    ValueError
        For a shape on an unknown layer, or one whose ends are the wrong way round.

    Examples
    --------
    >>> from stacklib.frontier import place, route
    >>> rows = [("i", "IN", "", "a"), ("g", "NOT", "a", "b"), ("o", "OUT", "b", "")]
    >>> rules(route(place(rows)))
    []
    """
    if not isinstance(layout, Wired):
        raise ValueError(f"{str(layout)[:40]!r}: what ``route`` returns is needed")
    for shape in layout.shapes:
        layer, *ends = shape
        whole = len(ends) == 4 and all(isinstance(n, Integral) for n in ends)
        if layer not in LAYERS or not whole or ends[0] >= ends[2] or ends[1] >= ends[3]:
            known = "layers are m1, m2 and via, then left, low, right, high, whole"
            raise ValueError(f"shape {shape}: {known}")
    unknown = {end for ends in layout.joined.values() for end in ends} - {*layout.pins}
    if unknown:
        raise ValueError(f"no pin {min(unknown)} has a place; pins has those")
    group, pairs = _groups(layout.shapes)
    return [
        *_widths(layout.shapes),
        *_spacings(layout.shapes, group, pairs),
        *_enclosures(layout.shapes, pairs),
        *_compared(layout, group),
    ]


def _near(shapes: tuple[Rect, ...]) -> set[tuple[int, int]]:
    """Pairs of shapes that lie within the least distance of one another."""
    buckets: dict[tuple[int, int], list[int]] = {}
    large = []
    for at, (_, x0, y0, x1, y1) in enumerate(shapes):
        xs = range((x0 - SPACE) // BUCKET, (x1 + SPACE) // BUCKET + 1)
        ys = range((y0 - SPACE) // BUCKET, (y1 + SPACE) // BUCKET + 1)
        if len(xs) * len(ys) > LARGE:
            large.append(at)
            continue
        for x in xs:
            for y in ys:
                buckets.setdefault((x, y), []).append(at)
    pairs = ((min(a, b), max(a, b)) for a in large for b in range(len(shapes)))
    every = chain(pairs, *(combinations(m, 2) for m in buckets.values()))
    return {
        (a, b) for a, b in every if a != b and max(_gap(shapes[a], shapes[b])) < SPACE
    }


def _gap(a: Rect, b: Rect) -> tuple[int, int]:
    """How far two rectangles are apart along each axis; below zero they overlap."""
    return max(a[1], b[1]) - min(a[3], b[3]), max(a[2], b[2]) - min(a[4], b[4])


def _groups(shapes: tuple[Rect, ...]) -> tuple[list[int], set[tuple[int, int]]]:
    """A number for all metal that is joined, and the pairs that are near."""
    pairs = _near(shapes)
    parent = list(range(len(shapes)))

    def root(a: int) -> int:
        while parent[a] != a:
            parent[a] = parent[parent[a]]
            a = parent[a]
        return a

    for a, b in pairs:
        same = shapes[a][0] == shapes[b][0] or CUT in (shapes[a][0], shapes[b][0])
        if same and max(_gap(shapes[a], shapes[b])) <= 0:
            parent[root(a)] = root(b)
    return [root(a) for a in range(len(shapes))], pairs


def _widths(shapes: tuple[Rect, ...]) -> Iterator[Violation]:
    for layer, x0, y0, x1, y1 in shapes:
        if min(x1 - x0, y1 - y0) < WIDTH:
            thin = min(x1 - x0, y1 - y0)
            yield Violation("width", layer, (x0, y0), f"{thin} wide, {WIDTH} at least")


def _spacings(
    shapes: tuple[Rect, ...], group: list[int], pairs: set[tuple[int, int]]
) -> Iterator[Violation]:
    for a, b in sorted(pairs):
        layer = shapes[a][0]
        if layer == shapes[b][0] and group[a] != group[b]:
            gap = max(_gap(shapes[a], shapes[b]))
            at = (shapes[b][1], shapes[b][2])
            yield Violation("spacing", layer, at, f"{gap} apart, {SPACE} at least")


def _enclosures(
    shapes: tuple[Rect, ...], pairs: set[tuple[int, int]]
) -> Iterator[Violation]:
    """Vias without metal on all of one side."""
    covered: dict[int, set[str]] = {}
    for pair in pairs:
        for cut, metal in (pair, pair[::-1]):
            _, x0, y0, x1, y1 = shapes[cut]
            layer, u0, v0, u1, v1 = shapes[metal]
            inside = u0 <= x0 and v0 <= y0 and u1 >= x1 and v1 >= y1
            if shapes[cut][0] == CUT and layer != CUT and inside:
                covered.setdefault(cut, set()).add(layer)
    for at, (layer, x0, y0, _, _) in enumerate(shapes):
        missing = {FIRST, SECOND} - covered.get(at, set())
        if layer == CUT and missing:
            bare = " and ".join(sorted(missing))
            yield Violation("enclosure", CUT, (x0, y0), f"not covered by {bare}")


def _compared(layout: Wired, group: list[int]) -> Iterator[Violation]:
    """The netlist read back against the one that was meant."""
    touched: dict[tuple[str, str], int] = {}
    first = [(n, s) for n, s in enumerate(layout.shapes) if s[0] == FIRST]
    by_row: dict[int, list[tuple[int, Rect]]] = {}
    lines = {y for _, y in layout.pins.values()}
    for n, shape in first:
        rows = range(shape[2], shape[4] + 1)
        for row in rows if len(rows) < LARGE else filter(rows.__contains__, lines):
            by_row.setdefault(row, []).append((n, shape))
    for pin, (x, y) in layout.pins.items():
        for n, (_, x0, _, x1, _) in by_row.get(y, ()):
            if x0 <= x <= x1:
                touched[pin] = group[n]
                break
        else:
            yield Violation("pin", FIRST, (x, y), f"{' '.join(pin)} touches no metal")
    nets: dict[int, set[str]] = {}
    for net, ends in layout.joined.items():
        groups = {touched[end]: end for end in ends if end in touched}
        if len(groups) > 1:
            parts = ", ".join(" ".join(end) for end in groups.values())
            at = layout.pins[ends[0]]
            yield Violation(
                "open", FIRST, at, f"{net} lies in {len(groups)} parts: {parts}"
            )
        for number in groups:
            nets.setdefault(number, set()).add(net)
    for number, joined in nets.items():
        if len(joined) > 1:
            _, x, y, _, _ = layout.shapes[number]
            yield Violation(
                "short", FIRST, (x, y), f"{', '.join(sorted(joined))} are joined"
            )

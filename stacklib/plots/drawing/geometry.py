"""Boxes and lines of a drawing: what meets what, where a line is cut, how wide it is.

Lengths are points, from the upper left corner down. A line is the points it runs
through; an arc is one of many.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

SLACK = 0.6  # points that boxes may share: lines have a width
Point = tuple[float, float]
Polyline = tuple[Point, ...]


class Rect(NamedTuple):
    """A box: its upper left corner, its width and height."""

    x: float
    y: float
    w: float
    h: float

    @property
    def right(self) -> float:
        """Its right edge."""
        return self.x + self.w

    @property
    def foot(self) -> float:
        """Its lower edge."""
        return self.y + self.h

    @property
    def middle(self) -> Point:
        """Its centre."""
        return self.x + self.w / 2, self.y + self.h / 2

    def shrunk(self, by: float) -> Rect:
        """The box without a margin on every side."""
        return Rect(self.x + by, self.y + by, self.w - 2 * by, self.h - 2 * by)

    def holds(self, other: Rect) -> bool:
        """Whether another box lies in it."""
        across = other.x >= self.x - SLACK and other.right <= self.right + SLACK
        return across and other.y >= self.y - SLACK and other.foot <= self.foot + SLACK

    def meets(self, other: Rect) -> bool:
        """Whether two boxes share more than an edge."""
        wide = min(self.right, other.right) - max(self.x, other.x)
        high = min(self.foot, other.foot) - max(self.y, other.y)
        return min(wide, high) > SLACK

    def within(self, a: Point, b: Point) -> tuple[float, float] | None:
        """The shares of the way from a to b between which it runs inside the box."""
        first, last = 0.0, 1.0
        for start, end, low, high in (
            (a[0], b[0], self.x, self.right),
            (a[1], b[1], self.y, self.foot),
        ):
            if start == end:
                if not low < start < high:
                    return None
                continue
            met = ((low - start) / (end - start), (high - start) / (end - start))
            near, far = sorted(met)
            first, last = max(first, near), min(last, far)
        return (first, last) if last - first > 1e-9 else None

    def side(self, name: str, share: float = 0.5) -> Point:
        """A point of its top, foot, left or right, so far along it."""
        x, y = self.x + self.w * share, self.y + self.h * share
        return {
            "top": (x, self.y),
            "foot": (x, self.foot),
            "left": (self.x, y),
            "right": (self.right, y),
        }[name]


def around(points: Sequence[Point]) -> Rect:
    """The box that points span."""
    left, top = (min(axis) for axis in zip(*points, strict=True))
    right, foot = (max(axis) for axis in zip(*points, strict=True))
    return Rect(left, top, right - left, foot - top)


def between(a: Point, b: Point, share: float) -> Point:
    """So much of the way from a to b."""
    return a[0] + (b[0] - a[0]) * share, a[1] + (b[1] - a[1]) * share


def ways(line: Polyline) -> Iterator[tuple[Point, Point]]:
    """The straight pieces of a line."""
    return pairwise(line)


def long(line: Polyline) -> float:
    """Points along a line."""
    return sum(math.dist(a, b) for a, b in ways(line))


def at(line: Polyline, far: float) -> tuple[Point, Point]:
    """Where a line is after so many points, and its direction there."""
    for a, b in ways(line):
        step = math.dist(a, b)
        if step and (far <= step or b == line[-1]):
            way = ((b[0] - a[0]) / step, (b[1] - a[1]) / step)
            return between(a, b, far / step), way
        far -= step
    raise ValueError(f"a line without length: {line}")


def out_of(line: Polyline, box: Rect) -> Polyline:
    """The line from where it leaves a box that it begins in."""
    for i, (a, b) in enumerate(ways(line)):
        inside = box.within(a, b)
        if inside is None:
            return line[i:]
        if inside[1] < 1:
            return (between(a, b, inside[1]), *line[i + 1 :])
    return line[-1:]


def shortened(line: Polyline, by: float) -> Polyline:
    """A line without its last points."""
    far, kept = long(line) - by, [line[0]]
    for a, b in ways(line):
        if far <= math.dist(a, b):
            return (*kept, between(a, b, far / math.dist(a, b)))
        far -= math.dist(a, b)
        kept.append(b)
    return tuple(kept)


def bowed(a: Point, b: Point, bow: float) -> Polyline:
    """An arc from a to b that stands so much of their distance to the left of it."""
    mid = between(a, b, 0.5)
    top = (mid[0] + 2 * bow * (b[1] - a[1]), mid[1] - 2 * bow * (b[0] - a[0]))
    steps = (i / 16 for i in range(17))
    return tuple(between(between(a, top, t), between(top, b, t), t) for t in steps)


def beside(line: Polyline, by: float) -> Polyline:
    """A line that runs so many points to the right of one, round the same corners."""
    units = [
        ((b[0] - a[0]) / math.dist(a, b), (b[1] - a[1]) / math.dist(a, b))
        for a, b in ways(line)
    ]
    found = []
    for point, before, after in zip(
        line, [units[0], *units], [*units, units[-1]], strict=True
    ):
        x, y = before[0] + after[0], before[1] + after[1]
        turn = by * 2 / max(x * x + y * y, 0.2)  # a corner is further out
        found.append((point[0] - y * turn, point[1] + x * turn))
    return tuple(found)


def covers(a: Point, b: Point, thick: float, box: Rect) -> bool:
    """Whether a piece so wide lies on a box by more than an edge."""
    far, inside = math.dist(a, b) or 1.0, box.shrunk(SLACK)
    dx, dy = (b[0] - a[0]) / far, (b[1] - a[1]) / far
    half = thick / 2
    piece = [(x - dy * t, y + dx * t) for x, y in (a, b) for t in (half, -half)]
    corners = [
        (x, y) for x in (inside.x, inside.right) for y in (inside.y, inside.foot)
    ]
    for u, v in ((1.0, 0.0), (0.0, 1.0), (dx, dy), (-dy, dx)):  # seen from each side
        one, two = ([x * u + y * v for x, y in points] for points in (piece, corners))
        if max(one) <= min(two) or max(two) <= min(one):
            return False
    return True


def crosses(a: Point, b: Point, c: Point, d: Point) -> bool:
    """Whether two pieces cross, each inside of the other."""
    return (
        _turn(a, b, c) * _turn(a, b, d) < -1e-6
        and _turn(c, d, a) * _turn(c, d, b) < -1e-6
    )


def _turn(a: Point, b: Point, c: Point) -> float:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def runs_along(a: Point, b: Point, c: Point, d: Point, near: float) -> bool:
    """Whether two pieces run beside each other, nearer than so many points."""
    one, two = math.dist(a, b), math.dist(c, d)
    if not one or not two:
        return False
    apart = [_turn(a, b, p) / one for p in (c, d)]
    if max(map(abs, apart)) >= near or abs(apart[0] - apart[1]) > 0.02 * two:
        return False
    at = sorted(
        ((p[0] - a[0]) * (b[0] - a[0]) + (p[1] - a[1]) * (b[1] - a[1])) / one
        for p in (c, d)
    )
    return min(one, at[1]) - max(0.0, at[0]) > SLACK

"""Each kind of mark on matplotlib's axes, its evidence as ``spec.KEY`` has it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.patches import PathPatch
from matplotlib.path import Path

from . import theme
from .room import Box

SMALL = 10.7  # points, of texts in cells
CELL = 0.92  # side of a cell, of the place it has
TINT, BOX = 0.16, 0.5  # of a band; of one with four sides
SEPARATE = 256  # cells of one mark that are drawn one by one
TINTED = 0.5  # shades up to this carry text in ink
DASHES = {"simulated": (0, (5, 3))}
MARKERS = {"measured": "o", "claimed": "D", "data sheet": "s", "yours": "o"}
STROKE = 6.5  # half a short stroke, points
Point = tuple[float, float]
Line = tuple[Point, Point]  # both ends, on the canvas
GAP = (math.nan, math.nan)  # between two strokes of a path
BROKEN = ((-1.0, -0.2), (0.2, 1.0))  # parts of one that is simulated
RULES = ("vline", "hline")
FAINT = 0.5  # a simulated bar, under its dashes


def _line(ax: Axes, mark: Mapping[str, Any], tint: str) -> None:
    dash = DASHES.get(mark["evidence"], "solid")
    ax.plot(mark["x"], mark["y"], color=tint, linestyle=dash, zorder=3, linewidth=1.9)


def _bar(ax: Axes, mark: Mapping[str, Any], tint: str) -> None:
    look: dict[str, Any] = {"color": tint, "zorder": 3}
    foot: dict[str, Any] = {"marker": "|", "markersize": 8, "markeredgewidth": 1.2}
    # Its foot is seen however short the bar is.
    ax.plot(mark["x"][:1], mark["y"][:1], **foot, **look)
    dash = DASHES.get(mark["evidence"], "solid")
    look |= {"linewidth": 7, "solid_capstyle": "butt"}
    if dash != "solid":  # so that the gaps of its dashes are not taken for its ends
        ax.plot(mark["x"], mark["y"], alpha=FAINT, **look)
    ax.plot(mark["x"], mark["y"], linestyle=dash, **look)


def _dots(ax: Axes, mark: Mapping[str, Any], tint: str) -> None:
    for x, (lo, hi) in zip(mark["x"], mark.get("spread", ()), strict=False):
        ax.plot([x, x], [lo, hi], color=tint, linewidth=1.4, zorder=4)
    # Not clipped: a point on the frame is whole.
    look: dict[str, Any] = {"linestyle": "none", "clip_on": False}
    if mark["evidence"] not in MARKERS:
        _strokes(ax, mark, tint, look)
        return
    filled = mark["evidence"] == "measured"
    look |= {"marker": MARKERS[mark["evidence"]], "markersize": 6, "color": tint}
    look["markerfacecolor"] = tint if filled else theme.sentinel("paper")
    (drawn,) = ax.plot(mark["x"], mark["y"], zorder=5, markeredgewidth=1.6, **look)
    if "each" in mark:
        drawn.set_gid(f"st-each-{len(ax.lines)}")


def _strokes(ax: Axes, mark: Mapping[str, Any], tint: str, look: dict) -> None:
    """One value of a line is a short piece of it, clear of what it lies on."""
    whole = mark["evidence"] == "predicted"
    parts = ((-1.0, 1.0),) if whole else BROKEN
    ends = [(x, 0.0) for part in parts for x in part]
    path = Path(ends, [Path.MOVETO, Path.LINETO] * len(parts))
    look |= {"marker": path, "markersize": 2 * STROKE, "markerfacecolor": "none"}
    for colour, wide in ((theme.sentinel("paper"), 5.5), (tint, 2.6)):
        edge: dict[str, Any] = {"markeredgecolor": colour, "markeredgewidth": wide}
        ax.plot(mark["x"], mark["y"], zorder=5, **edge, **look)


def _places(ax: Axes, mark: Mapping[str, Any], tint: str) -> None:
    """Strokes as one path; else small dots, a lit one in a circle of its own."""
    x, y, lit = mark["x"], mark["y"], mark.get("lit", False)
    look: dict[str, Any] = {"color": tint, "zorder": 5 if lit else 3}
    if "to" in mark:
        feet = zip(x, y, mark["to"], strict=True)
        ends = [end for a, low, high in feet for end in ((a, low), (a, high), GAP)]
        look |= {"linewidth": 3.4 if lit else 1.3, "solid_capstyle": "butt"}
        ax.plot(*zip(*ends, strict=True), **look)
        return
    look |= {"marker": "o", "linestyle": "none", "clip_on": False}
    if lit:
        ring: dict[str, Any] = {"markerfacecolor": "none", "markeredgewidth": 1.3}
        ax.plot(x, y, markersize=12, **ring, **look)
    ax.plot(x, y, markersize=5.5 if lit else 3.6, markeredgewidth=0, **look)


def place(ax: Axes, x: float, y: float) -> Point:
    """Canvas position of a data point."""
    px, py = ax.transData.transform((x, y))
    return float(px), float(py)


def rules(ax: Axes, mark: Mapping[str, Any]) -> list[Line]:
    """Both ends of each rule of a mark, on the canvas."""
    (left, right), (floor, roof) = ax.get_xlim(), ax.get_ylim()
    ends: Sequence[Line] = ()
    if mark["kind"] == "vline":
        tops = mark.get("y") or [roof] * len(mark["x"])
        ends = [((x, floor), (x, y)) for x, y in zip(mark["x"], tops, strict=True)]
    if mark["kind"] == "hline":
        left, right = mark.get("x") or (left, right)
        ends = [((left, y), (right, y)) for y in mark["y"]]
    return [(place(ax, *start), place(ax, *end)) for start, end in ends]


def rule(
    ax: Axes, mark: Mapping[str, Any], tint: str, names: Sequence[Box] = ()
) -> None:
    """Rules, broken where a name stands in their way."""
    look: dict[str, Any] = {"color": tint, "linewidth": 1.1, "zorder": 2}
    look |= {"linestyle": (0, (2, 2)), "transform": None}
    for line in rules(ax, mark):
        points = [at for piece in _clear(line, names) for at in (*piece, GAP)]
        if points:
            ax.plot(*zip(*points[:-1], strict=True), **look)


def _clear(line: Line, boxes: Sequence[Box]) -> list[Line]:
    """What an upright or level line has outside of boxes."""
    run = int(line[0][0] == line[1][0])  # the axis along which it runs
    at, (first, last) = line[0][1 - run], sorted(point[run] for point in line)
    met = [box for box in boxes if box[1 - run] < at < box[3 - run]]
    pieces = []
    for low, high in sorted((box[run], box[run + 2]) for box in met):
        pieces.append((first, min(low, last)))
        first = max(first, high)
    spans = [(a, b) for a, b in (*pieces, (first, last)) if b > a]
    return [((at, a), (at, b)) if run else ((a, at), (b, at)) for a, b in spans]


def _band(ax: Axes, mark: Mapping[str, Any], tint: str) -> None:
    left, right = mark.get("x") or ax.get_xlim()
    low, high = mark.get("y") or ax.get_ylim()
    x, y = [left, right, right, left], [low, low, high, high]
    look: dict[str, Any] = {"facecolor": tint, "alpha": TINT}
    thin = 0.0
    if mark["evidence"] == "impossible":
        look = {"facecolor": "none", "edgecolor": tint, "hatch": "//", "alpha": 0.8}
    elif mark.get("x") and mark.get("y"):  # a thing, and those it touches are others
        look |= {"alpha": BOX, "edgecolor": theme.sentinel("paper")}
        thin = 1.2
    ax.fill(x, y, linewidth=thin, zorder=1, **look)


def _cells(ax: Axes, mark: Mapping[str, Any], tint: str) -> None:
    cells = list(zip(mark["x"], mark["y"], strict=True))
    shades = mark.get("shades") or [1.0] * len(cells)
    texts = mark.get("texts") or [""] * len(cells)
    hatch = {"hatch": "///"} if mark["evidence"] == "impossible" else {}
    # One path a shade: a path a cell would make the page several times as heavy.
    for shade in sorted(set(shades)):
        mine = [at for at, own in zip(cells, shades, strict=True) if own == shade]
        path = Path.make_compound_path(*map(_box, _runs(mine)))
        look: dict[str, Any] = {"facecolor": tint, "alpha": round(shade, 3), **hatch}
        ax.add_patch(PathPatch(path, edgecolor="none", linewidth=0, zorder=2, **look))
    for (x, y), shade, text in zip(cells, shades, texts, strict=True):
        if text:
            on = theme.sentinel("over" if shade > TINTED else "ink")
            middle: dict[str, Any] = {"ha": "center", "va": "center_baseline"}
            ax.text(x, y, text, color=on, fontsize=SMALL, zorder=4, **middle)


def _runs(cells: Sequence[tuple[float, float]]) -> list[tuple[float, float, float]]:
    """Row, first and last column of each box; in a large grid neighbours share one."""
    runs: list[tuple[float, float, float]] = []
    for x, y in sorted(cells, key=lambda at: (at[1], at[0])):
        if len(cells) > SEPARATE and runs and runs[-1] == (y, runs[-1][1], x - 1):
            runs[-1] = (y, runs[-1][1], x)
        else:
            runs.append((y, x, x))
    return runs


def _box(run: tuple[float, float, float]) -> Path:
    """Cells side by side, a little smaller than their place: the gap is the grid."""
    y, first, last = run
    half = CELL / 2
    left, right, low, high = first - half, last + half, y - half, y + half
    around = [(left, low), (right, low), (right, high), (left, high), (left, low)]
    return Path(around, closed=True)


DRAW = {
    "bar": _bar,
    "cells": _cells,
    "line": _line,
    "dots": _dots,
    "places": _places,
    **dict.fromkeys(RULES, rule),
    "band": _band,
}

"""Names written at the marks themselves, so that no figure needs a legend.

Canvas pixels are points here (72 to the inch), so widths compare directly.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from matplotlib.axes import Axes
from matplotlib.path import Path
from matplotlib.transforms import Bbox

from .layout import spread
from .room import PEN, Box, Room, axis_of
from .shapes import place, rules
from .spec import STROKES

SIZE = 10.7
LINE = 13.0  # from one label to the next
GAP = 7.0  # between a line's end and its name
EDGE = 3.0  # free strip round the canvas

HIGH = 6.0  # half of a name's height
# What is as bad as a line crossed, in parts of it: a rule that is broken for a name, a
# name before its rule, where a stretch begins that is another's.
BREAK, BEFORE = 0.4, 0.5

Mark = Mapping[str, Any]
Weighed = tuple[Path, float]


def width(text: str, ax: Axes, size: float = SIZE) -> float:
    """Points a text takes, in the font matplotlib ships (wider than most)."""
    probe = ax.text(0, 0, text, fontsize=size)
    found = float(probe.get_window_extent(PEN).width)
    probe.remove()
    return found


def _last(ax: Axes, mark: Mark) -> tuple[float, float]:
    return place(ax, mark["x"][-1], mark["y"][-1])


def _labelled(marks: Sequence[Mark], kinds: str) -> list[int]:
    wanted = [m["name"] and m.get("label_at", "end") == "end" for m in marks]
    return [i for i, m in enumerate(marks) if wanted[i] and m["kind"] in kinds.split()]


def _at_edge(ax: Axes, mark: Mark) -> bool:
    near = ax.bbox.x1 - 0.05 * ax.bbox.width
    return mark["kind"] in STROKES and _last(ax, mark)[0] >= near


def make_room(ax: Axes, marks: Sequence[Mark], ticks: Sequence[str]) -> None:
    """Margins as wide as the tick labels (left) and line names (right) need."""
    ending = [marks[i] for i in _labelled(marks, "line bar")]
    names = [mark["name"] for mark in ending if _at_edge(ax, mark)]
    right = max([width(n, ax) + GAP for n in names] + [_overhang(ax), 8.0]) + EDGE
    left = max((width(t, ax) for t in ticks), default=0.0) + 8
    box, total = ax.get_position(), float(ax.figure.bbox.width)
    ax.set_position((left / total, box.y0, 1 - (left + right) / total, box.height))


def _overhang(ax: Axes) -> float:
    """What the label of a tick near the right end needs beside the axis."""
    low, high = ax.get_xlim()
    shown = zip(ax.get_xticks(), ax.get_xticklabels(), strict=True)
    near = [
        text.get_text() for at, text in shown if min(low, high) <= at <= max(low, high)
    ]
    return width(near[-1], ax) / 2 if near else 0.0


def write(ax: Axes, x: float, y: float, text: str, tint: str, **style: Any) -> None:
    """A text at a point of the canvas, with a halo."""
    # The gid marks text that may lie over a line: svg.tidy gives it a halo.
    look: dict[str, Any] = {"transform": None, "color": tint, "fontsize": SIZE}
    ax.text(x, y, text, gid=f"st-label-{x:.1f}-{y:.1f}", zorder=6, **look, **style)


def _leader(
    ax: Axes, start: tuple[float, float], end: tuple[float, float], tint: str
) -> None:
    if abs(start[1] - end[1]) > 3:
        xs, ys = zip(start, end, strict=True)
        ax.plot(xs, ys, transform=None, color=tint, linewidth=0.7, clip_on=False)


def _paths(ax: Axes, marks: Sequence[Mark]) -> list[Weighed]:
    """Lines, dots, bars and rules as they lie on the canvas, each with its weight."""
    paths = [
        (Path(ax.transData.transform(list(zip(m["x"], m["y"], strict=True)))), 1.0)
        for m in marks
        if m["kind"] in (*STROKES, "dots")
    ]
    return paths + [(Path(ends), BREAK) for mark in marks for ends in rules(ax, mark)]


def _crossed(paths: Sequence[Weighed], box: Box) -> float:
    """How many lines and points a name would cover; a rule is broken there."""
    area = Bbox([[box[0], box[1]], [box[2], box[3]]])
    near = area.padded(1.0)
    return sum(
        weight * path.intersects_bbox(area, filled=False)
        if len(path.vertices) > 1
        else weight * near.contains(*path.vertices[0])
        for path, weight in paths
    )


def _wishes(end: tuple[float, float], wide: float) -> list[Box]:
    """Boxes beside a point: right, left, above, below, and further off."""
    x, y = end
    lefts = (x + GAP, x - GAP - wide)
    steps = [0.0] + [sign * k * LINE for k in range(1, 9) for sign in (-1, 1)]
    spots = [(left, y + step) for step in steps for left in lefts]
    spots += [
        (x - wide / 2, y + sign * k * LINE) for k in range(1, 6) for sign in (1, -1)
    ]
    return [(left, at - HIGH, left + wide, at + HIGH) for left, at in spots]


def end_labels(
    ax: Axes, marks: Sequence[Mark], tints: Sequence[str], room: Room
) -> None:
    """Name each line and row of dots at its last point, none on another."""
    chosen = _labelled(marks, "line bar dots places")
    edge = [i for i in chosen if _at_edge(ax, marks[i])]
    heights = spread(
        [_last(ax, marks[i])[1] for i in edge], LINE, ax.bbox.y0, ax.bbox.y1 - HIGH
    )
    for i, y in zip(edge, heights, strict=True):
        left = ax.bbox.x1 + GAP
        box = (left, y - HIGH, left + width(marks[i]["name"], ax), y + HIGH)
        room.taken.append(box)
        _end_label(ax, _last(ax, marks[i]), box, marks[i]["name"], tints[i])
    paths = _paths(ax, marks)
    room.taken.append(axis_of(ax))
    for i in (i for i in chosen if i not in edge):
        end = _last(ax, marks[i])
        wishes = _wishes(end, width(marks[i]["name"], ax))
        cost = partial(_cost, paths, end)
        box = wishes[room.pick(wishes, cost)]
        _end_label(ax, end, box, marks[i]["name"], tints[i])


def _cost(paths: Sequence[Weighed], end: tuple[float, float], box: Box) -> float:
    """What a place costs: three lines off its point are as bad as a line crossed."""
    return _crossed(paths, box) + abs((box[1] + box[3]) / 2 - end[1]) / (3 * LINE)


def _end_label(
    ax: Axes, end: tuple[float, float], box: Box, name: str, tint: str
) -> None:
    middle = (box[1] + box[3]) / 2
    near = box[0] if box[0] >= end[0] else box[2] if box[2] <= end[0] else end[0]
    if abs(middle - end[1]) > LINE + 3 or near >= ax.bbox.x1:
        _leader(ax, end, (near - 1 if near > end[0] else near, middle), tint)
    style = {"va": "center_baseline", "ha": "left"}
    write(ax, box[0], middle, name, tint, **style)


def _within(value: float, span: tuple[float, float]) -> bool:
    return min(span) <= value <= max(span)


def rule_labels(
    ax: Axes, marks: Sequence[Mark], tints: Sequence[str], room: Room
) -> None:
    """Name vertical rules at their foot, as low as there is room, and level ones."""
    paths = _paths(ax, marks)
    shown = [(k, x) for k in _labelled(marks, "vline") for x in marks[k]["x"]]
    for i, x in ((k, x) for k, x in shown if _within(x, ax.get_xlim())):
        at, wide = place(ax, x, ax.get_ylim()[0])[0], width(marks[i]["name"], ax)
        lefts = [at + 3, max(at - wide - 3, EDGE)]
        if lefts[0] + wide > ax.bbox.x1:  # too near the edge: left of its rule
            lefts = lefts[1:]
        ups = range(int((ax.bbox.height - 4) // LINE))
        spots = [(left, ax.bbox.y0 + 4 + k * LINE) for k in ups for left in lefts]
        wishes = [(a, y, a + wide, y + 2 * HIGH) for a, y in spots]

        def cost(box: Box, at: float = at) -> float:
            return _crossed(paths, box) + BEFORE * (box[0] < at)

        left, y, right, _ = wishes[room.pick(wishes, cost)]
        # What is written is narrower than its box: it stands at its rule.
        edge, ha = (left, "left") if left > at else (right, "right")
        style = {"ha": ha, "va": "center_baseline"}
        write(ax, edge, y + HIGH, marks[i]["name"], tints[i], **style)
    for i in _labelled(marks, "hline"):
        if _within(marks[i]["y"][0], ax.get_ylim()):
            _level_label(ax, marks[i], tints[i], room, paths)


def _level_label(
    ax: Axes, mark: Mark, tint: str, room: Room, paths: Sequence[Weighed]
) -> None:
    """Name a level over its line, or under it, at the left or further right."""
    y, wide = place(ax, ax.get_xlim()[0], mark["y"][0])[1], width(mark["name"], ax)
    lefts = [ax.bbox.x0 + 4 + k * 12 for k in range(20)]
    spots = [(left, y + up) for left in lefts for up in (2 + HIGH, -2 - HIGH)]
    wishes = [(a, b - HIGH, a + wide, b + HIGH) for a, b in spots]
    left, low, *_ = wishes[room.pick(wishes, partial(_crossed, paths))]
    write(ax, left, low + HIGH, mark["name"], tint, ha="left", va="center_baseline")


def band_label(ax: Axes, mark: Mark, tint: str, room: Room) -> None:
    """Name a band at its top, in the middle, or inside the right edge."""
    left, right = mark.get("x") or ax.get_xlim()
    top = (mark.get("y") or ax.get_ylim())[1]
    (a, y), (b, _) = place(ax, left, top), place(ax, right, top)
    wide = width(mark["name"], ax)
    middle = max(ax.bbox.x0 + wide / 2, min((a + b) / 2, ax.bbox.x1 - wide / 2))
    under = min(y, ax.bbox.y1) - 6 - HIGH
    spots = [under - k * LINE for k in range(8)]
    wishes = [(middle - wide / 2, s - HIGH, middle + wide / 2, s + HIGH) for s in spots]
    if mark["name"] and mark.get("label_at", "end") == "end":
        at = wishes[room.pick(wishes, lambda box: 0.0)]
        write(
            ax, at[0], at[1] + HIGH, mark["name"], tint, ha="left", va="center_baseline"
        )

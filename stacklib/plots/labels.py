"""Names written at the marks themselves, so that no figure needs a legend.

Canvas pixels are points here (72 to the inch), so widths compare directly.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import RendererAgg
from matplotlib.patches import Rectangle
from matplotlib.path import Path
from matplotlib.transforms import Bbox

from .layout import rows, spread

SIZE = 10.0
LINE = 13.0  # from one label to the next
GAP = 7.0  # between a line's end and its name
EDGE = 3.0  # free strip at the right of the canvas
KEY = 10.0  # side of a square in a key

STROKES = ("line", "bar")  # kinds with an end to be named at

Mark = Mapping[str, Any]


def width(text: str, ax: Axes, size: float = SIZE) -> float:
    """Points a text takes, in the font matplotlib ships (wider than most)."""
    canvas = ax.figure.bbox
    renderer = RendererAgg(int(canvas.width), int(canvas.height), 72)
    probe = ax.text(0, 0, text, fontsize=size)
    found = float(probe.get_window_extent(renderer).width)
    probe.remove()
    return found


def _at(ax: Axes, x: float, y: float) -> tuple[float, float]:
    """Canvas position of a data point."""
    px, py = ax.transData.transform((x, y))
    return float(px), float(py)


def _last(ax: Axes, mark: Mark) -> tuple[float, float]:
    return _at(ax, mark["x"][-1], mark["y"][-1])


def _labelled(marks: Sequence[Mark], kinds: str) -> list[int]:
    wanted = [m["name"] and m.get("label_at") != "none" for m in marks]
    return [i for i, m in enumerate(marks) if wanted[i] and m["kind"] in kinds.split()]


def _at_edge(ax: Axes, mark: Mark) -> bool:
    near = ax.bbox.x1 - 0.02 * ax.bbox.width
    return mark["kind"] in STROKES and _last(ax, mark)[0] >= near


def make_room(ax: Axes, marks: Sequence[Mark], ticks: Sequence[str]) -> None:
    """Margins as wide as the tick labels (left) and line names (right) need."""
    ending = [marks[i] for i in _labelled(marks, "line bar")]
    names = [mark["name"] for mark in ending if _at_edge(ax, mark)]
    right = max((width(n, ax) + GAP for n in names), default=8.0) + EDGE
    left = max((width(t, ax) for t in ticks), default=0.0) + 8
    box, total = ax.get_position(), float(ax.figure.bbox.width)
    ax.set_position((left / total, box.y0, 1 - (left + right) / total, box.height))


def _write(ax: Axes, x: float, y: float, text: str, tint: str, **style: Any) -> None:
    # The gid marks text that may lie over a line: svg.tidy gives it a halo.
    look: dict[str, Any] = {"transform": None, "color": tint, "fontsize": SIZE}
    ax.text(x, y, text, gid=f"st-label-{x:.1f}-{y:.1f}", zorder=6, **look, **style)


def _leader(
    ax: Axes, start: tuple[float, float], end: tuple[float, float], tint: str
) -> None:
    if abs(start[1] - end[1]) > 3:
        xs, ys = zip(start, end, strict=True)
        ax.plot(xs, ys, transform=None, color=tint, linewidth=0.7, clip_on=False)


def _columns(ax: Axes, spans: Sequence[tuple[float, float]]) -> list[list[int]]:
    """Labels that reach into the right margin, and those that stay inside."""
    outside = [i for i, (_, right) in enumerate(spans) if right > ax.bbox.x1 + GAP]
    return [outside, [i for i in range(len(spans)) if i not in outside]]


def _clearest(
    ax: Axes, marks: Sequence[Mark], span: tuple[float, float], y: float
) -> float:
    """Beside the point, below or above: the first place fewest lines cross."""
    paths = [
        Path(ax.transData.transform(list(zip(m["x"], m["y"], strict=True))))
        for m in marks
        if m["kind"] in STROKES
    ]

    def crossed(at: float) -> int:
        box = Bbox([[span[0], at - SIZE / 2], [span[1], at + SIZE / 2]])
        return sum(path.intersects_bbox(box, filled=False) for path in paths)

    return min((y, y - LINE, y + LINE, y - 2 * LINE), key=crossed)


def end_labels(ax: Axes, marks: Sequence[Mark], tints: Sequence[str]) -> None:
    """Name each line and row of dots at its last point, none on another."""
    chosen = _labelled(marks, "line bar dots")
    ends = [_last(ax, marks[i]) for i in chosen]
    spans = [
        (x + GAP, x + GAP + width(marks[i]["name"], ax))
        for i, (x, _) in zip(chosen, ends, strict=True)
    ]
    outside, inside = _columns(ax, spans)
    for column in (outside, inside):
        wanted = [ends[k][1] for k in column]
        if column is inside:
            wanted = [_clearest(ax, marks, spans[k], ends[k][1]) for k in column]
        places = spread(wanted, LINE, ax.bbox.y0, ax.bbox.y1)
        for k, place in zip(column, places, strict=True):
            _end_label(ax, ends[k], spans[k], place, marks[chosen[k]], tints[chosen[k]])


def _end_label(
    ax: Axes,
    end: tuple[float, float],
    span: tuple[float, float],
    place: float,
    mark: Mark,
    tint: str,
) -> None:
    style = {"va": "center_baseline", "ha": "left"}
    if span[1] > ax.figure.bbox.width - EDGE / 2:  # no room: left of the point
        _write(ax, end[0] - GAP, place, mark["name"], tint, **{**style, "ha": "right"})
        return
    _leader(ax, (end[0] + 1, end[1]), (span[0] - 1, place), tint)
    _write(ax, span[0], place, mark["name"], tint, **style)


def rule_labels(ax: Axes, marks: Sequence[Mark], tints: Sequence[str]) -> None:
    """Name vertical rules at their foot, in as many rows as they need."""
    chosen = [(i, x) for i in _labelled(marks, "vline") for x in marks[i]["x"]]
    spans = []
    for i, x in chosen:
        at = _at(ax, x, ax.get_ylim()[0])[0] + 3
        size = width(marks[i]["name"], ax)
        # Too near the right edge: the name stands left of its rule.
        at = at if at + size <= ax.bbox.x1 else at - size - 6
        spans.append((at, at + size + 6))
    for (i, _), (left, _), row in zip(chosen, spans, rows(spans), strict=True):
        y = ax.bbox.y0 + 4 + row * LINE
        _write(ax, left, y, marks[i]["name"], tints[i], ha="left", va="bottom")
    foot = {"ha": "left", "va": "bottom"}
    for i in _labelled(marks, "hline"):
        y = _at(ax, ax.get_xlim()[0], marks[i]["y"][0])[1]
        _write(ax, ax.bbox.x0 + 4, y + 2, marks[i]["name"], tints[i], **foot)


def band_label(ax: Axes, mark: Mark, tint: str) -> None:
    """Name a band at its top, in the middle, or inside the right edge."""
    left, right = mark.get("x") or ax.get_xlim()
    top = (mark.get("y") or ax.get_ylim())[1]
    (a, y), (b, _) = _at(ax, left, top), _at(ax, right, top)
    half = width(mark["name"], ax) / 2
    middle = max(ax.bbox.x0 + half, min((a + b) / 2, ax.bbox.x1 - half))
    under = min(y, ax.bbox.y1) - 6
    _write(ax, middle, under, mark["name"], tint, ha="center", va="top")


def cell_key(ax: Axes, marks: Sequence[Mark], tints: Sequence[str]) -> None:
    """Name every kind of cell beside a square of its colour, under the axis."""
    chosen = _labelled(marks, "cells")
    if not chosen:
        return
    names = [marks[i]["name"] for i in chosen]
    spans, rows_needed, left = [], 1, EDGE
    for name in names:
        wide = width(name, ax) + KEY + 3 * GAP
        if left > EDGE and left + wide > ax.figure.bbox.width:
            rows_needed, left = rows_needed + 1, EDGE
        spans.append((rows_needed, left))
        left += wide
    box, total = ax.get_position(), float(ax.figure.bbox.height)
    lift = (rows_needed * (LINE + 2)) / total
    ax.set_position((box.x0, box.y0 + lift, box.width, box.height - lift))
    for i, name, (row, x) in zip(chosen, names, spans, strict=True):
        y = (rows_needed - row) * (LINE + 2) + EDGE
        shade = max(marks[i].get("shades") or [1.0])
        ax.figure.add_artist(
            Rectangle((x, y), KEY, KEY, transform=None, color=tints[i], alpha=shade)
        )
        _write(ax, x + KEY + GAP - 2, y + 1, name, tints[i], ha="left", va="bottom")

"""Names that do not fit beside their marks, under the axis: what looks how."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from .labels import EDGE, GAP, LINE, Mark, width, write

SIDE = 10.0  # of a square in a key
ROW = LINE + 2.0


def _listed(marks: Sequence[Mark]) -> list[int]:
    """The first mark of each name that stands in the key."""
    first: dict[str, int] = {}
    for i, mark in enumerate(marks):
        at = mark.get("label_at", "end")
        if mark["name"] and (at == "key" or (mark["kind"] == "cells" and at == "end")):
            first.setdefault(mark["name"], i)
    return list(first.values())


def _places(ax: Axes, names: Sequence[str]) -> list[tuple[int, float]]:
    """Row, the first on top, and left edge of each name."""
    found, row, left = [], 0, EDGE
    for name in names:
        wide = width(name, ax) + SIDE + 2 * GAP
        if left > EDGE and left + wide > ax.figure.bbox.width:
            row, left = row + 1, EDGE
        found.append((row, left))
        left += wide
    return found


def leave_room(ax: Axes, marks: Sequence[Mark]) -> None:
    """Lift the axes by the rows that the key takes."""
    places = _places(ax, [marks[i]["name"] for i in _listed(marks)])
    if places:
        box, total = ax.get_position(), float(ax.figure.bbox.height)
        lift = (places[-1][0] + 1) * ROW / total
        ax.set_position((box.x0, box.y0 + lift, box.width, box.height - lift))


def write_key(
    ax: Axes,
    marks: Sequence[Mark],
    tints: Sequence[str],
    drawing: Mapping[str, Callable[..., None]],
) -> None:
    """Every name beside a piece of its mark."""
    chosen = _listed(marks)
    places = _places(ax, [marks[i]["name"] for i in chosen])
    for i, (row, left) in zip(chosen, places, strict=True):
        y = (places[-1][0] - row) * ROW + EDGE
        _sample(ax, marks[i], tints[i], (left, y), drawing)
        name = marks[i]["name"]
        write(ax, left + SIDE + GAP - 2, y + 1, name, tints[i], ha="left", va="bottom")


def _sample(
    ax: Axes,
    mark: Mark,
    tint: str,
    at: tuple[float, float],
    drawing: Mapping[str, Callable[..., None]],
) -> None:
    """A square of the colour of cells, bars and bands; of others the mark itself."""
    if mark["kind"] in ("cells", "bar", "band"):
        shade = 0.5 if mark["kind"] == "band" else max(mark.get("shades") or [1.0])
        look: dict[str, Any] = {"transform": None, "color": tint, "alpha": shade}
        ax.figure.add_artist(Rectangle(at, SIDE, SIDE, **look))
        return
    turn = ax.transData.inverted().transform
    ends = [turn((at[0] + dx, at[1] + SIDE / 2)) for dx in (0.0, SIDE + 2)]
    if mark["kind"] in ("dots", "places"):
        ends = [turn((at[0] + SIDE / 2, at[1] + SIDE / 2))]
    x, y = ([float(v) for v in part] for part in zip(*ends, strict=True))
    own: dict[str, Any] = {**mark, "x": x, "y": y, "spread": ()}
    own.pop("each", None)
    if mark["kind"] == "hline":
        own["y"] = y[:1]
    if "to" in mark:  # a stroke as high as a name
        (_, low), (_, high) = (turn((at[0], at[1] + up)) for up in (0.0, SIDE))
        own |= {"y": [float(low)], "to": [float(high)]}
    drawing[mark["kind"]](ax, own, tint)
    for line in ax.lines[-2:]:
        line.set_clip_on(False)

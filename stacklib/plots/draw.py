"""A spec as SVG text, drawn by matplotlib; the same bytes every time.

Evidence by mark, as ``spec.KEY`` has it. Names stand at line ends, clear of each other
and of the frame: ``draw`` refuses a figure in which two texts touch or one is cut.
"""

from __future__ import annotations

import io
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure as Canvas
from matplotlib.patches import PathPatch
from matplotlib.path import Path
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator

from . import theme
from .key import leave_room, write_key
from .labels import band_label, end_labels, make_room, rule_labels
from .layout import log_ticks, tick_text
from .room import Room, boxes, faults, frame_of
from .spec import SpecError

INCHES = (4.5, 3.4)  # SMALL is 11 px on the 336 px of a live figure on a phone
TEXT, SMALL = 11.0, 10.7
CELL = 0.92  # side of a cell, of the place it has
TINT, BOX = 0.16, 0.5  # of a band; of one with four sides
SEPARATE = 256  # cells of one mark that are drawn one by one
TINTED = 0.5  # shades up to this carry text in ink
DASHES = {"simulated": (0, (5, 3))}
MARKERS = {"measured": "o", "claimed": "D", "data sheet": "s", "yours": "o"}
STROKE = 6.5  # half a short stroke, points
LONG = 14  # characters of a tick's name on a line
TICK = 38.0  # points that a tick's number takes along an axis
BROKEN = ((-1.0, -0.2), (0.2, 1.0))  # parts of one that is simulated
STYLE = {
    "svg.fonttype": "none",
    "font.family": "DejaVu Sans",
    "font.size": TEXT,
    "hatch.linewidth": 0.8,
    "axes.unicode_minus": True,
}


def colour(mark: Mapping[str, Any], order: Sequence[str]) -> str:
    """Sentinel colour of a mark: its evidence, this machine, or its series."""
    if mark["evidence"] == "impossible":
        return theme.sentinel("impossible")
    if mark.get("this_machine"):
        return theme.sentinel("this-machine")
    if mark.get("layer"):
        return theme.sentinel(f"layer-{mark['layer']}")
    return theme.series(mark.get("series", order.index(mark["name"])))


def limits(spec: Mapping[str, Any], axis: str) -> tuple[float, float]:
    """Range of one axis: as the spec says, else the data with a margin."""
    if spec[axis].get("limits"):
        lo, hi = spec[axis]["limits"]
        return lo, hi
    values = [v for mark in spec["marks"] for v in mark.get(axis, ())]
    if axis == "y":
        pairs = [pair for m in spec["marks"] for pair in m.get("spread", ())]
        values += [v for pair in pairs for v in pair]
    lo, hi = min(values, default=1), max(values, default=10)
    if spec[axis].get("scale") == "log":
        pad = max((hi / lo) ** 0.05, 1.1)
        return (lo, hi) if axis == "x" and hi > lo else (lo / pad, hi * pad)
    lo = min(lo, 0.0)
    return (lo, hi * 1.06) if axis == "y" else (lo, max(hi, lo + 1e-9))


def _axis(ax: Axes, which: str, lo: float, hi: float, spec: Mapping[str, Any]) -> None:
    axis = getattr(ax, f"{which}axis")
    if spec.get("ticks") is not None:
        axis.set_major_locator(FixedLocator(spec["ticks"]))
    elif spec.get("scale") == "log":
        axis.set_major_locator(
            FixedLocator(log_ticks(*sorted((lo, hi)), _most(ax, which)))
        )
    else:
        axis.set_major_locator(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda v, _: _tick(v, spec)))


def _most(ax: Axes, which: str) -> int:
    """Ticks that stand beside each other without touching; up the axis, seven."""
    return max(2, int(ax.bbox.width // TICK)) if which == "x" else 7


def _tick(value: float, axis: Mapping[str, Any]) -> str:
    """A number, or the name that the axis gives to what stands there."""
    if "names" in axis:
        names: list[str] = axis["names"]
        nearest = min(axis["ticks"], key=lambda at: abs(at - value))
        return textwrap.fill(names[list(axis["ticks"]).index(nearest)], LONG)
    return tick_text(value)


def _frame(ax: Axes, spec: Mapping[str, Any]) -> None:
    for which in "xy":
        if spec[which].get("scale") == "log":
            getattr(ax, f"set_{which}scale")("log")
        lo, hi = limits(spec, which)
        getattr(ax, f"set_{which}lim")(lo, hi)
        _axis(ax, which, lo, hi, spec[which])
    ax.grid(True, color=theme.sentinel("grid"), linewidth=0.8)
    ax.set_axisbelow(True)
    for side in ("top", "right", "left"):
        ax.spines[side].set_visible(False)
    ax.spines["bottom"].set_color(theme.sentinel("muted"))
    ax.tick_params(length=0, labelsize=SMALL, labelcolor=theme.sentinel("muted"), pad=4)
    ax.tick_params(axis="x", pad=7)  # the first is clear of the lowest beside the axis
    ink: dict[str, Any] = {"color": theme.sentinel("ink")}
    ax.set_xlabel(spec["x"]["label"], labelpad=5, **ink)
    # Above the axis and upright: a reader on a phone need not turn it.
    corner: dict[str, Any] = {"transform": ax.transAxes, "ha": "left", "va": "bottom"}
    ax.text(0, 1.03, spec["y"]["label"], **corner, **ink)


def _line(ax: Axes, mark: Mapping[str, Any], tint: str) -> None:
    dash = DASHES.get(mark["evidence"], "solid")
    ax.plot(mark["x"], mark["y"], color=tint, linestyle=dash, zorder=3, linewidth=1.9)


def _bar(ax: Axes, mark: Mapping[str, Any], tint: str) -> None:
    look: dict[str, Any] = {"color": tint, "zorder": 3}
    foot: dict[str, Any] = {"marker": "|", "markersize": 8, "markeredgewidth": 1.2}
    # Its foot is seen however short the bar is.
    ax.plot(mark["x"][:1], mark["y"][:1], **foot, **look)
    dash = DASHES.get(mark["evidence"], "solid")
    look |= {"linestyle": dash, "linewidth": 7, "solid_capstyle": "butt"}
    ax.plot(mark["x"], mark["y"], **look)


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
    ax.plot(mark["x"], mark["y"], zorder=5, markeredgewidth=1.6, **look)


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


def _rule(ax: Axes, mark: Mapping[str, Any], tint: str) -> None:
    dash: Any = (0, (2, 2))
    look: dict[str, Any] = {"color": tint, "linewidth": 1.1, "linestyle": dash}
    look["zorder"] = 2
    floor = ax.get_ylim()[0]
    for i, x in enumerate(mark.get("x", ()) if mark["kind"] == "vline" else ()):
        top = mark["y"][i] if mark.get("y") else ax.get_ylim()[1]
        ax.plot([x, x], [floor, top], **look)
    for y in mark["y"] if mark["kind"] == "hline" else ():
        ax.plot(ax.get_xlim(), [y, y], **look)


def _band(ax: Axes, mark: Mapping[str, Any], tint: str) -> None:
    left, right = mark.get("x") or ax.get_xlim()
    low, high = mark.get("y") or ax.get_ylim()
    x, y = [left, right, right, left], [low, low, high, high]
    look: dict[str, Any] = {"facecolor": tint, "alpha": TINT}
    if mark["evidence"] == "impossible":
        look = {"facecolor": "none", "edgecolor": tint, "hatch": "//", "alpha": 0.8}
    thin = 0.0
    if mark.get("x") and mark.get("y"):  # a thing, and those it touches are others
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


_DRAW = {
    "bar": _bar,
    "cells": _cells,
    "line": _line,
    "dots": _dots,
    "vline": _rule,
    "hline": _rule,
    "band": _band,
}


def _order(marks: Sequence[Mapping[str, Any]]) -> list[str]:
    """Names that take a series colour, first come first."""
    return list(dict.fromkeys(mark["name"] for mark in marks))


def _paint(ax: Axes, spec: Mapping[str, Any], tints: Sequence[str]) -> None:
    """Marks first, names over them, each where no other stands."""
    marks = spec["marks"]
    for mark, tint in zip(marks, tints, strict=True):
        _DRAW[mark["kind"]](ax, mark, tint)
    room = Room(frame_of(ax))
    room.taken += [box for _, box in boxes(ax)]
    rule_labels(ax, marks, tints, room)
    for mark, tint in zip(marks, tints, strict=True):
        if mark["kind"] == "band":
            band_label(ax, mark, tint, room)
    end_labels(ax, marks, tints, room)


def _axes(spec: Mapping[str, Any]) -> Axes:
    """A canvas with the frame of a spec: limits, ticks and their names."""
    canvas = Canvas(figsize=INCHES, dpi=72)
    FigureCanvasSVG(canvas)
    ax = canvas.add_axes((0.1, 0.145, 0.88, 0.765))
    for patch in (ax.patch, canvas.patch):
        patch.set_visible(False)
    _frame(ax, spec)
    if any(mark["kind"] == "cells" for mark in spec["marks"]):
        ax.grid(False)
    return ax


def _arrange(ax: Axes, spec: Mapping[str, Any], tints: Sequence[str]) -> None:
    """Margins as wide as what stands in them, a key under the axis."""
    if spec.get("square"):
        ax.set_box_aspect(1)
        ax.apply_aspect()
    inside = [t for t in ax.get_yticks() if _inside(t, ax.get_ylim())]
    make_room(ax, spec["marks"], [_tick(t, spec["y"]) for t in inside])
    _axis(ax, "x", *ax.get_xlim(), spec["x"])  # narrower now: fewer ticks
    leave_room(ax, spec["marks"])
    _paint(ax, spec, tints)
    write_key(ax, spec["marks"], tints, _DRAW)


def draw(spec: Mapping[str, Any], name: str) -> str:
    """A checked spec as SVG text; SpecError where two texts touch or one is cut."""
    with style.context(["default", {**STYLE, "svg.hashsalt": name}]):
        ax, order = _axes(spec), _order(spec["marks"])
        _arrange(ax, spec, [colour(mark, order) for mark in spec["marks"]])
        if wrong := faults(boxes(ax), frame_of(ax)):
            raise SpecError(f"figure {name!r}: {'; '.join(wrong)}")
        out = io.StringIO()
        meta = {"Date": None, "Creator": None}
        ax.figure.savefig(out, format="svg", metadata=meta)
    return out.getvalue()


def _inside(value: float, span: tuple[float, float]) -> bool:
    return min(span) <= value <= max(span)

"""A spec as SVG text, drawn by matplotlib; the same bytes every time.

Evidence by mark, as ``spec.KEY`` has it. Names stand at line ends, clear of each other
and of the frame: ``draw`` refuses a figure in which two texts touch or one is cut.
"""

from __future__ import annotations

import html
import io
import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure as Canvas
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator

from . import theme
from .key import leave_room, write_key
from .labels import band_label, end_labels, make_room, rule_labels
from .layout import log_ticks, tick_text
from .room import Room, axis_of, boxes, faults, frame_of
from .shapes import DRAW, RULES, SMALL, rule
from .spec import SpecError

# SMALL text is 13 px on a page, 11 px on the 336 px of a live figure on a phone.
INCHES = {False: (7.9, 4.2), True: (4.5, 3.4)}
SQUARE = (7.9, 6.2)  # of a page's, where what is drawn is as wide as high
TEXT = 11.0
LONG = 14  # characters of a tick's name on a line
TICK = 38.0  # points that a tick's number takes along an axis
_EACH = re.compile(r'<g id="st-each-\d+">.*?\n  *</g>\n  *</g>', re.S)
_USE = re.compile(r"<use([^>]*)/>")
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
        values += [v for mark in spec["marks"] for v in mark.get("to", ())]
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
            FixedLocator(log_ticks(min(lo, hi), max(lo, hi), _most(ax, which)))
        )
    else:
        axis.set_major_locator(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda v, _: _tick(v, spec)))


def _most(ax: Axes, which: str) -> int:
    """Ticks that stand beside each other without touching; up the axis, seven."""
    wide, high = ax.bbox.width, ax.bbox.height
    along = min(wide, high) if ax.get_box_aspect() else wide
    return max(2, int(along // TICK)) if which == "x" else 7


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


def _paint(ax: Axes, spec: Mapping[str, Any], tints: Sequence[str]) -> None:
    """Marks first, names over them, each where no other stands; then rules, which make
    way for names.
    """
    marks = spec["marks"]
    for mark, tint in zip(marks, tints, strict=True):
        if mark["kind"] not in RULES:
            DRAW[mark["kind"]](ax, mark, tint)
    room = Room(frame_of(ax))
    room.taken += [box for _, box in boxes(ax)]
    rule_labels(ax, marks, tints, room)
    for mark, tint in zip(marks, tints, strict=True):
        if mark["kind"] == "band":
            band_label(ax, mark, tint, room)
    end_labels(ax, marks, tints, room)
    names = [box for _, box in boxes(ax)]
    for mark, tint in zip(marks, tints, strict=True):
        if mark["kind"] in RULES:
            rule(ax, mark, tint, names)


def _axes(canvas: Canvas, spec: Mapping[str, Any]) -> Axes:
    """The frame of a spec on a canvas: limits, ticks and their names."""
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
    foot, top = sorted(ax.get_ylim())
    inside = [t for t in ax.get_yticks() if foot <= t <= top]
    make_room(ax, spec["marks"], [_tick(t, spec["y"]) for t in inside])
    _axis(ax, "x", *ax.get_xlim(), spec["x"])  # narrower now: fewer ticks
    leave_room(ax, spec["marks"])
    _paint(ax, spec, tints)
    write_key(ax, spec["marks"], tints, DRAW)


def draw(spec: Mapping[str, Any], name: str, narrow: bool) -> str:
    """A checked spec as SVG text; SpecError where two texts touch or one is cut.

    - ``narrow``: for a phone, whose page is half as wide
    """
    with style.context(["default", {**STYLE, "svg.hashsalt": name}]):
        square = spec.get("square") and not narrow
        canvas = Canvas(figsize=SQUARE if square else INCHES[narrow], dpi=72)
        # Names that take a series colour, first come first.
        order = list(dict.fromkeys(mark["name"] for mark in spec["marks"]))
        ax = _axes(canvas, spec)
        _arrange(ax, spec, [colour(mark, order) for mark in spec["marks"]])
        texts = [*boxes(ax), ("the axis", axis_of(ax))]
        if wrong := faults(texts, frame_of(ax)):
            raise SpecError(f"figure {name!r}: {'; '.join(wrong)}")
        out = io.StringIO()
        meta = {"Date": None, "Creator": None}
        canvas.savefig(out, format="svg", metadata=meta)
    return _call(out.getvalue(), [m["each"] for m in spec["marks"] if "each" in m])


def _call(svg: str, names: Sequence[Sequence[str]]) -> str:
    """Give each point of the marks that have names its own."""
    for each, group in zip(names, _EACH.findall(svg), strict=True):
        left = iter(map(html.escape, each))

        def one(use: re.Match[str], left: Iterator[str] = left) -> str:
            name = next(left)
            return f'<use data-name="{name}"{use[1]}><title>{name}</title></use>'

        svg = svg.replace(group, _USE.sub(one, group), 1)
    return svg

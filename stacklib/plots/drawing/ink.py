"""A sheet as SVG text, drawn by matplotlib; the same bytes every time."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence

from matplotlib import style
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure as Canvas
from matplotlib.patches import PathPatch
from matplotlib.path import Path

from .. import theme
from ..draw import STYLE
from ..svg import PAGE, tidy
from .sheet import Look, Rect, Shape, Sheet

BEND = 0.4477  # of a radius: where the handles of a quarter circle stand
_TEXT = re.compile(r'(<g id="st-text-(\d+)">\s*<text[^>]*>)([^<]*)')

_ALONE = re.compile(r"<g>\n(<path [^>]*/>|<text .*</text>)\n</g>")
_FONT = re.compile(r"font-size: [^;]*; font-family: [^;]*; ")


def _box(rect: Rect, radius: float, high: float) -> Path:
    """A box with round corners, its height measured up the page."""
    left, right, low, top = rect.x, rect.right, high - rect.foot, high - rect.y
    r = min(radius, rect.w / 2, rect.h / 2)
    if not r:
        around = [(left, low), (right, low), (right, top), (left, top), (left, low)]
        return Path(around, closed=True)
    b = r * BEND
    points, codes = [(left + r, low)], [Path.MOVETO]
    corners = ((right, low), (right, top), (left, top), (left, low))
    for (x, y), (u, v) in zip(corners, ((1, 0), (0, 1), (-1, 0), (0, -1)), strict=True):
        # Along a side, then round the corner to the left of it.
        begin, end = (x - u * r, y - v * r), (x - v * r, y + u * r)
        points += [begin, (x - u * b, y - v * b), (x - v * b, y + u * b), end]
        codes += [Path.LINETO, *[Path.CURVE4] * 3]
    return Path([*points, points[0]], [*codes, Path.CLOSEPOLY])


def _path(shape: Shape, high: float) -> Path:
    if shape.rects:
        boxes = [_box(rect, shape.look.radius, high) for rect in shape.rects]
        return Path.make_compound_path(*boxes)
    closed = bool(shape.look.fill)
    made = []
    for line in shape.lines:
        points = [(x, high - y) for x, y in line]
        made.append(Path([*points, points[0]] if closed else points, closed=closed))
    return made[0] if len(made) == 1 else Path.make_compound_path(*made)


def _patch(shape: Shape, high: float) -> PathPatch:
    look: Look = shape.look
    made = PathPatch(
        _path(shape, high),
        facecolor=theme.sentinel(look.fill) if look.fill else "none",
        edgecolor=theme.sentinel(look.edge) if look.edge else "none",
        linewidth=look.width if look.edge else 0.0,
        linestyle=(0, (3, 2)) if look.dash else "solid",
        capstyle="butt",
        joinstyle="round",
        transform=None,
    )
    if look.fill and look.alpha < 1:  # the fill alone is thin; an edge is seen
        made.set_facecolor((*made.get_facecolor()[:3], look.alpha))
    return made


def draw(sheet: Sheet, size: tuple[float, float], name: str, names: Sequence) -> str:
    """SVG of a sheet; ``names`` are those of each text's numbers."""
    wide, high = size
    with style.context(["default", {**STYLE, "svg.hashsalt": name}]):
        canvas = Canvas(figsize=(wide / 72, high / 72), dpi=72)
        FigureCanvasSVG(canvas)
        canvas.patch.set_visible(False)
        for shape in sheet.shapes:
            canvas.add_artist(_patch(shape, high))
        _write(canvas, sheet, size)
        out = io.StringIO()
        canvas.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
    return _number(out.getvalue(), sheet, names)


def _write(canvas: Canvas, sheet: Sheet, size: tuple[float, float]) -> None:
    wide, high = size
    for at, text in enumerate(sheet.texts):
        made = canvas.text(
            text.at[0] / wide,
            1 - text.at[1] / high,
            text.line.text,
            fontsize=text.size,
            color=theme.sentinel(text.line.role),
            fontweight="bold" if text.line.bold else "normal",
            ha={"start": "left", "middle": "center", "end": "right"}[text.align],
            va="baseline",
        )
        made.set_gid(f"st-text-{at}")


def _number(svg: str, sheet: Sheet, names: Sequence) -> str:
    """Put the names of numbers into the texts that hold them."""

    def one(match: re.Match[str]) -> str:
        at = int(match[2])
        return match[1] + sheet.texts[at].line.markup(names[at])

    return _TEXT.sub(one, svg)


def finish(svg: str, name: str, alt: str, wide: float) -> str:
    """Inline SVG as wide as the page lets it be, at most as wide as drawn."""
    made = _ALONE.sub(r"\1", tidy(svg, name, alt))
    if font := _FONT.search(made):  # one for all of its texts
        made = made.replace(font[0], "").replace('style="', f'style="{font[0]}', 1)
    made = made.replace(f"max-width: {PAGE}", f"max-width: {wide:g}px")
    # Its numbers can be opened, and what is in an image is not reached.
    return made.replace('role="img"', 'role="group"', 1)

"""Texts of every figure of the book, as the notebooks hold it.

None is cut, none lies on another or on a dashed line, none is too small on a phone.
Widths are those of the
wide font that the figure was laid out in.
"""

import html
import json
import re
from functools import cache

import pytest
from _tools import tree
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextToPath

from stacklib.plots import room
from stacklib.plots.drawing.geometry import Rect

FIGURE = re.compile(r'<figure class="st-figure" id="fig-([\w-]+)".*?</figure>', re.S)
PLACE = re.compile(
    r' x="(?P<x>-?[\d.]+)" y="(?P<y>-?[\d.]+)"|'
    r"translate\((?P<u>-?[\d.]+) (?P<v>-?[\d.]+)\)"
)
TEXT = re.compile(r"<text ([^>]*)>([^<]+)</text>")
COLUMN = 336.0  # px of the narrowest figure, a live one, on a screen 390 px wide
LEAST = 11.0  # px that a text is high there
SLACK = 2.0  # units: a browser rounds, and a box has a descent that few letters use


PHONE = re.compile(
    r'<g class="st-chart-phone" display="none" '
    r'transform="translate\(0 (-?[\d.]+)\) scale\(([\d.]+)\)">'
)
SIZE = re.compile(r'viewBox="0 0 ([\d.]+) ([\d.]+)"')


def layouts(svg):
    """A page's layout and a phone's, each with its own frame; a live figure has one."""
    inside = PHONE.search(svg)
    if inside is None:
        return svg, svg
    (wide, high), (down, scale) = (
        map(float, found.groups()) for found in (SIZE.search(svg), inside)
    )
    frame = f'viewBox="0 0 {wide / scale:.1f} {(high - 2 * down) / scale:.1f}"'
    return svg[: inside.start()], frame + svg[inside.end() :]


@cache
def figures():
    """Name of each figure and its SVG."""
    books = (*tree.ROOT.glob("chapters/*/*.ipynb"), *tree.ROOT.glob("book/*/*.ipynb"))
    found = {}
    for path in sorted(books):
        for cell in json.loads(path.read_text("utf-8"))["cells"]:
            for output in cell.get("outputs", ()):
                shown = "".join(output.get("data", {}).get("text/html", ""))
                for match in FIGURE.finditer(shown):
                    found[f"{path.parent.name}/{path.stem}#{match[1]}"] = match[0]
    return found


@cache
def size(words, points):
    wide, high, descent = TextToPath().get_text_width_height_descent(
        words, FontProperties(family="DejaVu Sans", size=points), False
    )
    return wide, high - descent, descent


def texts(svg):
    """Each text with its box, up the page; and its size."""
    for look, words in TEXT.findall(svg):
        points = float(re.search(r"font(?:-size)?: ([\d.]+)px", look)[1])
        words = html.unescape(words)
        wide, up, down = size(words, points)
        at = re.search(r"text-anchor: (\w+)", look)
        x, y = map(float, PLACE.search(look).group(*("xy" if " x=" in look else "uv")))
        left = (
            x - wide * {"start": 0, "middle": 0.5, "end": 1}[at[1] if at else "start"]
        )
        yield words, (left, -y - down, left + wide, -y + up), points


def faults(svg):
    wide, high = map(float, SIZE.search(svg).groups())
    inner = [(w, (a + 1, b + 1, c - 1, d - 1)) for w, (a, b, c, d), _ in texts(svg)]
    return room.faults(inner, (0.0, -high, wide, 0.0))


def test_no_text_of_any_figure_is_cut_or_lies_on_another():
    found = {
        (name, at): wrong
        for name, svg in figures().items()
        for at, layout in enumerate(layouts(svg))
        if (wrong := faults(layout))
    }
    assert len(figures()) > 80 and found == {}


DASHED = re.compile(r'<path d="([^"]*)"[^>]*stroke-dasharray')
STEP = re.compile(r"([Mmlhv])([^a-zA-Z]*)")
NUMBER = re.compile(r"-?(?:\d+\.?\d*|\.\d+)")


def strokes(path):
    """Both ends of every piece of a path as ``svg.tidy`` writes it, up the page."""
    x = y = 0.0
    for kind, numbers in STEP.findall(path):
        given = [float(n) for n in NUMBER.findall(numbers)]
        dx, dy = {"h": (*given, 0.0), "v": (0.0, *given)}.get(kind, given)
        start, (x, y) = (x, y), (dx, dy) if kind == "M" else (x + dx, y + dy)
        if kind not in "Mm":
            yield (start[0], -start[1]), (x, -y)


def crossed(svg):
    """Each text, once for every dashed line that runs through it."""
    lines = [[*strokes(path)] for path in DASHED.findall(svg)]
    for words, (left, low, right, high), _ in texts(svg):
        box = Rect(left + 1, low + 1, right - left - 2, high - low - 2)
        yield from (words for line in lines if any(box.within(*s) for s in line))


def test_no_dashed_line_runs_through_a_text():
    """Names make way for lines, and rules are broken where one has to stand on them."""
    charts = {name: svg for name, svg in figures().items() if "st-drawing" not in svg}
    found = {
        (name, at): words
        for name, svg in charts.items()
        for at, layout in enumerate(layouts(svg))
        if (words := [*crossed(layout)])
    }
    assert found == {}
    assert sum(bool(DASHED.search(svg)) for svg in charts.values()) > 50


def test_a_dashed_line_through_a_text_is_seen():
    text = '<text style="font: 10.5px x" x="100" y="50">a name</text>'
    for path, times in (
        ("M110 10v80", 1),
        ("M110 10v25M110 60v9", 0),
        ("M9 48h200", 1),
    ):
        svg = f'<path d="{path}" style="stroke-dasharray: 2,2"/>{text}'
        assert [*crossed(svg)] == ["a name"] * times


def test_every_text_can_be_read_on_a_phone():
    for name, both in figures().items():
        svg = layouts(both)[1]
        wide = float(SIZE.search(svg)[1])
        small = [w for w, _, points in texts(svg) if points * COLUMN / wide < LEAST]
        assert small == [], name


@pytest.mark.parametrize(
    ("moved", "says"), [("100", "lies on"), ("-4", "cut by"), ("400", "cut by")]
)
def test_a_planted_fault_is_seen(moved, says):
    name = '<text style="font: 10.5px x" x="{}" y="50">a name</text>'
    svg = f'<svg viewBox="0 0 324 245">{name.format(100)}{name.format(moved)}</svg>'
    assert any(says in wrong for wrong in faults(svg))

"""Texts of every figure of the book, as the notebooks hold it.

None is cut, none lies on another, none is too small on a phone. Widths are those of the
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

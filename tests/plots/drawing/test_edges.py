"""Parts anywhere, and lines between any two of them: where they run, what they miss."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib.plots import SpecError
from stacklib.plots.drawing import (
    Box,
    Cells,
    Edge,
    Words,
    around_ring,
    below,
    board,
    draw,
    joined,
    mesh,
    right_of,
    ring,
    tree,
)
from stacklib.plots.drawing.edges import band
from stacklib.plots.drawing.geometry import (
    Rect,
    bowed,
    crosses,
    long,
    out_of,
    runs_along,
    shortened,
)
from stacklib.plots.drawing.picture import WIDTH, height, lay_out
from stacklib.quantity import UnitError, chosen

from ...rows import refusals

RATE = chosen(2, "TB/s", "a rate")
PLACE = st.tuples(st.floats(0, 100), st.floats(0, 100))


def box(name):
    return Box(name, grow=0, stretch=False)


def show(scene):
    return draw(scene, name="planted", title="What is seen.")


def square(*edges, **given):
    """Four parts at the corners of a board, one in its middle."""
    spots = {"a": (0, 0), "b": (1, 0), "c": (0, 1), "d": (1, 1), "m": (0.5, 0.5)}
    placed = ((box(name), spot) for name, spot in spots.items())
    return joined(board(*placed, gap=60), *edges, margin=24, **given)


def lines(scene, narrow=False):
    sheet = lay_out(scene, narrow)
    assert sheet.faults(Rect(0, 0, WIDTH[narrow], height(sheet))) == []
    return sheet, [stroke.line for stroke in sheet.strokes]


@pytest.mark.rows(
    ("edge", "corners"),
    [
        (Edge("a", "b"), 2),
        (Edge("a", "b", bow=0.03), 17),
        (Edge("a", "b", ports=("top", "top")), 4),
        (Edge("m", "d", ports=("right", "top")), 3),
        (Edge("a", "m", ports=("foot", "top")), 4),
        (Edge("b", "c", ports=("right", "foot"), via=((1, 1),)), 3),
        (Edge("c", "b", via=((0.2, 0.02), (0.8, 0.02))), 4),
        (Edge("m", "c", ports=(("left", 0.1), ("top", 0.9))), 3),
    ],
)
def test_a_line_runs_from_border_to_border(edge, corners):
    for narrow in (False, True):
        sheet, (line,) = lines(square(edge), narrow)
        assert len(line) <= corners
        for name, (x, y) in zip(
            (edge.start, edge.end), (line[0], line[-1]), strict=True
        ):
            part = sheet.rect_of(name)
            on = (x - part.x, x - part.right, y - part.y, y - part.foot)
            assert min(map(abs, on)) < 1e-6
            assert part.shrunk(-1e-6).holds(Rect(x, y, 0, 0))


def test_a_line_is_as_wide_as_its_bandwidth_and_its_label_opens():
    edges = [Edge("a", "b", RATE, rate=RATE * share, full=RATE) for share in (1, 0.5)]
    assert edges[0].thick == 2 * edges[1].thick
    made = show(square(edges[0], Edge("b", "d", arrow="both", words="and back")))
    assert [one.text for one in made.numbers.values()] == ["2 TB/s"]
    assert "Arrows: a to b, 2 TB/s; b to d, and back." in made.alt


@given(st.integers(3, 9))
@settings(max_examples=7, deadline=None)
def test_a_ring_joins_each_to_the_next_and_none_lies_on_another(count):
    names = [f"x{'abcdefghi'[i]}" for i in range(count)]
    scene = joined(ring(*map(box, names)), *around_ring(names, arrow="end"))
    for narrow in (False, True):
        sheet, found = lines(scene, narrow)
        assert len(found) == count == len({a for a, _, _ in sheet.arrows})
        tops = [sheet.rect_of(name).y for name in names]
        assert min(tops) == tops[0]


def test_a_tree_hangs_its_branches_under_their_roots():
    scene = tree(box("r"), tree(box("a"), box("c"), box("d")), box("b"))
    for narrow in (False, True):
        sheet, _ = lines(scene, narrow)
        joins = {(a, b) for a, b, _ in sheet.arrows}
        assert joins == {("r", "a"), ("r", "b"), ("a", "c"), ("a", "d")}
        assert all(sheet.rect_of(a).foot < sheet.rect_of(b).y for a, b in joins)


@given(st.integers(2, 4), st.integers(3, 6), st.integers(0, 5))
@settings(max_examples=8, deadline=None)
def test_a_mesh_draws_every_link_once_and_its_wraps_in_pairs(down, across, twist):
    def cell(row, column):
        return row % down * across + (column + twist * (row // down)) % across

    links = {
        frozenset((cell(r, c), cell(*to)))
        for r in range(down)
        for c in range(across)
        for to in ((r, c + 1), (r + 1, c))
    }
    cells = Cells("chips", down * across, across, side=12, gap=12)
    sheet, _ = lines(mesh(cells, map(tuple, links), role="layer-5"))
    stubs = [a for a, b, _ in sheet.arrows if not b]
    letters = [text.line.text for text in sheet.texts]
    assert len(sheet.arrows) == len(links) + len(stubs) / 2
    assert sorted(letters) == sorted(sorted(set(letters)) * 2)
    turned = down > 2 and twist % across > 0
    assert len(letters) == 2 * across * turned or down == 2


WIDE = "words that are wider than a phone, by far, and go on"
THROUGH = right_of(box("a"), Words("astray"), box("b"))
TWICE = below(Box("x", inside=box("a")), Box("y", inside=box("a")))
test_a_planted_fault_is_refused = refusals(
    (square(Edge("a", "d", "far")), "runs through the part 'm'"),
    (square(Edge("a", "d", bow=0.07), Edge("b", "c", bow=0.07)), "1 crossings"),
    (square(Edge("a", "b"), Edge("b", "a")), "lie on one another: a, b, b, a"),
    (square(Edge("a", "b", rate=RATE * 2, full=RATE)), "the widest carries"),
    (square(Edge("a", "b", WIDE)), "no free place"),
    (square(Edge("a", "z")), "no part 'z'"),
    (joined(THROUGH, Edge("a", "b")), "runs through 'astray'"),
    (joined(right_of(box("a"), box("b"), gap=0.0), Edge("a", "b")), "no room"),
    (joined(TWICE, Edge("a", "x")), "2 parts are called 'a': x/a or y/a"),
    (joined(Cells("many", 3, gap=20), Edge("many[0]", "many[2]")), "the part '1'"),
    (square(Edge("a", ports=("left", ""), lane=900.0)), "cut by the frame"),
    by=show,
    error=SpecError,
)


def test_a_net_says_how_many_of_its_lines_cross():
    two = Edge("a", "d", bow=0.07), Edge("b", "c", bow=0.07)
    assert show(square(*two, crossings=1))


@given(PLACE, PLACE, st.floats(-0.4, 0.4))
@settings(max_examples=25, deadline=None)
def test_lines_are_cut_and_widened_as_they_are_long(a, b, bow):
    if math.dist(a, b) < 20:
        return
    line = bowed(a, b, bow)
    assert line[0] == a and line[-1] == pytest.approx(b)
    assert long(line) >= math.dist(a, b) - 1e-6
    assert long(shortened(line, 5)) == pytest.approx(long(line) - 5)
    left = out_of(line, Rect(a[0] - 4, a[1] - 4, 8, 8))[0]
    assert max(abs(left[0] - a[0]), abs(left[1] - a[1])) == pytest.approx(4)
    around = band(line, 3.0, "both")
    area = sum(
        p[0] * q[1] - p[1] * q[0]
        for p, q in zip(around, (*around[1:], around[0]), strict=True)
    )
    assert abs(area) / 2 > 3 * (long(line) - 2 * 6.5) * 0.99


def test_what_crosses_and_what_runs_along():
    a, b, c, d = (0.0, 0.0), (10.0, 0.0), (5.0, -5.0), (5.0, 5.0)
    assert crosses(a, b, c, d) and not crosses(a, b, c, (5.0, 0.0))
    assert runs_along(a, b, (4.0, 1.0), (20.0, 1.0), 2)
    assert not runs_along(a, b, (4.0, 1.0), (20.0, 1.0), 0.5)
    assert not runs_along(a, b, (10.0, 0.0), (20.0, 0.0), 2)
    assert not runs_along(a, b, c, d, 2)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"arrow": "start"}, "a to b: arrow = 'start'"),
        ({"ports": ("up", "")}, "ports = "),
        ({"end": ""}, "a to : ports"),
        ({"strands": 0}, "strands = 0"),
        ({"place": float("nan")}, "place = nan"),
        ({"role": "nosuch"}, "role = 'nosuch'"),
        ({"rate": RATE}, "full = None"),
    ],
)
def test_an_edge_that_is_none_says_what_is_wrong(wrong, said):
    with pytest.raises(SpecError, match=said):
        Edge(**{"start": "a", "end": "b"} | wrong)


def test_a_ring_and_a_tree_have_parts():
    for made in (ring, lambda: tree(Box("root"))):
        with pytest.raises(SpecError, match=r"no parts|without branches"):
            made()


def test_an_edge_is_as_wide_as_a_share_of_one_unit():
    with pytest.raises(UnitError):
        show(square(Edge("a", "b", rate=RATE * chosen(1, "s", label="s"), full=RATE)))

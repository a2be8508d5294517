"""Layout by relation, and the faults that a drawing refuses."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib import hardware
from stacklib.plots import SpecError
from stacklib.plots.drawing import (
    Box,
    Cells,
    Clip,
    Edge,
    Measured,
    Name,
    Note,
    Nothing,
    Opened,
    Pipe,
    Shown,
    Words,
    below,
    chain,
    draw,
    flow,
    grid,
    joined,
    line,
    right_of,
    with_,
)
from stacklib.plots.drawing.nodes import Node
from stacklib.plots.drawing.picture import WIDTH, lay_out
from stacklib.plots.drawing.sheet import Rect
from stacklib.quantity import Quantity, chosen

from ...rows import refusals

RATE = chosen(2, "TB/s", "a rate")


def show(scene, name="planted"):
    return draw(scene, name=name, title="What is seen.")


class Moved(Node):
    """A planted fault: what it holds stands beside its place."""

    def __init__(self, node, by):
        self.node, self.by = node, by
        self.grow, self.stretch = node.grow, node.stretch

    def size(self, narrow):
        return self.node.size(narrow)

    def put(self, sheet, rect, way):
        x, y, w, h = rect
        self.node.put(sheet, Rect(x + self.by[0], y + self.by[1], w, h), way)


@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=4), st.booleans())
@settings(max_examples=30, deadline=None)
def test_parts_beside_and_below_are_apart(words, deep):
    boxes = [Box(f"{w}{i}") for i, w in enumerate(words)]
    scene = below(
        flow(*boxes),
        Box(
            "foot",
            inside=grid([Box(f"in{i}") for i, _ in enumerate(words)], (2, 1))
            if deep
            else None,
        ),
    )
    for narrow in (False, True):
        sheet = lay_out(scene, narrow)
        assert sheet.faults(Rect(0, 0, WIDTH[narrow], 9999)) == []
        first, foot = sheet.rect_of(f"{words[0]}0"), sheet.rect_of("foot")
        assert first.foot <= foot.y and first.x == pytest.approx(foot.x)


def test_right_of_is_right_and_flow_is_below_on_a_phone():
    a, b = Box("a"), Box("b")
    for scene, narrow in ((right_of(a, b), True), (flow(a, b), False)):
        sheet = lay_out(scene, narrow)
        assert sheet.rect_of("a").right < sheet.rect_of("b").x
    sheet = lay_out(flow(a, b), True)
    assert sheet.rect_of("a").foot < sheet.rect_of("b").y


def test_an_arrow_is_as_wide_as_its_bandwidth():
    thick = [Pipe("a", "b", RATE * share, RATE).thick for share in (1, 0.5, 1e-9)]
    assert thick[0] == 2 * thick[1] and thick[2] > 1
    with pytest.raises(SpecError, match="widest"):
        show(
            right_of(Box("a"), Pipe("a", "b", (RATE * 2).named("more"), RATE), Box("b"))
        )


def test_a_chain_has_an_arrow_from_each_part_to_the_next():
    drawing = show(chain(Box("a"), Box("b"), Box("c")))
    assert "Arrows: a to b; b to c." in drawing.alt
    wide, phone = drawing.frames[0][1]
    assert wide.rect_of("a").right < wide.rect_of("b").x
    assert phone.rect_of("a").foot < phone.rect_of("b").y


test_a_planted_fault_is_refused = refusals(
    (
        below(Words("over"), Moved(Words("under"), (0, -20))),
        "'over' lies on 'under'",
    ),
    (below(Box("over"), Moved(Box("under"), (0, -20))), "lies on"),
    (below(Box("a"), Moved(Words("astray"), (0, -15))), "'astray' lies on 'a'"),
    (Box("a", inside=Moved(Words("astray"), (0, 14))), "cut by 'a'"),
    (Box("a", inside=Moved(Box("b"), (0, 9))), "'b' leaves 'a'"),
    (Moved(Words("astray"), (-400, 0)), "cut by the frame"),
    (
        Words("words of a line that is longer than a phone is wide, and by far"),
        "cut by the frame",
    ),
    (Cells("many", 200), "cut by the frame"),
    (
        right_of(
            Words("from here"),
            Words("through this"),
            Note("a", "to"),
            Words("end"),
            Box("a", grow=0),
        ),
        "runs through",
    ),
    by=show,
    error=SpecError,
)


@pytest.mark.rows("typed", ["132 SMs", "by 3.35 TB/s", ("at ", "4 KiB"), "5-high"])
def test_a_typed_number_is_refused(typed):
    with pytest.raises(SpecError, match="typed"):
        show(Box("a", typed))


def test_a_bare_quantity_is_refused():
    with pytest.raises(ValueError, match="typed"):
        show(Box("a", Quantity(3, "ns", label="wait")))


def test_a_quantity_without_a_label_is_refused():
    with pytest.raises(SpecError, match="named"):
        show(Box("a", RATE * 2))


def test_names_keep_their_digits_and_counts_are_whole():
    told = line("L2 of HBM3e, ", Name("RTX 4090"), ", ", hardware.get("h100"))
    assert told.text == "L2 of HBM3e, RTX 4090, H100"
    assert line(chosen(28672, label="n"), " × ").text == "28,672 × "
    assert Shown(chosen(0.5, label="share"), "%").text == "50 %"


def test_clips_notes_brackets_and_openings_draw():
    part = Cells("cells", 8, lit=frozenset({7}))
    time = chosen(4, "ns", "a time")
    scene = below(
        right_of(
            Measured(part, "eight", side="left", bracket=True),
            Opened("cells[7]", "b"),
            Box("b"),
        ),
        right_of(Note("b", "callout"), Nothing()),
        Clip("load", chosen(1, "ns", "begin"), time, time, ("load ", time)),
    )
    drawing = show(scene)
    assert "note on b: callout" in drawing.alt and "load 4 ns" in drawing.alt
    with pytest.raises(SpecError, match="outside"):
        show(Clip("late", time, time * 2, time, "late"))
    with pytest.raises(SpecError, match="no part 'c'"):
        show(below(Box("b"), Note("c", "callout")))


@pytest.mark.parametrize("narrow", [False, True])
def test_several_cells_are_opened_from_the_first_to_the_last(narrow):
    part, ends = Cells("cells", 8), ("cells[2]", "cells[3]")
    sheet = lay_out(below(part, Opened(ends, "b"), Box("b")), narrow)
    first, last = map(sheet.rect_of, ends)
    starts = [stroke.line[0] for stroke in sheet.strokes]
    assert starts == [(first.x, first.foot), (last.right, last.foot)]


def test_a_part_is_drawn_otherwise_without_being_defined_again():
    box = Box("a")
    assert with_(box, lit=True).lit and not box.lit


@pytest.mark.rows("name", ["Big", "", "a_b"])
def test_a_drawing_needs_an_anchor_and_a_title(name):
    with pytest.raises(SpecError, match="name"):
        show(Box("a"), name=name)
    with pytest.raises(SpecError, match="title"):
        draw(Box("a"), name="a", title=" ")
    with pytest.raises(SpecError, match="steps"):
        draw([("x", Box("a"))] * 7, name="a", title="Too many.")


def test_the_digest_follows_words_and_values():
    drawn = [show(Box("a", ("of ", chosen(v, "B", "v")))).digest for v in (1, 2, 1)]
    assert drawn[0] == drawn[2] != drawn[1]
    assert show(Box("a", "of")).digest not in drawn


def test_the_digest_follows_what_is_lit_the_lines_and_their_widths():
    """All say the same words: only colours, lines, or places differ."""

    def row(at=0, share=1.0, gap=30.0, **look):
        cells = Cells("cells", 8, lit=frozenset({at}), role=look.pop("role", "layer-2"))
        pipe = Pipe("cells", "b", RATE * share, RATE, ["a way"])
        return right_of(cells, pipe, Box("b", **look), gap=gap)

    dashed = joined(right_of(Box("a"), Box("b"), gap=60), Edge("a", "b", lit=True))
    plain = joined(right_of(Box("a"), Box("b"), gap=60), Edge("a", "b"))
    scenes = [row(), row(at=1), row(share=0.5), row(gap=40.0), row(lit=True)]
    scenes += [row(role="layer-3"), dashed, plain]
    assert len({show(scene).digest for scene in scenes}) == len(scenes)
    assert show(row(share=0.5 + 1e-6)).digest == show(row(share=0.5)).digest

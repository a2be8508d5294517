"""Drawings of single pages hold what the finished ones do, each by name."""

import html
import re
from functools import cache, partial

import pytest
from _tools import drawn, leaves, said

from stacklib.evidence import guard
from stacklib.plots import drawing as d
from stacklib.plots.drawing import picture

MADE = dict(drawn.drawings())
MINE = [name for name in MADE if not name.startswith("scenes.")]


@cache
def made(name):
    return MADE[name]()


@pytest.mark.rows("name", MINE, drawn=50)
def test_a_drawing_is_clean_and_what_its_captions_name_has_a_line(name):
    """Its notebook refuses one that is not clean, wherever it is shown."""
    drawing = made(name)
    assert list(unlinked(drawing)) == []
    for _, sheets in drawing.frames:
        for sheet in sheets:
            wide = picture.WIDTH[sheet.narrow]
            assert sheet.faults(picture.Rect(0, 0, wide, picture.height(sheet))) == []
            assert sheet.size * (358 if sheet.narrow else 640) / wide >= 11
        wide, phone = sheets
        assert sorted(wide.told) == sorted(phone.told)
        assert sorted(wide.arrows) == sorted(phone.arrows)
    parts = {told for _, (sheet, _) in drawing.frames for told, _ in sheet.told}
    assert len(parts) >= 4, "a drawing has four or more parts"
    assert guard.faults([drawing.entry]) == []
    cell = said.Cell(name, drawing.said.stored())
    assert said.faults(said.index([cell])) == list(leaves.stale([cell])) == []


NAMED = re.compile(r"\b(?:nv)?(link|cable|ring|tree|switch|arrow)(e?s)?\b")


def unlinked(drawing):
    """Frames whose words name a link that is not there, a ring that never closes."""
    for words, (sheet, _) in drawing.frames:
        named = {found[1] for found in NAMED.finditer(words)}
        if len(drawing.frames) == 1 or not named:
            named |= {found[1] for found in NAMED.finditer(drawing.title.lower())}
        if named and not sheet.arrows:
            yield f"{words or drawing.title!r}: no line for {', '.join(sorted(named))}"
        elif "ring" in named and not closes(sheet.arrows):
            yield f"{words or drawing.title!r}: the ring is open"


def closes(arrows):
    """Whether some of the lines lead from a part back to it."""
    groups = {}
    for start, end in {frozenset(arrow[:2]) for arrow in arrows if arrow[1]}:
        one, two = (groups.get(part, {part}) for part in (start, end))
        if one is two:
            return True
        both = one | two
        groups.update(dict.fromkeys(both, both))
    return False


def test_a_link_that_is_not_drawn_is_found():
    boxes = [d.Box(name, grow=0) for name in "abcd"]
    row = d.right_of(*boxes, gap=30)
    two = d.Edge("a", "b"), d.Edge("b", "c")
    planted = {
        "A cable joins them.": row,
        "Around the ring.": d.joined(row, *two),
    }
    for title, scene in planted.items():
        assert len(list(unlinked(d.draw(scene, name="planted", title=title)))) == 1
    ring = d.joined(d.ring(*boxes), *d.around_ring("abcd"))
    assert not list(unlinked(d.draw(ring, name="planted", title="Around the ring.")))


@pytest.mark.rows("name", MINE, drawn=10)
def test_a_drawing_is_the_same_whenever_it_is_drawn(name):
    assert MADE[name]().digest == made(name).digest


@pytest.mark.slow
def test_no_two_have_one_name():
    """All are made for it. Of two with numbers, the book refuses the second's."""
    names = [made(name).name for name in MADE]
    assert len(names) == len(set(names))


@pytest.mark.rows("name", list(MADE), drawn=20)
def test_a_drawings_card_holds_it_and_is_not_large(name):
    """Its notebook draws it as well: here it is written as the contact sheet has it."""
    card = drawn.card(name, made(name))
    assert made(name).title in html.unescape(card)
    assert len(card) < 90_000 or name not in MINE


def test_the_contact_sheet_has_them_all(tmp_path, monkeypatch):
    few = [(name, partial(made, name)) for name in list(MADE)[::40]]
    monkeypatch.setattr(drawn, "drawings", lambda: few)
    assert drawn.main(tmp_path / "drawings.html") == 0
    sections = (tmp_path / "drawings.html").read_text("utf-8").split("<section>")[1:]
    assert [s.split("</h2>")[0] for s in sections] == [f"<h2>{n}" for n, _ in few]

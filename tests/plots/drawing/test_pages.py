"""Drawings of single pages hold what the finished ones do, each by name."""

from functools import cache, partial

import pytest
from _tools import drawn, leaves, said

from stacklib.evidence import guard
from stacklib.plots.drawing import picture

MADE = dict(drawn.drawings())
MINE = [name for name in MADE if not name.startswith("scenes.")]


@cache
def made(name):
    return MADE[name]()


@pytest.mark.rows("name", MINE)
def test_a_drawing_is_clean_on_both_canvases(name):
    drawing = made(name)
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


@pytest.mark.rows("name", MINE, drawn=20)
def test_a_drawing_is_the_same_whenever_it_is_drawn(name):
    assert MADE[name]().digest == made(name).digest


def test_no_two_have_one_name():
    names = [made(name).name for name in MADE]
    assert len(names) == len(set(names))


def test_the_contact_sheet_has_them_all_and_none_is_large(tmp_path, monkeypatch):
    again = [(name, partial(made, name)) for name in MADE]
    monkeypatch.setattr(drawn, "drawings", lambda: again)
    assert drawn.main(tmp_path / "drawings.html") == 0
    text = (tmp_path / "drawings.html").read_text("utf-8")
    sections = text.split("<section>")[1:]
    for name, section in zip(MADE, sections, strict=True):
        assert len(section) < 90_000 or name not in MINE, name

"""Every finished drawing: clean on both canvases, the same each time, told in words."""

import itertools
import re
from functools import cache

import pytest
from _tools import leaves, said

from stacklib.evidence import guard
from stacklib.plots.drawing import picture, scenes

DEVICES = ("h100_sxm", "a100_sxm_80gb", "b200_sxm")
EVERY = list(itertools.product(scenes.__all__, DEVICES))


@cache
def made(name, device):
    return getattr(scenes, name)(device)


@pytest.mark.rows(("name", "device"), EVERY)
def test_nothing_is_cut_nor_lies_on_another(name, device):
    for _, sheets in made(name, device).frames:  # wide, then a phone's
        for sheet in sheets:
            wide = picture.WIDTH[sheet.narrow]
            frame = picture.Rect(0, 0, wide, picture.height(sheet))
            assert sheet.faults(frame) == []
            assert sheet.size * (358 if sheet.narrow else 640) / wide >= 11


@pytest.mark.rows(("name", "device"), EVERY)
def test_four_parts_and_only_quantities(name, device):
    drawing = made(name, device)
    sheet = drawing.frames[0][1][0]
    assert len({told for told, _ in sheet.told}) >= 4 or name == "package_above"
    assert len(drawing.numbers) >= 4
    assert guard.faults([drawing.entry]) == []
    stored = drawing.said.stored()
    assert stored["numbers"].keys() == drawing.numbers.keys()
    cell = said.Cell(name, stored)  # the checks that the numbers of the text stand
    assert said.faults(said.index([cell])) == list(leaves.stale([cell])) == []


@pytest.mark.rows(("name", "device"), EVERY)
def test_both_canvases_show_the_same_parts_and_numbers(name, device):
    for _, (wide, phone) in made(name, device).frames:
        assert sorted(wide.told) == sorted(phone.told)
        assert sorted(wide.arrows) == sorted(phone.arrows)
        numbers = [
            sorted(s.text for t in sheet.texts for s in t.line.quantities())
            for sheet in (wide, phone)
        ]
        assert numbers[0] == numbers[1]


@pytest.mark.rows("name", scenes.__all__)
def test_the_alternative_text_names_every_part_and_arrow(name):
    drawing = made(name, DEVICES[0])
    sheet = drawing.frames[0][1][0]
    for part, words in sheet.told:
        assert part in drawing.alt and words in drawing.alt
    for start, end, words in sheet.arrows:
        assert f"{start} to {end}, {words}" in drawing.alt
    for step, _ in drawing.frames:
        assert step in drawing.alt


@pytest.mark.parametrize("name", ["whole_machine", "dram_bank"])
def test_two_drawings_are_the_same_bytes(name):
    again = getattr(scenes, name)(DEVICES[0])
    assert again.html == made(name, DEVICES[0]).html
    assert again.digest == made(name, DEVICES[0]).digest
    assert made(name, DEVICES[2]).digest != again.digest


def test_an_svg_is_themed_and_its_numbers_open():
    drawing = made("whole_machine", DEVICES[0])
    for narrow in (False, True):
        svg = drawing.svg(narrow)
        bare = re.sub(r"var\(--st-[\w-]+, [^)]*\)", "", svg)
        assert not re.search(r"#[0-9a-f]{6}\b|rgb", bare)
        opened = set(re.findall(r'class="st-q" data-q="([\w.]+)">', svg))
        assert opened == set(drawing.numbers)
    assert "3.35 TB/s</tspan>" in svg and len(drawing.html) < 60_000


def test_a_part_can_be_lit():
    lit = scenes.whole_machine(DEVICES[0], lit="L2").svg()
    assert "stroke-width: 1.6" in lit
    assert "stroke-width: 1.6" not in made("whole_machine", DEVICES[0]).svg()


def test_steps_are_buttons_without_a_script():
    html = made("dram_bank", DEVICES[0]).html
    assert html.count('<input type="radio"') == html.count('class="st-step"') == 3
    assert html.count(" checked") == 1 and "<script" not in html

"""What a reader who moves by keys meets before the text of a page."""

import pytest

from . import browser as b

pytestmark = pytest.mark.browser

MOST = 15
KINDS = (
    "chapters/02-gpu/index.html",
    "chapters/03-memory/tiers.html",
    "book/hardware/index.html",
    "book/glossary.html",
)


def stops(page) -> list[tuple[str, bool]]:
    """What Tab reaches before the text: its words, and whether a ring shows it."""
    found = []
    while len(found) < 99:
        page.keyboard.press("Tab")
        words, inside, ring = b.ask(page, "focused")
        if inside:
            break
        found.append((words, ring))
    return found


@pytest.mark.parametrize("path", KINDS)
def test_few_stops_before_the_text_and_a_ring_at_each(visit, path):
    page, faults = visit(path)
    before = stops(page)
    assert 1 <= len(before) <= MOST, before
    assert [words for words, ring in before if not ring] == []
    assert not faults


def test_stops_and_missing_rings_are_counted(tmp_path, fresh):
    links = '<a href="#">plain</a><a href="#" style="outline: none">bare</a>'
    text = '<article class="bd-article"><a href="#">text</a></article>'
    (tmp_path / "page.html").write_text(f"<!doctype html><body>{links}{text}")
    with b.serve(tmp_path) as base:
        page, _ = fresh(base)
        page.goto(base + "page.html")
        assert stops(page) == [("plain", True), ("bare", False)]

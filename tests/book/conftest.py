"""Small notebooks and repositories to plant faults in."""

from collections.abc import Callable, Iterator
from pathlib import Path

import nbformat
import pytest
from _tools import prose, said
from _tools.prose import Block
from _tools.said import Number
from nbformat import v4

from . import browser as b
from . import needs


@pytest.fixture
def notebook() -> Callable[..., nbformat.NotebookNode]:
    """Make a notebook of code cells, each a source or (source, tags)."""

    def make(*sources: str | tuple[str, list[str]]) -> nbformat.NotebookNode:
        made = v4.new_notebook()
        made.metadata = nbformat.from_dict(
            {
                "language_info": {"name": "python"},
                "kernelspec": {"name": "python3", "display_name": "Python 3"},
            }
        )
        for number, source in enumerate(sources, 1):
            text, tags = source if isinstance(source, tuple) else (source, [])
            cell = v4.new_code_cell(text, metadata={"tags": tags} if tags else {})
            cell.id = f"cell-{number}"
            made.cells.append(cell)
        return made

    return make


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """An empty checkout with a chapter folder."""
    (tmp_path / "chapters" / "01-roofline").mkdir(parents=True)
    (tmp_path / "book").mkdir()
    return tmp_path


@pytest.fixture(scope="session")
def numbers() -> dict[str, Number]:
    """Every number of the book by its name."""
    return said.numbers()


@pytest.fixture(scope="session")
def blocks() -> list[Block]:
    """All prose of the book."""
    return list(prose.blocks())


@pytest.fixture(scope="session")
def chromium() -> str:
    """A Chromium, or a skip."""
    lacks = "browser tests: not run (no playwright)"
    pytest.importorskip("playwright.sync_api", reason=lacks)
    from _tools import release_pdf

    return release_pdf.chromium() or needs.unavailable("no Chromium")


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator:
    """Chromium, cut off from every network."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        opened = b.launch(playwright, chromium)
        yield opened
        opened.close()


@pytest.fixture(scope="session")
def built() -> Path:
    """The built book."""
    return needs.built_book()


@pytest.fixture(scope="module")
def served(built: Path) -> Iterator[str]:
    """Address of the built book."""
    with b.serve(built) as base:
        yield base


@pytest.fixture
def fresh(browser) -> Iterator[Callable]:
    """``fresh(base, look, **options)``: a page in a profile of its own, its faults."""
    made = []

    def open_page(base: str, look: str = "light-desktop", **options):
        made.append(b.context(browser, look, **options))
        return b.watched(made[-1], base)

    yield open_page
    for inside in made:
        inside.close()


@pytest.fixture(scope="module")
def visit(browser, served) -> Callable:
    """``visit(path, look, **options)``: a page of the book, opened, and its faults.

    A profile costs as much as a page, so those of a look are one for a whole file: what
    is to be stored of one visit, and not of the next, wants one that is ``fresh``.
    """
    made = {}

    def open_page(path: str, look: str = "light-desktop", **options):
        kind = (look, *options.items())
        if kind not in made:
            made[kind] = b.watched(b.context(browser, look, **options), served)
        page, faults = made[kind]
        page.emulate_media(media="null")  # of the test before
        page.goto("about:blank")
        faults.clear()
        page.goto(served + path)
        return page, faults

    return open_page

"""Small notebooks and repositories to plant faults in."""

from collections.abc import Callable, Iterator
from pathlib import Path

import nbformat
import pytest
from nbformat import v4

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


@pytest.fixture(scope="module")
def browser() -> Iterator:
    """Chromium, cut off from every network."""
    from playwright.sync_api import sync_playwright

    from . import browser as b

    path = b.chromium()
    if path is None:
        needs.unavailable("no Chromium")
    with sync_playwright() as playwright:
        opened = b.launch(playwright, path)
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def served() -> Iterator[str]:
    """Address of the built book."""
    from . import browser as b

    with b.serve(needs.built_book()) as base:
        yield base


@pytest.fixture
def fresh(browser) -> Iterator[Callable]:
    """``fresh(base, theme, **options)``: a page in a profile of its own, its faults."""
    from . import browser as b

    made = []

    def open_page(base: str, theme: str = "light", **options):
        made.append(b.context(browser, theme, **options))
        return b.watched(made[-1], base)

    yield open_page
    for inside in made:
        inside.close()

"""Pages read and written by several processes are those that one process makes."""

import importlib
import re
from pathlib import Path

import pytest
from sphinx.util.parallel import parallel_available

from .test_extension import Book, notebook

pytestmark = pytest.mark.skipif(
    not parallel_available, reason="processes: not run (no fork here)"
)
FORMULA = "$a^2$ and [21.1 ms](#q:decode.t_mem)"
THEME = {"html_theme": "sphinx_book_theme"}


def filled(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Book:
    """A book of two folders, numbers on every page, facts, claims and terms."""
    book = Book(folder, monkeypatch)
    names = [f"{folder}/page-{n}" for folder in ("one", "two") for n in range(5)]
    listed = "".join(f"one/page-{n}\n" for n in range(5))
    book.write("index.md", f"# Tiny\n\n```{{toctree}}\n{listed}two/index\n```\n")
    below = "".join(f"page-{n}\n" for n in range(5))
    book.write("two/index.md", f"# Two\n\n```{{toctree}}\n{below}```\n")
    for name in names:
        book.write(f"{name}.ipynb", notebook(f"# {name}", FORMULA))
    book.write("two/page-4.ipynb", notebook("# Claims", ":::{claims-count} 1\n:::"))
    book.write("book/evidence/chapter-1.md", "---\norphan: true\n---\n# Evidence\n")
    return book


def pages(book: Book) -> dict[str, str]:
    """The text of every page built."""
    html = book.folder / "_build" / "html"
    found = [*html.rglob("*.html"), html / "searchindex.js"]
    return {str(p.relative_to(html)): p.read_text("utf-8") for p in found}


@pytest.mark.parametrize("theme", [{}, THEME], ids=["plain", "theme"])
def test_two_processes_make_the_pages_of_one(tmp_path, monkeypatch, theme):
    books = [filled(tmp_path / name, monkeypatch) for name in ("alone", "beside")]
    for processes, book in enumerate(books, 1):
        assert book.build(processes, **theme) == []
    alone, beside = map(pages, books)
    assert alone.keys() == beside.keys()
    assert [name for name in alone if alone[name] != beside[name]] == []


def test_what_processes_read_is_remembered(tmp_path, monkeypatch):
    book = filled(tmp_path, monkeypatch)
    assert book.build(2) == []
    book.weights(80)
    stale = [line for line in book.build(2) if "its cell says '23.9 ms'" in line]
    named = {page for line in stale for page in re.findall(r"\w+/page-\d", line)}
    assert len(named) == 9


def test_a_sidebar_is_that_of_the_theme(tmp_path, monkeypatch):
    kept = filled(tmp_path / "kept", monkeypatch)
    assert kept.build(**THEME) == []
    sidebars = importlib.import_module("sidebars")
    monkeypatch.setattr(sidebars, "on_page", lambda *_: None)
    plain = filled(tmp_path / "plain", monkeypatch)
    assert plain.build(**THEME) == []
    assert pages(kept) == pages(plain)
    assert kept.html("two/page-1").count("current active") == 2

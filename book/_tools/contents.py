"""What is written: chapters and sections, off the table of contents and the pages.

A chapter is written when ``book/_toc.yml`` lists its first page, and finished when
each of its ids has a section in ``book/coverage.toml``. Its sections are numbered in
that order; annexes have no number. Nothing here is typed twice.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import yaml

from _tools import coverage_map, tree
from stacklib.pages.chapters import CHAPTERS

HEAD = re.compile(r"^# (?:(?P<number>\d+(?:\.\d+)?) )?(?P<title>.+)$", re.M)


@dataclass(frozen=True)
class Page:
    """A page of a chapter: ``4.1`` or, for an annex, no number."""

    number: str
    document: str  # such as chapters/04-kernels/launches
    title: str


@cache
def written(root: Path = tree.ROOT) -> dict[int, tuple[Page, ...]]:
    """Pages of each written chapter, its first one first, as the contents list them."""
    toc = root / "book" / "_toc.yml"
    if not toc.is_file():
        return {}
    parts = yaml.safe_load(toc.read_text("utf-8"))["parts"]
    every = [entry for part in parts for entry in part["chapters"]]
    return {
        number: tuple(pages(entry, number, root))
        for entry in every
        if (number := tree.chapter_of(Path(entry["file"]))) is not None
    }


def pages(entry: dict, chapter: int, root: Path) -> Iterator[Page]:
    """A chapter's pages with their numbers and titles."""
    files = [entry["file"], *(below["file"] for below in entry.get("sections", ()))]
    numbers = iter(range(1, len(files)))
    for at, file in enumerate(files):
        title = heading(root / f"{file}.ipynb")["title"]
        if at == 0:
            yield Page(str(chapter), file, title)
        elif Path(file).name.startswith("annex-"):
            yield Page("", file, title)
        else:
            yield Page(f"{chapter}.{next(numbers)}", file, title)


def heading(notebook: Path) -> re.Match[str]:
    """The first heading of a notebook, its number and its title apart."""
    cells = json.loads(notebook.read_text("utf-8"))["cells"]
    found = HEAD.search("".join(cells[0]["source"]))
    if found is None:
        raise ValueError(f"{notebook}: the first cell has no heading")
    return found


def sections(root: Path = tree.ROOT) -> dict[str, Page]:
    """Every section by its number."""
    every = (page for pages in written(root).values() for page in pages[1:])
    return {page.number: page for page in every if page.number}


def documents(root: Path = tree.ROOT) -> set[str]:
    """Every page of every written chapter."""
    return {page.document for pages in written(root).values() for page in pages}


def naming(words: list[str], root: Path = tree.ROOT) -> list[int]:
    """Numbers of the written chapters whose prose has one of these words."""
    any_of = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, words))})(?!\w)")
    return [number for number in written(root) if any_of.search(told(number, root))]


@cache
def told(number: int, root: Path = tree.ROOT) -> str:
    """The prose of a chapter: the Markdown of its pages."""
    files = (root / f"{page.document}.ipynb" for page in written(root)[number])
    cells = (cell for file in files for cell in tree.read_notebook(file).cells)
    return "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")


def planned(root: Path = tree.ROOT) -> list[int]:
    """Numbers of the chapters that are not written."""
    return [number for number in CHAPTERS if number not in written(root)]


@cache
def finished(root: Path = tree.ROOT) -> list[int]:
    """Numbers of the written chapters that show each of their ids."""
    shown = coverage_map.coverage(root)
    owed = {
        row["chapter"]
        for id, row in coverage_map.systems(root).items()
        if id not in shown
    }
    return [number for number in written(root) if number not in owed]


def status(number: int, root: Path = tree.ROOT) -> str:
    """``written``, ``in part`` or ``planned``."""
    if number in finished(root):
        return "written"
    return "in part" if number in written(root) else "planned"


def listed(numbers: list[int]) -> str:
    """``1 to 4, 6 and 7``."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and runs[-1][-1] == number - 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    parts: list[str] = []
    for run in runs:
        parts += [f"{run[0]} to {run[-1]}"] if len(run) > 2 else map(str, run)
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if parts[1:] else parts)

"""The built book as one HTML document to print: title, contents, pages, endings."""

import html
import itertools
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml
from bs4 import BeautifulSoup

from _tools import release_page
from _tools.release_page import PrintError, Sheet, reference

STYLE = Path(__file__).with_name("release.css")


@dataclass
class Line:
    """A line of the contents: a part's caption (depth 0), or a page by its file."""

    depth: int
    text: str


@dataclass(frozen=True)
class Run:
    """Sheets that follow one another on the same pages, with `head` above them."""

    head: str
    sheets: list[Sheet]

    def html(self, number: int) -> str:
        """Its articles."""
        inside = "\n".join(str(one.article) for one in self.sheets)
        return f'<div class="pr-run" style="page: run{number}">\n{inside}\n</div>'


def outline(toc: Path, parts: Sequence[str] = ()) -> list[Line]:
    """The lines of the book's table of contents, in reading order.

    Of `parts` alone where some are named; the first page stands before the first part.
    """
    table = yaml.safe_load(toc.read_text(encoding="utf-8"))
    captions = [part["caption"] for part in table["parts"]]
    missing = {*parts} - {*captions}
    if missing:
        raise PrintError(f"{toc.name} has no part {', '.join(sorted(missing))}")
    lines = [Line(1, table["root"])] if not parts or captions[0] in parts else []
    for part in table["parts"]:
        if not parts or part["caption"] in parts:
            lines += [Line(0, part["caption"]), *below(part["chapters"], 1)]
    return lines


def below(entries: list[dict], depth: int) -> Iterator[Line]:
    """The pages of `entries` and of their sections, depth first."""
    for entry in entries:
        yield Line(depth, entry["file"])
        yield from below(entry.get("sections", []), depth + 1)


def printable(built: Path, lines: list[Line], title: str, version: str) -> str:
    """The pages of `lines` as one HTML page, for the root of the built book."""
    files = [line.text for line in lines if line.depth]
    pages = {file: release_page.read(built, file) for file in files}
    head = borrowed(pages)
    sheets = [
        release_page.sheet(page, file, number)
        for number, (file, page) in enumerate(pages.items())
    ]
    release_page.tie(sheets, built)
    ends = release_page.endings(sheets)
    parts = runs(lines, sheets) + ([Run("Hints and answers", ends)] if ends else [])
    body = [front(title, version), contents(lines, sheets, ends)]
    body += [run.html(number) for number, run in enumerate(parts)]
    return document(title, head + style(parts), "\n".join(body))


def runs(lines: list[Line], sheets: list[Sheet]) -> list[Run]:
    """The sheets of `lines` by what stands at the head of their pages.

    A page with its sections is a run, as are a part's pages that have none.
    """
    titled = {one.file: one for one in sheets}
    found: list[Run] = []
    part = next((line.text for line in lines if not line.depth), "")
    for line, after in itertools.pairwise([*lines, Line(0, "")]):
        if not line.depth:
            part = line.text
            continue
        one = titled[line.text]
        head = part if after.depth < 2 else one.title
        if line.depth == 1 and not (found and found[-1].head == head):
            found.append(Run(head, []))
        found[-1].sheets.append(one)
    return found


def borrowed(pages: dict[str, BeautifulSoup]) -> str:
    """What the pages load that paper needs too: style sheets."""
    found: dict[str, None] = {}
    for file, page in pages.items():
        here = Sheet(file, page, "")
        for link in page.select('link[rel="stylesheet"]'):
            link["href"], _ = release_page.place(here, link["href"])
            found[str(link)] = None
    return "\n".join(found)


def style(parts: list[Run]) -> str:
    """Our print style; the words of each run stand at the head of its own pages."""
    heads = "\n".join(
        f"@page run{number} {{ @top-left {{ content: {quoted(run.head)} }} }}"
        for number, run in enumerate(parts)
    )
    return f"<style>\n{STYLE.read_text(encoding='utf-8')}\n{heads}\n</style>"


def quoted(text: str) -> str:
    """A CSS string; it stands inside HTML, so that < is spelt out too."""
    return json.dumps(text, ensure_ascii=False).replace("<", "\\3c ")


def front(title: str, version: str) -> str:
    """The title page."""
    return f"""<section class="pr-front">
<p class="pr-title">{html.escape(title)}</p>
<p>An executable textbook of the AI hardware stack</p>
<p class="pr-small">Version {html.escape(version)}. Every number was computed by
<code>stacklib</code> {html.escape(version)}. On the pages of the book, numbers open to
their formula and sources, and figures move; here they stand still.</p>
<p class="pr-small">Code: MIT. Text, figures and exercises: CC BY 4.0.</p>
</section>"""


def contents(lines: list[Line], sheets: list[Sheet], ends: list[Sheet]) -> str:
    """The table of contents."""
    titled = {one.file: one for one in sheets}
    rows = [
        row(titled[line.text], line.depth)
        if line.depth
        else f'<p class="pr-part">{html.escape(line.text)}</p>'
        for line in lines
    ]
    rows += [row(one, 1) for one in ends]
    inside = "\n".join(rows)
    return f'<nav class="pr-contents"><p class="pr-head">Contents</p>\n{inside}\n</nav>'


def row(one: Sheet, depth: int) -> str:
    """A line of the contents that leads to a sheet."""
    return (
        f'<p class="pr-row" style="--depth: {depth}"><a href="#{one.anchor}">'
        f"{html.escape(one.title)}</a><span></span>{reference(one.anchor)}</p>"
    )


def document(title: str, head: str, body: str) -> str:
    """The page. The wrapper's classes are what the theme's style speaks to."""
    return f"""<!DOCTYPE html>
<html lang="en" data-content_root="./" data-theme="light" data-mode="light">
<head><meta charset="utf-8"><title>{html.escape(title)}</title>
{head}
</head>
<body><main class="bd-main"><div class="bd-content">
{body}
</div></main></body></html>
"""

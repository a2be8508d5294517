"""The built book as one HTML document to print: title, contents, pages, endings."""

from __future__ import annotations

import html
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import yaml
from bs4 import BeautifulSoup

from _tools import release_page
from _tools.release_page import Sheet, reference

STYLE = Path(__file__).with_name("release.css")


@dataclass
class Line:
    """A line of the contents: a part's caption (depth 0), or a page by its file."""

    depth: int
    text: str


def outline(toc: Path) -> list[Line]:
    """The lines of the book's table of contents, in reading order."""
    table = yaml.safe_load(toc.read_text(encoding="utf-8"))
    lines = [Line(1, table["root"])]
    for part in table["parts"]:
        lines += [Line(0, part["caption"]), *below(part["chapters"], 1)]
    return lines


def below(entries: list[dict], depth: int) -> Iterator[Line]:
    """The pages of `entries` and of their sections, depth first."""
    for entry in entries:
        yield Line(depth, entry["file"])
        yield from below(entry.get("sections", []), depth + 1)


def printable(built: Path, toc: Path, title: str, version: str) -> str:
    """The whole book as one HTML page, for the root of the built book."""
    lines = outline(toc)
    files = [line.text for line in lines if line.depth]
    pages = {file: release_page.read(built, file) for file in files}
    head = borrowed(pages)
    sheets = [
        release_page.sheet(page, file, number)
        for number, (file, page) in enumerate(pages.items())
    ]
    release_page.tie(sheets, built)
    ends = release_page.endings(sheets)
    body = [front(title, version), contents(lines, sheets, ends)]
    body += [str(one.article) for one in (*sheets, *ends)]
    return document(title, head + style([*sheets, *ends]), "\n".join(body))


def borrowed(pages: dict[str, BeautifulSoup]) -> str:
    """What the pages load that paper needs too: style sheets, and MathJax if any."""
    found: dict[str, None] = {}
    for file, page in pages.items():
        here = Sheet(file, page, "")
        for link in page.select('link[rel="stylesheet"]'):
            link["href"], _ = release_page.place(here, link["href"])
            found[str(link)] = None
        for script in page.find_all("script"):
            if "mathjax" in (script.get("src", "") + script.get_text()).lower():
                if script.get("src"):
                    script["src"], _ = release_page.place(here, script["src"])
                found[str(script)] = None
    return "\n".join(found)


def style(sheets: list[Sheet]) -> str:
    """Our print style; each sheet's title runs at the head of its own pages."""
    runs = "\n".join(
        f"@page {s.anchor} {{ @top-left {{ content: {quoted(s.title)} }} }}\n"
        f"#{s.anchor} {{ page: {s.anchor} }}"
        for s in sheets
    )
    return f"<style>\n{STYLE.read_text(encoding='utf-8')}\n{runs}\n</style>"


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

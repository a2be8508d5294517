"""What a built page says, taken apart, so that two builds of it can be compared.

A page is read below its ``<article>``: numbers with their derivations, figures, live
figures, claims, exercises and predictions by name; headings, prose, table rows,
outputs and code in order.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from _tools import links

VOID = {"br", "hr", "img", "input", "meta", "link", "col", "wbr", "source", "path"}
SILENT = {"script", "style", "button", "form"}
HEADINGS = {"h1", "h2", "h3", "h4", "h5"}
BLOCKS = {"p", "li", "dt", "dd", "figcaption", "summary", "caption", "div", "ul", "ol"}
ARTICLE = re.compile(r"<article.*?</article>", re.S)
DRAWING = re.compile(r"<svg\b.*?</svg>", re.S)
# What Sphinx and the theme write of their own: file names and links of sources.
FRAME = ("_modules/", "genindex", "py-modindex", "search")


@dataclass
class Node:
    """An element: its tag, its attributes, what stands in it."""

    tag: str
    attrs: dict[str, str] = field(default_factory=dict)
    inside: list[Node | str] = field(default_factory=list)

    def has(self, name: str) -> bool:
        return name in self.attrs.get("class", "").split()

    def walk(self) -> Iterator[Node]:
        """This element and all below it, in the order of the page."""
        yield self
        for part in self.inside:
            if isinstance(part, Node):
                yield from part.walk()

    def text(self) -> str:
        """What a reader sees of it, white space as one blank."""
        return " ".join("".join(self.pieces()).split())

    def pieces(self) -> Iterator[str]:
        for part in self.inside:
            if isinstance(part, str):
                yield part
            elif part.tag not in SILENT and not part.has("headerlink"):
                cell = part.tag in ("td", "th", "tr", "br") or part.tag in BLOCKS
                yield from [" ", *part.pieces(), " "] if cell else part.pieces()


class Reader(HTMLParser):
    """Builds the elements of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.open = [Node("page")]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        node = Node(tag, {name: value or "" for name, value in attrs})
        self.open[-1].inside.append(node)
        if tag not in VOID:
            self.open.append(node)

    def handle_endtag(self, tag: str) -> None:
        for depth in range(len(self.open) - 1, 0, -1):
            if self.open[depth].tag == tag:
                del self.open[depth:]
                return

    def handle_data(self, data: str) -> None:
        self.open[-1].inside.append(data)


@dataclass
class Page:
    """What a page says: by kind and name, and by kind in order."""

    named: dict[str, dict[str, str]] = field(default_factory=dict)
    listed: dict[str, list[str]] = field(default_factory=dict)
    trees: dict[str, dict[str, Any]] = field(default_factory=dict)

    def name(self, kind: str, name: str, text: str) -> None:
        """Texts of one name stand beside one another, in order."""
        known = self.named.setdefault(kind, {})
        known[name] = f"{known[name]} | {text}" if name in known else text

    def list(self, kind: str, text: str) -> None:
        if text:
            self.listed.setdefault(kind, []).append(text)


def pages(built: Path) -> dict[str, Page]:
    """Every page of a built book, by its address."""
    found = {p.relative_to(built).as_posix(): p for p in links.built_pages(built)}
    return {
        name: read(path.read_text("utf-8"))
        for name, path in found.items()
        if not name.startswith(FRAME)
    }


def read(html: str) -> Page:
    """A page's source, taken apart."""
    page, found = Page(), ARTICLE.search(html)
    reader = Reader()
    reader.feed(DRAWING.sub(summed, found[0] if found else html))
    for node in reader.open[0].walk():
        take(node, page)
    sort(reader.open[0], page)
    return page


def summed(drawing: re.Match[str]) -> str:
    """A digest in place of a drawing."""
    return f'<svg data-sum="{hashlib.sha256(drawing[0].encode()).hexdigest()[:12]}" />'


def take(node: Node, page: Page) -> None:
    """Note what has a name of its own."""
    attrs, id = node.attrs, node.attrs.get("id", "")
    if id == "st-quantities":
        page.trees = json.loads("".join(node.pieces()))
    elif "data-q" in attrs:
        page.name("number", attrs["data-q"], node.text())
    elif node.has("st-figure"):
        page.name("figure", id, f"{attrs.get('data-digest', '')} {node.text()}")
        page.name("drawing", id, sums(node))
    elif node.has("st-live"):
        page.name("live", id, f"{attrs.get('data-test', '')} {controls(node)}")
        page.name("live call", id, attrs.get("data-call", ""))
    elif node.has("st-claim"):
        page.name("claim", id, node.text())
    elif node.has("st-exercise"):
        parts = [x for x in node.inside if isinstance(x, Node)]
        said = [x.text() for x in parts if not x.has("st-check")]
        page.name("exercise", id, " ".join(said))
    elif "data-predict" in attrs:
        given = f"{attrs.get('data-value', '')} {attrs.get('data-unit', '')}"
        page.name("prediction", attrs["data-predict"], given)


def sums(node: Node) -> str:
    return " ".join(x.attrs["data-sum"] for x in node.walk() if "data-sum" in x.attrs)


def controls(node: Node) -> str:
    """Sliders and menus of a live figure, as its page stores them."""
    scripts = [x for x in node.walk() if x.has("st-live-controls")]
    return " ".join("".join(x.pieces()) for x in scripts)


def sort(node: Node, page: Page) -> None:
    """Note what stands in an order: headings, prose, rows, outputs, code."""
    if node.tag in SILENT or node.has("st-exercise") or node.has("st-claim"):
        return
    below = [part for part in node.inside if isinstance(part, Node)]
    if node.tag in HEADINGS:
        page.list("heading", node.text())
    elif node.has("cell_input"):
        page.list("code", node.text())
    elif node.tag == "tr":
        page.list("row", node.text())
    elif node.tag == "pre":
        page.list("output", node.text())
    elif node.tag in BLOCKS and not any(deep(part) for part in below):
        page.list("prose", node.text())
    else:
        for part in below:
            sort(part, page)


def deep(node: Node) -> bool:
    """Whether an element holds blocks, and is no run of words."""
    tags = BLOCKS | HEADINGS | {"table", "tr", "pre", "details", "figure", "section"}
    return any(part.tag in tags for part in node.walk())

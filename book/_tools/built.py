"""What a built page says, taken apart, so that two builds of it can be compared.

A page is read below its ``<article>``: numbers with their derivations, figures, live
figures, claims, exercises and predictions by name; headings, prose, table rows,
outputs and code in order.
"""

import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bs4 import BeautifulSoup, NavigableString, Tag

from _tools import links

SILENT = {"script", "style", "button", "form"}
HEADINGS = {"h1", "h2", "h3", "h4", "h5"}
BLOCKS = {"p", "li", "dt", "dd", "figcaption", "summary", "caption", "div", "ul", "ol"}
ARTICLE = re.compile(r"<article.*?</article>", re.S)
DRAWING = re.compile(r"<svg\b.*?</svg>", re.S)
# What Sphinx and the theme write of their own: file names and links of sources.
FRAME = ("_modules/", "genindex", "py-modindex", "search")


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
    whole = DRAWING.sub(summed, found[0] if found else html)
    soup = BeautifulSoup(whole, "html.parser")
    for node in soup.find_all(True):
        take(node, page)
    sort(soup, page)
    return page


def summed(drawing: re.Match[str]) -> str:
    """A digest in place of a drawing."""
    return f'<svg data-sum="{hashlib.sha256(drawing[0].encode()).hexdigest()[:12]}" />'


def has(node: Tag, name: str) -> bool:
    """Whether an element is of a class."""
    return name in node.get("class", ())


def text(node: Tag) -> str:
    """What a reader sees of it, white space as one blank."""
    return " ".join("".join(pieces(node)).split())


def pieces(node: Tag) -> Iterator[str]:
    for part in node.children:
        if type(part) is NavigableString:
            yield part
        elif isinstance(part, Tag):
            if part.name not in SILENT and not has(part, "headerlink"):
                cell = part.name in ("td", "th", "tr", "br") or part.name in BLOCKS
                yield from [" ", *pieces(part), " "] if cell else pieces(part)


def take(node: Tag, page: Page) -> None:
    """Note what has a name of its own."""
    attrs, id = node.attrs, node.get("id", "")
    if id == "st-quantities":
        page.trees = json.loads(node.get_text())
    elif "data-q" in attrs:
        page.name("number", attrs["data-q"], text(node))
    elif has(node, "st-figure"):
        page.name("figure", id, f"{attrs.get('data-digest', '')} {text(node)}")
        sums = [x["data-sum"] for x in node.select("[data-sum]")]
        page.name("drawing", id, " ".join(sums))
    elif has(node, "st-live"):
        # Sliders and menus, as its page stores them.
        controls = [x.get_text() for x in node.select(".st-live-controls")]
        page.name("live", id, f"{attrs.get('data-test', '')} {' '.join(controls)}")
        page.name("live call", id, attrs.get("data-call", ""))
    elif has(node, "st-claim"):
        page.name("claim", id, text(node))
    elif has(node, "st-exercise"):
        said = [text(x) for x in tags(node) if not has(x, "st-check")]
        page.name("exercise", id, " ".join(said))
    elif "data-predict" in attrs:
        given = f"{attrs.get('data-value', '')} {attrs.get('data-unit', '')}"
        page.name("prediction", attrs["data-predict"], given)


def tags(node: Tag) -> list[Tag]:
    """The elements that stand in an element."""
    return [part for part in node.children if isinstance(part, Tag)]


def sort(node: Tag, page: Page) -> None:
    """Note what stands in an order: headings, prose, rows, outputs, code."""
    if node.name in SILENT or has(node, "st-exercise") or has(node, "st-claim"):
        return
    if node.name in HEADINGS:
        page.list("heading", text(node))
    elif has(node, "cell_input"):
        page.list("code", text(node))
    elif node.name == "tr":
        page.list("row", text(node))
    elif node.name == "pre":
        page.list("output", text(node))
    elif node.name in BLOCKS and not any(map(deep, tags(node))):
        page.list("prose", text(node))
    else:
        for part in tags(node):
            sort(part, page)


def deep(node: Tag) -> bool:
    """Whether an element holds blocks, and is no run of words."""
    deeper = BLOCKS | HEADINGS | {"table", "tr", "pre", "details", "figure", "section"}
    return node.name in deeper or node.find([*deeper]) is not None

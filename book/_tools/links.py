"""Links of the built book: all resolve, and nothing is loaded from elsewhere.

Only a plain `<a href="https://...">` may leave the host. What a script requests at
run time is the browser test's to see.
"""

import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from _tools import tree

BUILT = tree.ROOT / "_build" / "html"
# Attributes whose address the browser fetches by itself.
LOADED = {
    "script": ("src",),
    "img": ("src", "srcset"),
    "source": ("src", "srcset"),
    "iframe": ("src",),
    "video": ("src", "poster"),
    "audio": ("src",),
    "embed": ("src",),
    "object": ("data",),
    "input": ("src",),
    "image": ("href", "xlink:href"),
    "use": ("href", "xlink:href"),
}
FETCHED_RELS = {
    "stylesheet",
    "preload",
    "modulepreload",
    "prefetch",
    "preconnect",
    "dns-prefetch",
    "icon",
    "apple-touch-icon",
    "manifest",
    "shortcut",
}
CSS_URL = re.compile(
    r"url\(\s*['\"]?([^'\")]+)['\"]?\s*\)|@import\s+['\"]([^'\"]+)['\"]", re.I
)
SCRIPT_IMPORT = re.compile(
    r"(?:\bimport\b|\bfrom\b)\s*\(?\s*['\"]((?:https?:)?//[^'\"]+)"
)
# Tags that name and load nothing: nine in ten, and reading them would take the longest.
NAMELESS = re.compile(
    r"</?(?!script\b|style\b)[a-z][\w:-]*"
    r"(?:\s+(?:(?!(?:id|name|rel|style|src|srcset|data|poster|(?:xlink:)?href)\b=)"
    r'[\w:-]+(?:="[^"]*")?|style="(?![^"]*(?i:url\(|@import))[^"]*"))*\s*/?>'
)
# A link as the theme and the book write it; those of the sidebar stand on every page.
LINK = re.compile(r'<a(?: class="[^"]*")? href="([^"]*)"(?: title="[^"]*")?>')
IGNORED = ("data:", "mailto:", "javascript:", "about:", "blob:")


@dataclass
class Page:
    """What one HTML page names: its anchors, its links, what it loads."""

    anchors: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)
    loaded: list[str] = field(default_factory=list)


class Reader(HTMLParser):
    """Collects anchors and addresses of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.page = Page()
        self.inside = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        page = self.page
        page.anchors |= {values[k] for k in ("id", "name") if values.get(k)}
        page.loaded += css_addresses(values.get("style", ""))
        rels = set(values.get("rel", "").lower().split())
        if tag in ("a", "area") and "href" in values:
            page.links.append(values["href"])
        elif tag == "link" and FETCHED_RELS & rels:
            page.loaded.append(values.get("href", ""))
        for name in LOADED.get(tag, ()):
            page.loaded += addresses(name, values.get(name, ""))
        self.inside = tag if tag in ("style", "script") else ""

    def handle_endtag(self, tag: str) -> None:
        self.inside = ""

    def handle_data(self, data: str) -> None:
        if self.inside == "style":
            self.page.loaded += css_addresses(data)
        elif self.inside == "script":
            self.page.loaded += SCRIPT_IMPORT.findall(data)


def addresses(attribute: str, value: str) -> list[str]:
    """The address of an attribute; the several of a srcset."""
    if attribute == "srcset":
        return [part.split()[0] for part in value.split(",") if part.strip()]
    return [value] if value else []


def css_addresses(css: str) -> list[str]:
    """What a style sheet loads."""
    return [a or b for a, b in CSS_URL.findall(css)]


def read(html: str) -> Page:
    """The anchors and addresses of a page's source."""
    reader = Reader()
    bare = NAMELESS.sub("", html)
    reader.page.links += map(unescape, LINK.findall(bare))
    reader.feed(LINK.sub("", bare))
    return reader.page


def faults(built: Path = BUILT) -> list[str]:
    """Every broken link, missing anchor and outside resource under `built`."""
    files = built_pages(built)
    if not files:
        return [f"no built page in {built}; run make book"]
    pages = {path: read(path.read_text("utf-8")) for path in files}
    known: dict[tuple[Path, str], str] = {}
    found = [fault for path in files for fault in of_page(path, pages, built, known)]
    sheets = sorted(built.rglob("*.css"))
    return found + [fault for sheet in sheets for fault in of_css(sheet, built)]


def built_pages(built: Path) -> list[Path]:
    """The pages a reader can reach; what a theme keeps in `_static` is none."""
    found = sorted(built.rglob("*.html")) if built.is_dir() else []
    return [p for p in found if p.relative_to(built).parts[0] != "_static"]


def of_page(
    path: Path, pages: dict[Path, Page], built: Path, known: dict[tuple[Path, str], str]
) -> Iterator[str]:
    """The faults of one page; `known` are the answers of the pages before it."""
    name, page = path.relative_to(built).as_posix(), pages[path]
    folder = path.parent

    def why_broken(url: str) -> str:
        """What another page of the folder links to as well is looked up once."""
        key = (path if url.startswith(("#", "?")) else folder, url)
        if key not in known:
            known[key] = broken(path, url, pages, built)
        return known[key]

    for url in dict.fromkeys(page.links):
        if is_outside(url):
            if not url.startswith("https://"):
                yield f"{name}: link to {url}; outside links are https"
        elif why := why_broken(url):
            yield f"{name}: link to {url}: {why}"
    for url in dict.fromkeys(page.loaded):
        if is_outside(url):
            yield f"{name}: loads {url} from outside the book"
        elif why := why_broken(url):
            yield f"{name}: loads {url}: {why}"


def of_css(path: Path, built: Path) -> Iterator[str]:
    """The faults of one style sheet."""
    name = path.relative_to(built).as_posix()
    for url in dict.fromkeys(css_addresses(path.read_text("utf-8", "replace"))):
        if is_outside(url):
            yield f"{name}: loads {url} from outside the book"


@cache
def is_outside(url: str) -> bool:
    """Whether an address names another host."""
    parts = urlsplit(url)
    return bool(parts.netloc) or parts.scheme in ("http", "https", "ftp")


def broken(path: Path, url: str, pages: dict[Path, Page], built: Path) -> str:
    """Why an address inside the book does not resolve; empty where it does."""
    if url.startswith(IGNORED):
        return ""
    parts = urlsplit(url)
    target = located(path, unquote(parts.path), built)
    if target not in pages and not target.is_file():
        return "no such file"
    # What follows a colon is the state of a table or figure, not part of its id.
    anchor = unquote(parts.fragment)
    place = anchor.partition(":")[0]
    if anchor and target in pages and place not in pages[target].anchors:
        return f"no anchor #{anchor} there"
    return ""


def located(page: Path, address: str, built: Path) -> Path:
    """The file an address means, seen from `page`."""
    if not address:
        return page
    base = built if address.startswith("/") else page.parent
    target = Path(os.path.normpath(base / address.lstrip("/")))
    return target / "index.html" if address.endswith("/") else target


def main(argv: list[str] | None = None) -> int:
    """Check a built book; print every fault, exit 1 where there is one."""
    given = sys.argv[1:] if argv is None else argv
    built = Path(given[0]).resolve() if given else BUILT
    found = faults(built)
    pages = len(built_pages(built))
    print("\n".join([*found, f"{len(found)} faults in the links of {pages} pages"]))
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())

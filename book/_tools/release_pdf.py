"""Print one HTML document to PDF with Chromium, page numbers filled in.

Chromium knows on which page an anchor lands only once it has printed, so the document
is printed until the numbers it shows are the numbers it has.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from _tools.release_page import PrintError

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Playwright, Route

HOST = "http://book.invalid/"
PAPER_PX = 643  # 170 mm, the width between the margins of release.css, at 96 dpi
MARGIN_BOXES = 131  # first Chromium that prints page numbers set in CSS
PASSES = 4
OBJECT = re.compile(rb"(\d+) 0 obj\n(.*?)endobj", re.S)
KIDS = re.compile(rb"/Kids \[(.*?)\]", re.S)
DESTINATION = re.compile(rb"/([\w-]+) \[(\d+) 0 R")
DATES = re.compile(rb"(/(?:Creation|Mod)Date \(D:)[^)]*\)")
SETTLED = """async () => {
  await document.fonts.ready;
  // A missing image is the shelf's to tell.
  await Promise.all([...document.images].map((i) => i.decode().catch(() => {})));
}"""
NUMBERED = """(pages) => document.querySelectorAll("a.pr-page").forEach((link) => {
  link.textContent = pages[link.hash.slice(1)];
})"""
# An element that hides or scrolls what is beyond its edge would be cut on paper. In a
# formula that is only its hidden reading for screen readers; its glyphs are elements.
WIDE = """(room) => [...document.querySelectorAll("main *")]
  .filter((e) => !e.closest("svg, mjx-assistive-mml") &&
    (e.getBoundingClientRect().right > room + 1 ||
      (e.scrollWidth > e.clientWidth + 1 && !e.matches(".math") &&
        getComputedStyle(e).overflowX !== "visible")))
  .map((e) => `<${e.localName} class="${e.className}">: ` + e.textContent.trim()
    .replace(/\\s+/g, " ").slice(0, 60))"""


def chromium() -> str | None:
    """Path of a Chromium, from ``$CHROMIUM`` or the search path."""
    named = os.environ.get("CHROMIUM")
    usual = ("chromium", "chromium-browser", "google-chrome", "chrome")
    return next(filter(None, map(shutil.which, [named] if named else usual)), None)


# ---- the document in the browser ----


class Shelf:
    """Answers the browser from the built book; all else is refused and noted."""

    def __init__(self, document: str, built: Path) -> None:
        self.document, self.built = document, built
        self.refused: list[str] = []

    def answer(self, route: Route) -> None:
        """Give the document, a file of the book, or nothing."""
        address = route.request.url
        path = self.built / unquote(urlsplit(address).path).lstrip("/")
        if address == HOST:
            route.fulfill(body=self.document, content_type="text/html; charset=utf-8")
        elif address.startswith(HOST) and path.is_file():
            route.fulfill(path=path)
        else:
            self.refused.append(address)
            route.abort()


def print_pdf(document: str, built: Path, program: str) -> bytes:
    """Print `document`, which stands at the root of the book in `built`."""
    from playwright.sync_api import sync_playwright

    shelf = Shelf(document, built)
    with sync_playwright() as playwright:
        browser = launch(playwright, program)
        page = browser.new_page(viewport={"width": PAPER_PX, "height": 900})
        page.route("**/*", shelf.answer)
        page.emulate_media(media="print", color_scheme="light")
        page.goto(HOST)
        page.evaluate(SETTLED)
        check(page, shelf)
        data = numbered(page)
        browser.close()
    return DATES.sub(rb"\g<1>19800101000000+00'00')", data)


def launch(playwright: Playwright, program: str) -> Browser:
    """Start Chromium; PrintError where it does not start or is too old."""
    from playwright.sync_api import Error

    try:
        browser = playwright.chromium.launch(
            executable_path=program, args=["--no-sandbox"]
        )
    except Error as error:
        said = error.message.splitlines()[0]
        raise PrintError(f"{program} does not start: {said}") from None
    if int(browser.version.split(".")[0]) < MARGIN_BOXES:
        raise PrintError(
            f"{program} is Chromium {browser.version}; {MARGIN_BOXES} or newer is "
            "needed, which prints page numbers"
        )
    return browser


def check(page: Page, shelf: Shelf) -> None:
    """Refuse to print what is incomplete or would be cut."""
    faults = [f"not in the built book: {address}" for address in shelf.refused]
    wide = page.evaluate(WIDE, PAPER_PX)
    faults += [f"wider than the paper: {what}" for what in wide]
    if faults:
        raise PrintError("\n".join(faults))


def numbered(page: Page) -> bytes:
    """The PDF whose printed page numbers are the true ones."""
    known: dict[str, int] = {}
    for _ in range(PASSES):
        data = page.pdf(
            prefer_css_page_size=True, print_background=True, tagged=True, outline=True
        )
        found = destinations(data)
        if found == known:
            return data
        known = found
        page.evaluate(NUMBERED, known)
    raise PrintError(f"page numbers still move after {PASSES} printings")


# ---- the printed file ----


def objects(data: bytes) -> dict[int, bytes]:
    """The objects of a PDF as Chromium writes it: by number, none compressed."""
    return {int(number): body for number, body in OBJECT.findall(data)}


def page_order(data: bytes) -> list[int]:
    """Object numbers of the pages, first page first."""
    known = objects(data)
    branches = {n for n, body in known.items() if b"/Type /Pages" in body}
    kids = {n: references(KIDS.findall(known[n])[0]) for n in branches}
    (root,) = branches - {kid for below in kids.values() for kid in below}

    def leaves(node: int) -> Iterator[int]:
        if node not in kids:
            yield node
        for kid in kids.get(node, []):
            yield from leaves(kid)

    return list(leaves(root))


def references(body: bytes) -> list[int]:
    """The object numbers that `body` refers to."""
    return [int(number) for number in re.findall(rb"(\d+) 0 R", body)]


def destinations(data: bytes) -> dict[str, int]:
    """Page number, from 1, of every anchor that a link of the PDF leads to."""
    known, order = objects(data), page_order(data)
    place = {number: n for n, number in enumerate(order, 1)}
    catalog = next(body for body in known.values() if b"/Type /Catalog" in body)
    table = re.search(rb"/Dests (\d+) 0 R", catalog)
    if table is None:
        return {}
    rows = DESTINATION.findall(known[int(table[1])])
    return {name.decode(): place[int(page)] for name, page in rows}

"""What a page says to a reader at a screen, taken out for paper.

The code of a figure becomes a line that names its cell; sentences that ask for a slider
or a click go, as does what a page marks as ``st-screen``.
"""

import html
import re
from collections.abc import Iterator

from bs4 import BeautifulSoup, NavigableString, Tag

# What is done at a screen, and to what on it.
ACTS = r"(?:drag|turn|touch|move|slide|press|set)"
THINGS = r"(?:sliders?|knobs?|buttons?|menus?)"
SCREEN = re.compile(
    rf"\b(?:click \w+|{ACTS} (?:the|a|each|any|both) (?:\w+ )?{THINGS})\b", re.I
)
# A sentence that goes on about what was asked.
NEXT = re.compile(r"(?:Then|Try|Start by)\b")
WORDS = re.compile(
    r"\b(?:click|hover|slider|knob|code cell|scroll|unfold)\w*"
    r"|\b(?:a tap|open (?:it|one))\b",
    re.I,
)
SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z])")
# Words of a page that are no prose of the book.
QUOTED = ["pre", "code", "svg", "math"]


def put_on_paper(article: Tag, file: str) -> None:
    """Change the article of `file` to what paper can hold."""
    for element in article.select(".st-screen"):
        element.decompose()
    for fold in article.select("div.cell > details.hide"):
        shown = fold.select_one(".cell_output")
        fold.replace_with(shown.extract() if shown else code_line(file))
    # At the end it would now and then have a page of its own.
    if (ran := article.select_one(".st-ran")) and article.h1:
        article.h1.insert_after(ran.extract())
    for text in list(article.find_all(string=SCREEN)):
        if text.find_parent("p") and not text.find_parent(QUOTED):
            text.replace_with(NavigableString(without_screen(text)))


def code_line(file: str) -> BeautifulSoup:
    """A line in place of the code of a figure."""
    line = f'<p class="pr-code">Code: {html.escape(file)}.ipynb</p>'
    return BeautifulSoup(line, "html.parser")


def without_screen(text: str) -> str:
    """`text` without its sentences that ask for something on a screen."""
    start, end = (re.search(p, text) for p in (r"^\s*", r"\s*$"))
    kept, asked = [], False
    for one in SENTENCE.split(text.strip()):
        asked = bool(SCREEN.search(one) or (asked and NEXT.match(one)))
        kept += [] if asked else [one]
    return f"{start[0] if start else ''}{' '.join(kept)}{end[0] if end else ''}"


def screen_words(article: Tag) -> Iterator[str]:
    """The words of a screen that are left, each with what stands around it."""
    for text in article.find_all(string=WORDS):
        if not text.find_parent(QUOTED):
            yield " ".join(text.split())

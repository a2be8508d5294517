"""Titles, captions and heads of columns: a number in one stands on the page.

A figure, a table or a drawing says its title in words of the page. A quantity there is
either computed, or a given of a cell; one in the source that the page neither says,
draws nor takes was typed.
"""

import html
import math
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from _tools import quantities, tree
from _tools.choices import numbers as typed_numbers
from stacklib.evidence.guard import MIME
from stacklib.quantity.say import MIME as SAID

HEADED = r"figcaption|caption|th(?= scope=\"col\")"
TITLE = re.compile(rf"<({HEADED})[^>]*>(?P<words>.*?)</\1>", re.S)
DIGITS = re.compile(r"\d+(?:[,\u202f']\d{3})*(?:\.\d+)?(?:[eE][-+]?\d+)?")
WORD = re.compile(rf"\b(?:{quantities.SMALL})\b")
COUNTS = quantities.SMALL.split("|")
TENS = re.compile(rf"\b({quantities.TENS})-({quantities.UNITS})\b")
NAMES = re.compile(
    r"\b[A-Z]\w+(?:[ -]\d(?:\.\d)?)?[ -]\d+B\b|\b[GR]TX \d+\b|^\d+B\b|\b\d+ in 100\b"
)
CURVE = 16  # of more points a title names none
PAGES = "stacklib/pages"
LANGUAGE = 12  # a whole number up to a dozen is language


def titles(data: dict[str, Any]) -> list[str]:
    """The titles that an output shows, as plain text."""
    shown = "".join(data.get("text/html", ""))
    words = (found["words"] for found in TITLE.finditer(shown))
    return [html.unescape(re.sub(r"<[^>]+>", "", text)) for text in words]


def _numbers(text: str) -> Iterator[float]:
    """The numbers of a quantity, in digits or words."""
    yield from (float(re.sub(r"[,\u202f']", "", n)) for n in DIGITS.findall(text))
    for tens, ones in TENS.findall(text.lower()):
        yield 10 * (COUNTS.index(tens) - 17) + COUNTS.index(ones) + 1
    for word in WORD.findall(TENS.sub(" ", text.lower())):
        at = COUNTS.index(word)
        yield at + 1 if at < 20 else 10 * (at - 17)


def _floats(value: Any) -> Iterator[float]:
    if isinstance(value, int | float):
        yield float(value)
    elif isinstance(value, list) and len(value) <= CURVE:
        for part in value:
            yield from _floats(part)


def given(cells: Iterable[Any]) -> set[float]:
    """The numbers that a notebook's cells take, and those that they say."""
    found: set[float] = set()
    for cell in (cell for cell in cells if cell["cell_type"] == "code"):
        found.update(typed_numbers("".join(cell["source"])))
        for data in (out.get("data", {}) for out in cell.get("outputs", ())):
            for number in data.get(SAID, {}).get("numbers", {}).values():
                found.update(_numbers(number.get("text", "")))
    return found


def shown(data: dict[str, Any]) -> set[float]:
    """The numbers that an output itself draws or lists, as they are printed."""
    rows = data.get(MIME, {}).get("rows", ())
    drawn = {
        n for row in rows for n in _floats([*row["values"].values(), row["chips"]])
    }
    text = TITLE.sub(" ", "".join(data.get("text/html", "")))
    return {*_numbers(re.sub(r"<[^>]+>", " ", text)), *drawn, *(100 * n for n in drawn)}


def typed(path: Path) -> Iterator[str]:
    """The quantities in titles of a notebook that stand nowhere on it."""
    cells = tree.read_notebook(path).cells
    known, code = given(cells), "\n".join(c["source"] for c in cells) + _pages()
    for data in (o.get("data", {}) for c in cells for o in c.get("outputs", ())):
        for title in titles(data):
            yield from (
                f"{path.stem}: {title!r} says {text!r}, which is typed"
                for text in unknown(title, known | shown(data))
                if text in code
            )


def unknown(title: str, known: Iterable[float]) -> Iterator[str]:
    """The quantities of a title with a number that is none of these."""
    for found in quantities.find(NAMES.sub("", title)):
        numbers = [n for n in _numbers(found.text) if n > LANGUAGE or n % 1]
        if not all(any(_like(n, one) for one in known) for n in numbers):
            yield found.text


def _like(n: float, known: float) -> bool:
    """Whether a number is another as printed with its digits."""
    return math.isclose(n, float(f"{known:.{_digits(n)}g}"), rel_tol=1e-9)


def _digits(n: float) -> int:
    return max(2, len(f"{n:.12g}".replace(".", "").strip("0")))


@cache
def _pages() -> str:
    """The source of the pages, which make titles too."""
    return "\n".join(p.read_text("utf-8") for p in (tree.ROOT / PAGES).rglob("*.py"))

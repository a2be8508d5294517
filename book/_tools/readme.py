"""The README's computed parts, which stand between comments that a forge hides.

``<!-- chapters -->`` and ``<!-- python -->`` begin one, ``<!-- end -->`` ends it; a
number is followed by ``<!--#q:name-->``. `make links` writes them, a test compares.
"""

import re
from collections.abc import Callable
from pathlib import Path

from _tools import contents, tree
from stacklib.pages.chapters import CHAPTERS

PART = re.compile(r"(<!-- (\w+) -->)(\n?).*?(<!-- end -->)", re.S)
BOUND = re.compile(r"\(3, (\d+)\)")


def chapters(root: Path) -> str:
    """A row a chapter: its question, and whether it is written."""
    rows = [
        f"| {number} | {row.title} | {row.about.partition('?')[0]}? "
        f"| {contents.status(number, root)} |"
        for number, row in CHAPTERS.items()
    ]
    head = ["| | chapter | its question | |", "| --- | --- | --- | --- |"]
    return "\n".join(head + rows)


def python(root: Path) -> str:
    """``Python 3.11 to 3.14``, as what looks for one asks."""
    asked = (root / "book" / "_tools" / "python.sh").read_text("utf-8")
    least, most = BOUND.findall(asked)
    return f"Python 3.{least} to 3.{most}"


PARTS: dict[str, Callable[[Path], str]] = {"chapters": chapters, "python": python}


def filled(text: str, root: Path = tree.ROOT) -> str:
    """`text` with every part as it should read; KeyError for a part nobody knows."""

    def part(found: re.Match[str]) -> str:
        begin, name, line, end = found.groups()
        return f"{begin}{line}{PARTS[name](root)}{line}{end}"

    return PART.sub(part, text)

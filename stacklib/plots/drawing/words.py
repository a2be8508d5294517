"""Words of a drawing: lines of text in which a number is a quantity, and their sizes.

Widths are those of the font that matplotlib ships, which is wider than most: what
does not touch here touches in no browser.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from stacklib.hardware import Accelerator
from stacklib.quantity import Quantity
from stacklib.quantity.told import refuse_bare

from ..spec import SpecError

if TYPE_CHECKING:
    from matplotlib.textpath import TextToPath

SIZE = {False: 12.0, True: 11.0}  # points, on the wide canvas and on a phone's
LEADING = 1.32  # of a size, from line to line
UP, DOWN = 0.76, 0.24  # of a size, over and under the base line
# A number by itself; those of names (L2, HBM3e, W1) and of exponents stand in words.
TYPED = re.compile(r"(?<![A-Za-z\d])\d")
WHOLE = 15  # digits of a count, which is not rounded


class Name(str):
    """A proper name, whose digits count nothing: of a product, of an instruction."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Shown:
    """A quantity in a unit, to so many digits.

    For the guard, ``level`` is that of a bandwidth which is not the main memory's, and
    ``chips`` how many it is a sum of.
    """

    quantity: Quantity
    unit: str | None = None
    digits: int = 3
    level: str | None = None
    chips: int = 1

    @property
    def key(self) -> tuple[str, str, float]:
        """What it says: the same number twice opens by one name."""
        return self.text, self.quantity.label, self.quantity.si

    @property
    def text(self) -> str:
        """What is read; a count is printed whole."""
        q = self.quantity
        count = self.unit is None and not q.shown.symbol and q.si == round(q.si)
        return q.text(self.unit, WHOLE if count else self.digits)


def an(device: Accelerator) -> Name:
    """``an H100``, ``a B200``: a device with its article."""
    spoken = device.short[0] in "AEFHILMNORSX"  # letters that begin with a vowel
    return Name(f"{'an' if spoken else 'a'} {device.short}")


Given = str | Quantity | Shown | Accelerator
Label = Given | tuple[Given, ...]  # one line


def piece(given: Given) -> str | Shown:
    """A piece of a line; SpecError for a number that is typed.

    Units and prefixes go with the quantity; a string holds words.
    """
    if isinstance(given, Accelerator):
        return Name(given.short)
    if isinstance(given, Quantity):
        given = Shown(given)
    if isinstance(given, Shown):
        if not given.quantity.label:
            raise SpecError(f"{given.text}: say what it is with .named()")
        refuse_bare(f"a drawing's {given.text!r}", given.quantity)
    elif not isinstance(given, Name) and TYPED.search(given):
        raise SpecError(f"{given!r}: a typed number; a label takes a Quantity for it")
    return given


@dataclass(frozen=True, slots=True)
class Line:
    """One line: its pieces, weight, role of its colour, and a page that it opens."""

    pieces: tuple[str | Shown, ...]
    bold: bool = False
    role: str = "ink"
    to: str = ""

    @property
    def text(self) -> str:
        """The line as it is read."""
        return "".join(p.text if isinstance(p, Shown) else p for p in self.pieces)

    def wide(self, size: float) -> float:
        """Points that it takes along the page."""
        return width(self.text, size, self.bold)

    def quantities(self) -> Iterator[Shown]:
        """Its numbers, in reading order."""
        return (p for p in self.pieces if isinstance(p, Shown))

    def markup(self, names: Iterable[str]) -> str:
        """SVG inside of a text: each number has its name, by which it opens."""
        given = iter(names)
        found = "".join(
            f'<tspan class="st-q" data-q="{next(given)}">{html.escape(p.text)}</tspan>'
            if isinstance(p, Shown)
            else html.escape(p)
            for p in self.pieces
        )
        look = 'style="text-decoration: underline"'
        return f'<a href="{self.to}" {look}>{found}</a>' if self.to else found


def line(*given: Given, bold: bool = False, role: str = "ink", to: str = "") -> Line:
    """A line of words and quantities; ``to``: a notebook that it leads to."""
    return Line(tuple(map(piece, given)), bold, role, to)


def lines(label: Label | Iterable[Label | Line] | Line | None) -> tuple[Line, ...]:
    """What a part is told as its label: nothing, a line, or a list of lines."""
    if label is None:
        return ()
    if isinstance(label, list):
        return tuple(one for part in label for one in lines(part))
    if isinstance(label, Line):
        return (label,)
    return (line(*label) if isinstance(label, tuple) else line(label),)  # type: ignore[arg-type]


@cache
def _paths() -> TextToPath:
    from matplotlib.textpath import TextToPath

    return TextToPath()


@cache
def width(text: str, size: float, bold: bool = False) -> float:
    """Points that a text takes."""
    from matplotlib.font_manager import FontProperties

    look = FontProperties(
        family="DejaVu Sans", size=size, weight="bold" if bold else "normal"
    )
    return float(_paths().get_text_width_height_descent(text, look, False)[0])

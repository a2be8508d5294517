"""Pieces of the fact pages: numbers that open, tables, tables that sort and sift.

A fact page is HTML written from the database. Its numbers open like those of the
prose (``quantities.js``): a ``Sheet`` collects their derivations, once each.
"""

import html
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from stacklib.quantity import Quantity
from stacklib.quantity.tree import formula
from stacklib.quantity.units import format_number

SOURCE = ("title", "where", "seen", "confidence", "inherited")
UNKNOWN = '<span class="st-unknown">unknown</span>'


def escape(text: object) -> str:
    """Text that may stand in HTML, in an attribute too."""
    return html.escape(str(text))


def link(href: str, text: object) -> str:
    """A link to another page of the book."""
    return f'<a href="{escape(href)}">{escape(text)}</a>'


def anchor(name: str) -> str:
    """An id from a field's or a format's name."""
    return name.replace("/", "-").replace(".", "-").replace(" ", "-").lower()


def leaf(quantity: Quantity) -> dict[str, Any]:
    """What a panel says of one input: name, value, source; not how it came about."""
    whole = not quantity.inputs and quantity.value == int(quantity.value)
    found: dict[str, Any] = {
        "label": quantity.label,
        "text": quantity.text(digits=15 if whole else 4),
        "kind": quantity.kind,
    }
    if quantity.source:
        found["source"] = {n: getattr(quantity.source, n) for n in SOURCE}
    return found


def short_tree(quantity: Quantity) -> dict[str, Any]:
    """The derivation one step deep, each input without its own."""
    text, inputs = formula(quantity)
    return {**leaf(quantity), "formula": text, "inputs": [leaf(q) for q in inputs]}


@dataclass
class Sheet:
    """A page being written and the derivations of its numbers, by name."""

    trees: dict[str, dict[str, Any]] = field(default_factory=dict)

    def number(
        self,
        name: str,
        quantity: Quantity,
        text: str = "",
        what: str = "",
        tree: Mapping[str, Any] | None = None,
    ) -> str:
        """A number that opens."""
        shown = text or quantity.text(digits=4)
        own = leaf if tree and "inputs" in tree else short_tree
        known = {**own(quantity), **(tree or {}), "text": shown}
        if what:
            known["what"] = what
        self.trees[name] = known
        return f'<span class="st-q" data-q="{escape(name)}">{escape(shown)}</span>'

    def script(self) -> str:
        """The derivations, as ``quantities.js`` reads them."""
        if not self.trees:
            return ""
        text = json.dumps(self.trees, sort_keys=True, default=str, ensure_ascii=False)
        text = text.replace("</", "<\\/")
        return f'<script type="application/json" id="st-quantities">{text}</script>\n'


def table(
    caption: str,
    head: Sequence[str],
    rows: Iterable[Sequence[str]],
    name: str = "",
    wide: bool = False,
) -> str:
    """A table in a box that scrolls; cells are HTML, the first heads its row."""
    heads = "".join(f'<th scope="col">{escape(word)}</th>' for word in head)
    own = f' id="{escape(name)}"' if name else ""
    own = f'class="st-facts{" st-wide" if wide else ""}"{own}'
    return (
        f'<div {own} role="region" tabindex="0" '
        f'aria-label="{escape(caption)}">\n<table><caption>{escape(caption)}</caption>'
        f"\n<thead><tr>{heads}</tr></thead>\n<tbody>\n"
        + "\n".join(map(_row, rows))
        + "\n</tbody></table></div>\n"
    )


def _row(cells: Sequence[str]) -> str:
    first, *rest = cells
    name, bar, text = first.partition("|")
    named = bool(bar) and "<" not in name
    opening = f'<tr id="{escape(name)}">' if named else "<tr>"
    body = "".join(f"<td>{cell}</td>" for cell in rest)
    return f'{opening}<th scope="row">{text if named else first}</th>{body}</tr>'


# ---- a table that sorts and sifts ----


@dataclass(frozen=True)
class Column:
    """A column of a ``sift``: key, head, unit; sifted by a menu or not.

    Cells of a column with a unit, or with ``number``, are quantities or numbers;
    None is not known and sorts last either way. Numbers are shown over ``scale``,
    which the head must say.
    """

    key: str
    head: str
    unit: str = ""
    number: bool = False
    menu: bool = False
    scale: float = 1.0

    @property
    def numeric(self) -> bool:
        """Whether the column sorts by number."""
        return self.number or bool(self.unit)

    @property
    def heading(self) -> str:
        """Name with unit."""
        return f"{self.head} ({self.unit})" if self.unit else self.head


@dataclass(frozen=True)
class Cell:
    """What is shown and sorted by, where it leads, what stands where nothing is."""

    value: Any
    href: str = ""
    absent: str = "unknown"


@dataclass(frozen=True)
class Row:
    """A row of a ``sift``: key, cells, and further words it is found by."""

    key: str
    cells: Sequence[Cell]
    words: str = ""


def sort_key(value: Any) -> str:
    """What a script sorts by: a number in SI units; empty for a text."""
    if isinstance(value, Quantity):
        return f"{value.si:.6g}"
    return f"{value:.6g}" if isinstance(value, (int, float)) else ""


def sift(
    name: str,
    caption: str,
    columns: Sequence[Column],
    rows: Sequence[Row],
    sheet: Sheet,
) -> str:
    """A table that ``sift.js`` lets the reader sort and sift; whole without it."""
    heads = "".join(_head(column) for column in columns)
    body = "\n".join(_sift_row(name, row, columns, sheet) for row in rows)
    return (
        f'<div class="st-sift" id="{escape(name)}">\n'
        f'<div class="st-sift-box" role="region" tabindex="0" '
        f'aria-label="{escape(caption)}">\n'
        f"<table><caption>{escape(caption)}</caption>\n"
        f"<thead><tr>{heads}</tr></thead>\n<tbody>\n{body}\n</tbody></table>"
        "</div></div>\n"
    )


def _head(column: Column) -> str:
    kind = "number" if column.numeric else "text"
    menu = ' data-menu=""' if column.menu else ""
    return (
        f'<th scope="col" data-key="{column.key}" data-type="{kind}"{menu}>'
        f"{escape(column.heading)}</th>"
    )


def _sift_row(name: str, row: Row, columns: Sequence[Column], sheet: Sheet) -> str:
    cells = []
    for i, (cell, column) in enumerate(zip(row.cells, columns, strict=True)):
        tag, scope = ("td", "") if i else ("th", ' scope="row"')
        key = sort_key(cell.value) if column.numeric else ""
        marks = scope + (f' data-v="{key}"' if key else "")
        marks += "" if column.numeric else ' class="st-text"'
        inside = _cell(f"{name}.{row.key}.{column.key}", cell, column, sheet)
        cells.append(f"<{tag}{marks}>{inside}</{tag}>")
    words = f' data-words="{escape(row.words)}"' if row.words else ""
    return f'<tr id="{escape(name)}-{anchor(row.key)}"{words}>{"".join(cells)}</tr>'


def _cell(name: str, cell: Cell, column: Column, sheet: Sheet) -> str:
    """HTML of one cell; a quantity opens, in the column's unit."""
    value = cell.value
    if value is None:
        return f'<span class="st-unknown">{escape(cell.absent)}</span>'
    if isinstance(value, Quantity):
        about = "≈" if value.kind == "assumed" else ""
        number = value.to(column.unit or "1").value / column.scale
        text = about + format_number(number, 4)
        return sheet.number(name, value, text, tree={"full": value.text(digits=6)})
    if isinstance(value, int) and not column.menu:  # a year has no comma
        return f"{value:,}"
    return link(cell.href, value) if cell.href else escape(value)

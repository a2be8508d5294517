"""``table``: rows of quantities as a pandas frame and an HTML table.

Units stand in the header; every number of a column is in the header's unit.
"""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any

import pandas

from stacklib import hardware
from stacklib.evidence import guard
from stacklib.quantity import Quantity, UnitError
from stacklib.quantity.told import refuse_bare, told
from stacklib.quantity.units import axis_of, format_number, plural, typeset

from .spec import SpecError, check_name

BLANK = "–"
MADE = ("predicted", "simulated", "measured")
DIGITS = 4  # printed digits of a float, at most: no BLAS decides a test
ABOUT = (
    *("device", "dtype", "chips", "evidence", "feasible", "level"),
    *("model", "batch"),
)


@dataclass(frozen=True)
class Table:
    """A table of the book; notebooks show it by its HTML.

    Attributes
    ----------
    name, caption : str
        Anchor ``tab-<name>`` and the sentence above it.
    frame : pandas.DataFrame
        The printed cells, units in the header.
    numeric : tuple of bool
        Which columns are numbers, and so stand right.
    entry : dict
        What the guard knows of it.
    """

    name: str
    caption: str
    frame: pandas.DataFrame = field(repr=False)
    numeric: tuple[bool, ...] = field(repr=False)
    entry: dict[str, Any] = field(repr=False)

    @property
    def html(self) -> str:
        """The table in a box that scrolls sideways on a narrow screen."""
        rows = [_html_row(row, self.numeric) for row in self.frame.to_numpy().tolist()]
        heads = "".join(
            f'<th scope="col"{_class(n)}>{html.escape(str(column))}</th>'
            for column, n in zip(self.frame.columns, self.numeric, strict=True)
        )
        caption = html.escape(self.caption)
        return (
            f'<div class="st-table" id="tab-{self.name}" role="region" tabindex="0" '
            f'aria-label="{caption}">\n<table>\n<caption>{caption}</caption>\n'
            f"<thead><tr>{heads}</tr></thead>\n<tbody>\n"
            + "\n".join(rows)
            + "\n</tbody>\n</table>\n</div>"
        )

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        return {
            "text/plain": self.frame.to_string(index=False),
            "text/html": self.html,
            guard.MIME: self.entry,
        }


def _class(numeric: bool) -> str:
    return "" if numeric else ' class="st-text"'


def _html_row(cells: Sequence[str], numeric: Sequence[bool]) -> str:
    first, *rest = (
        f"{_class(n)}>{html.escape(cell)}"
        for cell, n in zip(cells, numeric, strict=True)
    )
    body = "".join(f"<td{cell}</td>" for cell in rest)
    return f'<tr><th scope="row"{first}</th>{body}</tr>'


def _as_dict(row: Any) -> dict[str, Any]:
    if is_dataclass(row) and not isinstance(row, type):
        return {f.name: getattr(row, f.name) for f in fields(row)}
    if isinstance(row, Mapping):
        return dict(row)
    raise SpecError(f"a table row is a dict or a dataclass, not {row!r}")


def _column(name: str, values: list[Any], unit: str | None) -> tuple[str, list[Any]]:
    """Header and values in one unit."""
    given = [v for v in values if v is not None]
    quantities = [v for v in given if isinstance(v, Quantity)]
    if not quantities:
        return name + (f" ({typeset(plural(unit))})" if unit else ""), values
    others = [v for v in given if not isinstance(v, Quantity)]
    if others:
        raise UnitError(f"column {name!r} mixes quantities with {others[0]!r}")
    for quantity in quantities:
        refuse_bare(f"column {name!r}", quantity)
    shown = unit if unit is not None else quantities[0].text().partition(" ")[2]
    first = _basis(quantities[0])
    q = next((q for q in quantities if _basis(q) != first), None)
    if q is not None:
        raise UnitError(f"column {name!r} mixes {quantities[0]!r} with {q!r}")
    try:
        values = [v if v is None else v.to(shown or "1") for v in values]
    except UnitError as error:
        raise UnitError(f"column {name!r}: {error}") from None
    return f"{name} ({typeset(plural(shown))})" if shown else name, values


def _basis(q: Quantity) -> frozenset[str]:
    """Tags that a column may not mix; rates at two clocks may stand side by side."""
    return frozenset(tag for tag in q.tags if axis_of(tag) != "clock")


def _text(value: Any, digits: int) -> str:
    if value is None:
        return BLANK
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Quantity):
        return format_number(value.value, digits)
    if isinstance(value, float):
        return format_number(value, digits)
    return value.short if isinstance(value, hardware.Accelerator) else str(value)


def _is_number(values: Sequence[Any]) -> bool:
    kinds = (int, float, Quantity)
    given = [v for v in values if v is not None]
    return bool(given) and all(
        isinstance(v, kinds) and not isinstance(v, bool) for v in given
    )


def _guard_row(
    i: int,
    columns: Mapping[str, list[Any]],
    about: Mapping[str, Any],
    roles: Mapping[str, str],
) -> dict[str, Any]:
    cells: dict[str, list[Any]] = {}
    mine: dict[str, Any] = {}
    numbers: dict[str, Any] = {}
    of: set[str] = set()
    for name, values in columns.items():
        value = values[i]
        if isinstance(value, hardware.Accelerator):
            mine["device"] = value.key
        elif _is_number([value]):
            cells[name] = guard.cell(value, role=roles.get(name, ""))
            numbers[name] = value
            of |= guard.records(value) if isinstance(value, Quantity) else set()
    for name, given in about.items():
        mine[name] = given[i] if isinstance(given, (list, tuple)) else given
    label = _text(next(iter(columns.values()))[i], DIGITS)
    evidence = mine.get("evidence", "")
    guard.refuse_other(f"row {label!r}", mine.get("device"), of)
    if evidence == "claimed":
        _check_claimed(label, numbers)
    run = [name for name, value in numbers.items() if guard.of_run(value, evidence)]
    return guard.row(label, cells, of=of, run=run, **mine)


def _check_claimed(row: str, numbers: Mapping[str, Any]) -> None:
    """A row of claims has one, and nothing that a model made."""
    read = {name: told(n) for name, n in numbers.items() if isinstance(n, Quantity)}
    own = [name for name, word in read.items() if word in MADE]
    if own or (numbers and not {*read.values()} & {"claimed", "spec"}):
        what = f"{own[0]!r} is {read[own[0]]}" if own else "none of its numbers is read"
        raise SpecError(f"row {row!r} is no claim: {what}; say evidence by row")


def _check_about(about: Mapping[str, Any], rows: int) -> None:
    for name, given in about.items():
        if name not in ABOUT:
            raise SpecError(f"table knows nothing of {name!r}; {', '.join(ABOUT)}")
        if isinstance(given, (list, tuple)) and len(given) != rows:
            raise SpecError(f"{name}: {len(given)} values for {rows} rows")


def table(
    rows: Sequence[Any],
    *,
    name: str,
    caption: str,
    units: Mapping[str, str] | None = None,
    digits: int = DIGITS,
    roles: Mapping[str, str] | None = None,
    beside: Mapping[str, Sequence[Any]] | None = None,
    **about: Any,
) -> Table:
    """Show rows and register them with the guard.

    Parameters
    ----------
    rows : sequence of dict or dataclass
        Columns by key or field. Values: Quantity, number, bool, text, a device,
        or None for what is not known or not feasible.
    name, caption : str
        Anchor; a sentence saying what the table shows.
    units : dict, optional
        Unit of a column; else the readable unit of its first quantity.
    digits : int
        Significant digits of quantities and floats, at most four.
    roles : dict, optional
        Guard role of a column where its unit does not tell it (``resident``,
        ``link``, ``part``, ``share``, ``ratio``, ``spec``).
    beside : dict, optional
        Columns for the guard alone, not printed: the work behind a time, say.
    **about
        ``device``, ``dtype``, ``chips``, ``evidence``, ``feasible``, ``level``,
        ``model``, ``batch``: one value, or a list with one for each row. A column of
        devices sets ``device`` by itself, and so does the one device that the
        quantities of a row stand on; ``"none: why"`` where there is none.

    Raises
    ------
    SpecError
        For no rows, rows of different columns, more than four digits, or an
        ``about`` list of another length.
    UnitError
        For a column that mixes units.
    ValueError
        For a quantity with a leaf that does not say what it is (``bare``).
    """
    check_name(name)
    found = [_as_dict(row) for row in rows]
    if not found or not caption.strip():
        raise SpecError(f"table {name!r} needs rows and a caption")
    if any(list(row) != list(found[0]) for row in found):
        raise SpecError(f"table {name!r}: rows differ in their columns")
    if not 1 <= digits <= DIGITS:
        raise SpecError(f"table {name!r}: digits={digits}; print one to {DIGITS}")
    for given in (units or {}, roles or {}):
        unknown = [column for column in given if column not in found[0]]
        if unknown:
            raise SpecError(f"table {name!r} has no column {unknown[0]!r}")
    _check_about(about, len(found))
    for column, values in (beside or {}).items():
        if len(values) != len(found):
            raise SpecError(f"{column}: {len(values)} values for {len(found)} rows")
    shown = _printed(found, units or {}, digits)
    columns = {**shown.columns, **{k: list(v) for k, v in (beside or {}).items()}}
    rows_of_guard = [
        _guard_row(i, columns, about, roles or {}) for i in range(len(found))
    ]
    entry = guard.entry("table", name, rows_of_guard)
    guard.register(entry)
    return Table(name, caption, shown.frame, shown.numeric, entry)


@dataclass(frozen=True)
class _Printed:
    """Columns in their units, the frame that prints them, which are numbers."""

    columns: dict[str, list[Any]]
    frame: pandas.DataFrame
    numeric: tuple[bool, ...]


def _printed(
    rows: list[dict[str, Any]], units: Mapping[str, str], digits: int
) -> _Printed:
    columns: dict[str, list[Any]] = {}
    cells, numeric = {}, []
    for key in rows[0]:
        values = [row[key] for row in rows]
        head, columns[key] = _column(key, values, units.get(key))
        cells[head] = [_text(v, digits) for v in columns[key]]
        numeric.append(_is_number(values))
    return _Printed(columns, pandas.DataFrame(cells), tuple(numeric))

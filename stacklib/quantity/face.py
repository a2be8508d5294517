"""What a notebook shows in place of a repr: value, kind, the derivation in a fold."""

from __future__ import annotations

import html
from collections.abc import Iterable
from typing import Any

from .core import Quantity
from .told import told
from .tree import explain


def shown(q: Quantity) -> str:
    """A quantity: one line that opens to its derivation."""
    name = f"{html.escape(q.label)} = " if q.label else ""
    line = f"{name}<b>{html.escape(marked(q))}</b> <small>{told(q)}</small>"
    derivation = html.escape(explain(q))
    return f"<details><summary>{line}</summary><pre>{derivation}</pre></details>"


def marked(q: Quantity) -> str:
    """Number, unit and tags."""
    return " ".join([q.text(), *sorted(q.tags)])


def card(title: str, rows: Iterable[tuple[str, Any]]) -> str:
    """A thing made of quantities: a row each, and None is *unknown*."""
    cells = "".join(
        f"<tr><th style='text-align:left'>{html.escape(name)}</th>"
        f"<td style='text-align:left'>{cell(value)}</td></tr>"
        for name, value in rows
    )
    return f"<b>{html.escape(title)}</b><table>{cells}</table>"


def cell(value: Any) -> str:
    """A quantity with its derivation, anything else as text."""
    if value is None:
        return "<i>unknown</i>"
    return shown(value) if isinstance(value, Quantity) else html.escape(str(value))

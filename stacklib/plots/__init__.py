"""House figures, tables and live figures.

``chart`` makes a spec (a plain dict) of axes and marks, ``figure`` draws it,
``table`` shows rows, ``live`` puts sliders on a function that returns a spec. The
last three register what they show with ``evidence.guard``. Names load on first use,
so that the specs behind live figures need no NumPy, pandas or matplotlib.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import live as live
    from .figures import Figure as Figure
    from .figures import figure as figure
    from .marks import About as About
    from .marks import axis as axis
    from .marks import band as band
    from .marks import bar as bar
    from .marks import cells as cells
    from .marks import chart as chart
    from .marks import diamonds as diamonds
    from .marks import dots as dots
    from .marks import line as line
    from .marks import rule as rule
    from .rooflines import roofline_spec as roofline_spec
    from .spec import SpecError as SpecError
    from .spec import readout as readout
    from .tables import Table as Table
    from .tables import table as table

_HOMES = {
    "figures": ("Figure", "figure"),
    "marks": (
        *("About", "axis", "band", "bar", "cells"),
        *("chart", "diamonds", "dots", "line", "rule"),
    ),
    "rooflines": ("roofline_spec",),
    "spec": ("SpecError", "readout"),
    "tables": ("Table", "table"),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}

__all__ = ["live", *_HOME]


def __getattr__(name: str) -> Any:
    if name == "live":
        return importlib.import_module(f"{__name__}.live")
    if name not in _HOME:
        raise AttributeError(f"stacklib.plots has no {name!r}: {', '.join(__all__)}")
    return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

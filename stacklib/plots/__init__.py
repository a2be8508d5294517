"""House figures, tables and live figures.

``figure`` draws a spec (a plain dict: axes, marks, a title sentence), ``table``
shows rows, ``live`` puts sliders on a function that returns a spec. All three
register what they show with ``evidence.guard``. Names load on first use, so that
the specs behind live figures need no NumPy, pandas or matplotlib.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import live as live
    from .figures import Figure as Figure
    from .figures import figure as figure
    from .rooflines import roofline_spec as roofline_spec
    from .spec import SpecError as SpecError
    from .tables import Table as Table
    from .tables import table as table
    from .waterfall import layer_spec as layer_spec
    from .waterfall import waterfall_spec as waterfall_spec

_HOME = {
    "Figure": "figures",
    "SpecError": "spec",
    "Table": "tables",
    "figure": "figures",
    "layer_spec": "waterfall",
    "roofline_spec": "rooflines",
    "table": "tables",
    "waterfall_spec": "waterfall",
}

__all__ = ["Figure", "SpecError", "Table", "figure", "layer_spec", "live",
           "roofline_spec", "table", "waterfall_spec"]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name == "live":
        return importlib.import_module(f"{__name__}.live")
    if name not in _HOME:
        raise AttributeError(f"stacklib.plots has no {name!r}: {', '.join(__all__)}")
    return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

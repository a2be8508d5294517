"""Files named from the top of the checkout, wherever the package runs."""

from __future__ import annotations

import os
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]


def places() -> list[Path]:
    """Folders that such a file is looked for in, in this order.

    ``STACKLIB_ROOT`` if it is set, the checkout around the package, and the package
    itself: a wheel carries ``benchmarks/`` inside it.
    """
    named = os.environ.get("STACKLIB_ROOT")
    return [*([Path(named)] if named else []), PACKAGE.parent, PACKAGE]


def held(name: str) -> Path:
    """The first place that holds a file or folder; the checkout where none does."""
    found = (place for place in places() if (place / name).exists())
    return next(found, PACKAGE.parent)

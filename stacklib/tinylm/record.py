"""What was measured of the committed models: their training, their quality."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from stacklib.quantity.names import resolve

from .config import DATA, NAMES

QUALITY = DATA / "quality.json"
TAILS = (2.5, 97.5)  # percentiles of a 95 % interval


@cache
def quality() -> dict[str, Any]:
    """What `tinylm.evaluate` last measured; its docstring names the tables."""
    found: dict[str, Any] = json.loads(QUALITY.read_text(encoding="utf-8"))
    return found


@cache
def training(name: str = "tiny") -> dict[str, Any]:
    """The record of the run whose weights are committed."""
    path = DATA / resolve(name, NAMES, "model of the book") / "training.json"
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found

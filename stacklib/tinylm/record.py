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
    return json.loads(QUALITY.read_text(encoding="utf-8"))


@cache
def training(name: str = "tiny") -> dict[str, Any]:
    """The record of the run whose weights are committed."""
    path = DATA / resolve(name, NAMES, "model of the book") / "training.json"
    return json.loads(path.read_text(encoding="utf-8"))

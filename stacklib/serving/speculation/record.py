"""What `measure` found when it last ran each draft under the tiny model."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

STORE = Path(__file__).parent.parent / "data" / "speculation.json"
FILE = "stacklib/serving/data/speculation.json"  # as a leaf names it
LENGTH = 4  # tokens of a draft
TEMPERATURES = (1.0, 0.0)
NAMES = ("draft", "draft_plain", "grams", "look_up")


@cache
def measured() -> dict[str, Any]:
    """The rows of the file, by their ids."""
    table = json.loads(STORE.read_text(encoding="utf-8"))
    return {row["id"]: row for row in table["rows"]}

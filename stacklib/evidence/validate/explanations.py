"""Why the worst rows miss, written by a person, row by row."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files

from ..measurements import fitted, left_out


class ExplanationError(ValueError):
    """An explanation of no row, or an empty one."""


@cache
def explanations() -> dict[str, str]:
    """Explanations by row id: ``data/explanations.toml``, one line a row."""
    path = files("stacklib.evidence") / "data" / "explanations.toml"
    found = tomllib.loads(path.read_text(encoding="utf-8"))
    known = {row.id for row in fitted() + left_out()}
    for id, text in found.items():
        if id not in known:
            raise ExplanationError(f"explanations.toml: no row {id!r}")
        if not isinstance(text, str) or not text.strip():
            raise ExplanationError(f"explanations.toml: {id} says nothing")
    return found

"""Outputs of a notebook cell, as strict nbval compares them.

The patterns of `tests/book/nbval.cfg` are applied to both sides, so that "changed"
means the same to the test that compares and to the command that rewrites.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from nbval.plugin import coalesce_streams, get_sanitize_patterns

from _tools import tree

CONFIG = tree.ROOT / "tests" / "book" / "nbval.cfg"
NOT_COMPARED = {"image/png", "image/jpeg", "application/vnd.jupyter.widget-view+json"}

Patterns = list[tuple[str, str]]


def patterns(config: Path = CONFIG) -> Patterns:
    """The (regex, replacement) pairs of an nbval sanitize file."""
    return get_sanitize_patterns(config.read_text("utf-8"))


def sanitized(value: Any, masks: Patterns) -> str:
    """A value as text, with each mask applied."""
    text = value if isinstance(value, str) else json.dumps(value, sort_keys=True)
    for pattern, replacement in masks:
        text = re.sub(pattern, replacement, text)
    return text


def comparable(outputs: list[Any], masks: Patterns) -> list[tuple[str, str]]:
    """What nbval compares of a cell's outputs: (kind, sanitized text) pairs."""
    seen = []
    for output in coalesce_streams([o.copy() for o in outputs]) or []:
        if output["output_type"] == "stream":
            seen.append((output["name"], sanitized(output["text"], masks)))
        for mime in sorted(set(output.get("data", ())) - NOT_COMPARED):
            seen.append((mime, sanitized(output["data"][mime], masks)))
        if output["output_type"] == "error":
            seen.append(("error", f"{output['ename']}: {output['evalue']}"))
    return seen


def same(stored: list[Any], fresh: list[Any], masks: Patterns) -> bool:
    """Whether nbval would pass `fresh` against `stored`."""
    return comparable(stored, masks) == comparable(fresh, masks)

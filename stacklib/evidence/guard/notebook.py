"""The register as committed: entries read back from executed notebooks."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .entries import MIME

_PICTURES = ("image/svg+xml", "image/png", "image/jpeg")
_SHOWS = ("<table", "<svg", "<img", "<canvas")


def _outputs(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Cell number (from 1) and data of every displayed output."""
    notebook = json.loads(Path(path).read_text(encoding="utf-8"))
    for number, cell in enumerate(notebook["cells"], 1):
        for output in cell.get("outputs", ()):
            if "data" in output:
                yield number, output["data"]


def _text(data: dict[str, Any], mime: str) -> str:
    text = data.get(mime, "")
    return text if isinstance(text, str) else "".join(text)


def read_notebook(path: Path) -> list[dict[str, Any]]:
    """Entries of a committed notebook's outputs, in order.

    Parameters
    ----------
    path : Path
        The notebook.

    Raises
    ------
    ValueError
        When two outputs share kind and name: their anchors would collide.
    """
    entries = [data[MIME] for _, data in _outputs(path) if MIME in data]
    names = [(e["kind"], e["name"]) for e in entries]
    for kind, name in names:
        if names.count((kind, name)) > 1:
            raise ValueError(f"{path}: {kind} {name!r} is shown twice")
    return entries


def unregistered(path: Path) -> list[str]:
    """Tables and pictures that went past ``plots``: cell and what they are.

    Parameters
    ----------
    path : Path
        The notebook.
    """
    found = []
    for number, data in _outputs(path):
        if MIME in data:
            continue
        html = _text(data, "text/html").lower()
        kinds = [mime for mime in _PICTURES if mime in data]
        kinds += [tag + ">" for tag in _SHOWS if tag in html]
        found += [
            f"{path}, cell {number}: {kind} shown without plots.table or plots.figure"
            for kind in kinds
        ]
    return found

"""What the maps of chapters are made of: sections, groups of them, small arrays."""

from __future__ import annotations

from stacklib.plots.drawing import Box, Cells, Name, Node, below, line

DEVICE, DOWN = "h100-sxm", (True, True)


def section(number: str, words: str, role: str, inside: Node | None = None) -> Box:
    """A section: its number, and what of the machine it opens."""
    told = [line(Name(number), bold=True), words]
    return Box(f"section {number}", told, inside, role=role)


def group(name: str, role: str, *inside: Node) -> Box:
    """A part of the machine that several sections open, one below the other."""
    return Box(name, line(name, bold=True), below(*inside), role=role)


def cells(
    name: str, count: int, lit: set[int], across: int = 0, role: str = "layer-3"
) -> Cells:
    """A small array, some of it lit."""
    return Cells(name, count, across, side=9.0, role=role, lit=frozenset(lit))

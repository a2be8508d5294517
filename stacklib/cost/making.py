"""Facts about making memory and packages, each a range of dated quotes with sources.

``fact("cell", "n5")`` is the area of an SRAM cell, ``fact("pitch", "hybrid")`` the
distance between hybrid bonds. ``tables()`` lists what there is.
"""

from __future__ import annotations

from functools import cache

from stacklib.hardware.sourced import read_toml
from stacklib.quantity import resolve

from .data import DATA, Range, _Shelf, read_ranges

# file -> table -> (words for labels, unit)
FILES = {
    "making.toml": {
        "cell": ("SRAM cell", "µm2"),
        "array": ("bits an area", "bit/mm2"),
        "density": ("bits an area", "bit/mm2"),
        "larger": ("area", ""),
        "works": ("that work", ""),
        "wafer": ("cost", "USD"),
        "dollars": ("cost", "USD"),
        "industry": ("", ""),
        "area": ("area", "mm2"),
    },
    "silicon.toml": {
        "field": ("of a scanner's field", "mm"),
        "carries": ("reticles it carries", ""),
        "line": ("width of a line", "µm"),
        "pitch": ("pitch", "µm"),
        "footprint": ("area", "mm2"),
        "feature": ("", "nm"),
        "packed": ("transistors an area", "1/mm2"),
        "logic": ("density of logic", ""),
        "chip": ("density of a chip", ""),
        "power": ("power at one speed", ""),
        "speed": ("speed at one power", ""),
        "capacity": ("a month", ""),
        "masks": ("cost", "USD"),
    },
}
TABLES = {table: file for file, held in FILES.items() for table in held}


@cache
def _shelves() -> dict[str, _Shelf]:
    shelves = {}
    for file, held in FILES.items():
        raw = read_toml(DATA / file)
        for table, (words, unit) in held.items():
            entries = {"sources": raw["sources"], **raw[table]}
            shelves[table] = read_ranges(entries, f"{file}: {table}", words, unit)
    return shelves


def tables() -> tuple[str, ...]:
    """Names of the tables."""
    return tuple(TABLES)


def keys(table: str) -> tuple[str, ...]:
    """Entries of one table."""
    return tuple(_shelves()[resolve(table, TABLES, "table of facts")].ranges)


def fact(table: str, name: str) -> Range:
    """One fact.

    Parameters
    ----------
    table : str
        One of ``tables()``.
    name : str
        One of its ``keys``, or another name of it.

    Raises
    ------
    UnknownName
        For no such table or entry; the last line lists the nearest.

    Examples
    --------
    >>> fact("cell", "n5").low.text("µm2")
    '0.021 µm²'
    """
    shelf = _shelves()[resolve(table, TABLES, "table of facts")]
    return shelf.find(name, f"entry of {table!r}")

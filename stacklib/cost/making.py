"""Facts about making memory, each a range of dated quotes with their sources.

``fact("cell", "n5")`` is the area of an SRAM cell, ``fact("works", "dram")`` the share
of DRAM dies that work. ``tables()`` lists what there is.
"""

from __future__ import annotations

from functools import cache

from stacklib.hardware.sourced import read_toml
from stacklib.quantity import resolve

from .data import DATA, Range, _Shelf, read_ranges

__all__ = ["fact", "keys", "tables"]

FILE = "making.toml"
# table -> (words for labels, unit)
TABLES = {
    "cell": ("SRAM cell", "µm2"),
    "array": ("bits an area", "bit/mm2"),
    "density": ("bits an area", "bit/mm2"),
    "larger": ("area", ""),
    "works": ("that work", ""),
    "wafer": ("cost", "USD"),
    "dollars": ("cost", "USD"),
    "industry": ("", ""),
    "area": ("area", "mm2"),
}


@cache
def _shelves() -> dict[str, _Shelf]:
    raw = read_toml(DATA / FILE)
    return {
        table: read_ranges(
            {"sources": raw["sources"], **raw[table]}, f"{FILE}: {table}", words, unit
        )
        for table, (words, unit) in TABLES.items()
    }


def tables() -> tuple[str, ...]:
    """Names of the tables."""
    return tuple(TABLES)


def keys(table: str) -> tuple[str, ...]:
    """Entries of one table.

    Raises
    ------
    UnknownName
        For no such table.
    """
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
    '0.021 µm2'
    """
    shelf = _shelves()[resolve(table, TABLES, "table of facts")]
    return shelf.find(name, f"entry of {table!r}")

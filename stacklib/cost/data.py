"""Prices and defect densities as published, each with source and date.

Nobody publishes what a wafer costs or how many defects it has. What analysts and the
press say is kept side by side; a ``Range`` spans it, and its quotes say who said what
and when.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from stacklib import hardware
from stacklib.hardware.sourced import read_toml, read_value
from stacklib.quantity import Quantity, Source, maximum, minimum, resolve
from stacklib.quantity.core import _make

DATA = Path(__file__).parent / "data"
KINDS = ("cloud", "purchase", "launch", "used")


@dataclass(frozen=True, slots=True)
class Quote:
    """One published price or density."""

    value: Quantity  # with its source
    date: str  # when it held: ``2025``, ``2025-10`` or ``2025-10-31``
    what: str = ""  # for devices: ``cloud``, ``purchase``, ``launch`` or ``used``
    note: str = ""  # what it is of, where that is not plain


@dataclass(frozen=True, slots=True)
class Range:
    """What is said of one thing, from the lowest to the highest."""

    low: Quantity  # smallest
    high: Quantity  # largest quote; each is computed from all of them
    quotes: tuple[Quote, ...]  # every one, the oldest first
    name: str
    note: str = ""  # what the quotes leave open

    @property
    def sources(self) -> tuple[Source, ...]:
        """Who said it, without repeats."""
        found = [q.value.source for q in self.quotes if q.value.source is not None]
        return tuple(dict.fromkeys(found))


def read_quote(
    raw: dict[str, Any], sources: dict[str, Any], where: str, label: str, unit: str
) -> Quote:
    """A Quote from parsed TOML."""
    entry = dict(raw)
    date, what = entry.pop("date", ""), entry.pop("what", "")
    if not isinstance(date, str) or not re.fullmatch(r"\d{4}(-\d\d){0,2}", date):
        raise hardware.SpecError(f"{where}: date {date!r}: write 2025 or 2025-10")
    if "source" not in entry:
        raise hardware.SpecError(f"{where}: a price names its source")
    value = _reported(
        read_value(entry, sources, "", where, label, unit), sources[entry["source"]]
    )
    return Quote(value, date, what, entry.get("note", ""))


def _reported(value: Quantity, source: dict[str, Any]) -> Quantity:
    """What others tell of a maker is claimed; what it tells itself is its data sheet.

    ``source``: may say ``kind = "spec"`` where others print the maker's own figures.
    """
    others = source["confidence"] == "secondary" and source.get("kind") != "spec"
    return _make(value, kind="claimed") if others and value.kind == "spec" else value


def _keyed(value: Quantity, place: object) -> Quantity:
    """The same, with its place in the entry at the end of its key."""
    return _make(value, key=f"{value.key.replace(': ', '/')}.{place}")


@dataclass(frozen=True, slots=True)
class _Shelf:
    """One file of ranges: key to range, and every name a key answers to."""

    ranges: dict[str, Range]
    names: dict[str, str]

    def find(self, name: str, what: str) -> Range:
        return self.ranges[self.names[resolve(name, self.names, what)]]


def read_ranges(raw: dict[str, Any], where: str, words: str, unit: str) -> _Shelf:
    """The ranges of one file."""
    ranges: dict[str, Range] = {}
    names: dict[str, str] = {}
    for key, entry in raw.items():
        if key == "sources":
            continue
        place = f"{where}: {key}"
        if not entry.get("quotes") or not entry.get("name"):
            raise hardware.SpecError(f"{place}: a name and quotes are needed")
        label = f"{entry['name']} {words}"
        told = [
            read_quote(q, raw["sources"], place, label, unit) for q in entry["quotes"]
        ]
        told = [replace(q, value=_keyed(q.value, n)) for n, q in enumerate(told)]
        quotes = sorted(told, key=lambda quote: quote.date)
        values = [quote.value for quote in quotes]
        ranges[key] = Range(
            minimum(*values).to(values[0].unit).named(f"{label}, lowest"),
            maximum(*values).to(values[0].unit).named(f"{label}, highest"),
            tuple(quotes),
            entry["name"],
            entry.get("note", ""),
        )
        for name in (key, *entry.get("aliases", ())):
            if name in names:
                raise hardware.SpecError(f"{place}: {name!r} names {names[name]} too")
            names[name] = key
    return _Shelf(ranges, names)


@cache
def _shelf(file: str, words: str, unit: str) -> _Shelf:
    return read_ranges(read_toml(DATA / file), file, words, unit)


_WAFER = ("wafer.toml", "wafer price", "USD")
_DEFECTS = ("defects.toml", "defect density", "1/cm2")
_MEMORY = ("memory.toml", "price a gigabyte", "USD/GB")
_PACKAGING = ("packaging.toml", "packaging", "USD")


def names(what: str) -> tuple[str, ...]:
    """Keys of one shelf.

    Parameters
    ----------
    what : str
        ``"wafer"``, ``"defects"``, ``"memory"``, ``"packaging"``, ``"bills"`` or
        ``"prices"``.

    Raises
    ------
    UnknownName
        For any other.
    """
    keys: dict[str, Callable[[], Iterable[str]]] = {
        "wafer": lambda: _shelf(*_WAFER).ranges,
        "defects": lambda: _shelf(*_DEFECTS).ranges,
        "memory": lambda: _shelf(*_MEMORY).ranges,
        "packaging": lambda: _shelf(*_PACKAGING).ranges,
        "bills": _bills,
        "prices": _prices,
    }
    return tuple(keys[resolve(what, keys, "shelf")]())


def wafer_price(node: str) -> Range:
    """What a processed 300 mm wafer is said to cost.

    Raises
    ------
    UnknownName
        For a node nobody quotes; the last line lists the nearest.

    Examples
    --------
    >>> wafer_price("n5").low.text(), wafer_price("n5").high.text(digits=5)
    ('13,500 USD', '16,988 USD')
    """
    return _shelf(*_WAFER).find(node, "node")


def defect_density(node: str) -> Range:
    """What is said of the defects that kill, per area.

    Parameters
    ----------
    node : str
        Such as ``"n5"``, or ``"interposer"``.

    Raises
    ------
    UnknownName
        For a node without a published figure; the last line lists those there are.

    Examples
    --------
    >>> defect_density("n5").low.text(), defect_density("n5").high.text()
    ('0.06 1/cm²', '0.11 1/cm²')
    """
    return _shelf(*_DEFECTS).find(node, "node with a defect density")


def memory_price(kind: str) -> Range:
    """What a gigabyte of memory is said to cost.

    Parameters
    ----------
    kind : str
        ``"hbm3"``, ``"hbm3e"``, ``"hbm4"``, ``"ddr5"``, ``"ddr5_server"``,
        ``"ddr5_spot"`` or ``"nvme_tlc"``.

    Raises
    ------
    UnknownName
        For any other.
    """
    return _shelf(*_MEMORY).find(kind, "memory with a price")


def packaging_price(kind: str) -> Range:
    """What the packaging ``kind`` of one device is said to cost: ``"cowos_s"``.

    UnknownName for a kind that nobody quotes.
    """
    return _shelf(*_PACKAGING).find(kind, "packaging")


def read_prices(raw: dict[str, Any], where: str) -> dict[str, tuple[Quote, ...]]:
    """The prices of devices, by device key."""
    found: dict[str, tuple[Quote, ...]] = {}
    for key, entry in raw.items():
        if key == "sources":
            continue
        quotes: list[Quote] = []
        for cell in entry["quotes"]:
            place, what = f"{where}: {key}", cell.get("what", "")
            if what not in KINDS:
                raise hardware.SpecError(f"{place}: {what!r} is not {', '.join(KINDS)}")
            unit = "USD/s" if what == "cloud" else "USD"
            cell = {**cell, "unit": f"{cell.get('unit', '')} per_chip"}
            said = f"{key} {what} price"
            quote = read_quote(cell, raw["sources"], place, said, unit)
            value = _keyed(quote.value, f"quotes.{len(quotes)}")
            quotes.append(replace(quote, value=value))
        found[key] = tuple(sorted(quotes, key=lambda quote: (quote.date, quote.what)))
    return found


@cache
def _prices() -> dict[str, tuple[Quote, ...]]:
    return read_prices(read_toml(DATA / "prices.toml"), "prices.toml")


def prices(device: str, what: str = "") -> tuple[Quote, ...]:
    """Dated prices of a device, the oldest first; empty where none was found.

    Parameters
    ----------
    what : str
        ``"cloud"`` (rent), ``"purchase"`` (new), ``"launch"`` (list, on the day) or
        ``"used"``; all of them without it.

    Raises
    ------
    UnknownName
        For an unknown device or kind of price.
    """
    key = hardware.get(device).key
    kind = resolve(what, KINDS, "kind of price") if what else ""
    return tuple(q for q in _prices().get(key, ()) if kind in ("", q.what))


@dataclass(frozen=True, slots=True)
class Bill:
    """An estimated bill of materials."""

    parts: dict[str, Quantity]  # part to cost; empty where only the total is told
    total: Quantity
    date: str  # when it was told
    why: str = ""  # why the parts do not add up to the total, where they do not


@cache
def _bills() -> dict[str, Bill]:
    raw = read_toml(DATA / "bills.toml")
    found = {}
    for key, entry in raw.items():
        if key == "sources":
            continue
        place = f"bills.toml: {key}"
        found[key] = Bill(
            {
                n: _keyed(_line(part, raw["sources"], place, f"{key} {n}"), n)
                for n, part in entry.get("parts", {}).items()
            },
            _line(entry["total"], raw["sources"], place, f"{key} bill"),
            entry["date"],
            entry["total"].get("inconsistent", ""),
        )
    return found


def _line(
    entry: dict[str, Any], sources: dict[str, Any], place: str, label: str
) -> Quantity:
    value = read_value(entry, sources, "", place, label, "USD")
    return _reported(value, sources[entry["source"]])


def recorded() -> Iterator[Quantity]:
    """Every quote of the ranges, and every line of the bills."""
    for shelf in (_WAFER, _DEFECTS, _MEMORY, _PACKAGING):
        yield from (q.value for r in _shelf(*shelf).ranges.values() for q in r.quotes)
    for quotes in _prices().values():
        yield from (quote.value for quote in quotes)
    for found in _bills().values():
        yield from (*found.parts.values(), found.total)


def bill(device: str) -> Bill:
    """An estimated bill of materials of a device.

    Parameters
    ----------
    device : str
        One of those whose bill somebody estimated.

    Raises
    ------
    UnknownName
        For a device without one; the last line lists those there are.
    """
    return _bills()[resolve(device, _bills(), "device with a bill of materials")]

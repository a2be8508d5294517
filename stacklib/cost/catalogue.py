"""Parts of a machine that one builds: what decides whether they fit, with sources.

``parts("board")`` lists a kind, ``part("7960X")`` finds one. A field that no source
tells is *unknown*: asking for it raises, and what needs it cannot be decided. A card
refers to its device in ``hardware``, which gives power, memory, link and prices; a card
of ``hardware`` that nobody measured here is a part all the same, of unknown size.

``part["watts"]`` is a plain number in the unit of ``FIELDS``, and
``part.quantity("watts")`` the same with its source. Left out: what firmware forbids,
and prices outside the United States.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Any

from stacklib import hardware
from stacklib.hardware.accelerator import UnknownSpec
from stacklib.hardware.sourced import read_source, read_toml
from stacklib.quantity import Quantity, Source, UnknownName, maximum, minimum, resolve
from stacklib.quantity.core import _make

from .data import DATA, KINDS, Quote, Range, prices

TEXT, FLAG, LIST, ROWS = "text", "flag", "list", "rows"
UNKNOWN = "unknown"
# kind -> field -> (unit, or what sort of value it is; what the reader sees)
FIELDS: dict[str, dict[str, tuple[str, str]]] = {
    kind: {field: tuple(row) for field, row in rows.items()}
    for kind, rows in read_toml(DATA / "parts" / "fields.toml").items()
}
SORTS = {TEXT: str, FLAG: bool, LIST: list, ROWS: list}
# What no source has to tell: a plug that is not named is not there.
_PLUGS = {"plugs_16": 0, "plugs_8": 0, "plugs_eps": 0}
NONE: dict[str, dict[str, Any]] = {
    "gpu": {**_PLUGS, "rebar": False},
    "board": {"shares": (), "short": (), "u2": 0},
}


@dataclass(frozen=True, slots=True, eq=False)
class Component:
    """One part: plain values, the source of each, and dated prices."""

    kind: str
    key: str
    name: str
    values: Mapping[str, Any]  # field -> a number in its unit, a text, a list
    sources: Mapping[str, Source | None]
    quotes: tuple[Quote, ...] = ()  # the oldest first, in dollars
    device: str = ""  # of a card: its key in `hardware`

    def __getitem__(self, field: str) -> Any:
        if field in self.values:
            return self.values[field]
        known = FIELDS[self.kind]
        raise UnknownSpec(f"{self.name}: {known[field][1]} ({field}) is unknown")

    def get(self, field: str, default: Any = None) -> Any:
        """The value, or another where it is unknown."""
        return self.values.get(field, default)

    @property
    def unknown(self) -> tuple[str, ...]:
        """Fields that nobody told."""
        return tuple(f for f in FIELDS[self.kind] if f not in self.values)

    def quantity(self, field: str) -> Quantity:
        """A number of the part with its unit and source."""
        unit, words = FIELDS[self.kind][field]
        if unit in SORTS:
            raise ValueError(f"{field} of {self.key} is no number but a {unit}")
        if self.device and field in ("power", "memory"):
            names = {"power": "tdp", "memory": "memory_capacity"}
            found: Quantity = getattr(hardware.get(self.device), names[field])
            return found
        label, key = f"{self.name}, {words}", f"parts/{self.kind}/{self.key}.{field}"
        source = self.sources[field]
        return Quantity(
            self[field], unit, label=label, source=source, kind="spec", key=key
        )

    @property
    def dollars(self) -> float:
        """The newest price, the highest of its day; raises where there is none."""
        found = self.dollars_on(None)
        if found is None:
            raise UnknownSpec(f"{self.name}: its price is unknown")
        return found

    def dollars_on(self, date: str | None) -> float | None:
        """The newest price up to a date such as ``2025-10``; None where none is."""
        known = [q for q in self.quotes if date is None or q.date[: len(date)] <= date]
        newest = [float(q.value.si) for q in known if q.date == known[-1].date]
        return max(newest, default=None)

    @property
    def price(self) -> Range | None:
        """All its prices, from the lowest to the highest."""
        if not self.quotes:
            return None
        values = [quote.value for quote in self.quotes]
        return Range(minimum(*values), maximum(*values), self.quotes, self.name)


def read_parts(raw: Mapping[str, Any], kind: str) -> dict[str, Component]:
    """The parts of one table: by key.

    ``raw``: ``sources``, and by key ``name``, ``price`` (rows of dollars, date, kind of
    price, source), ``from.SOURCE.field``, and ``slots.SOURCE``, ``m2.SOURCE`` of a
    board.
    """
    resolve(kind, FIELDS, "kind of part", exact=True)
    sources = dict(raw.get("sources", {}))
    return {
        key: _read(key, entry, sources, kind)
        for key, entry in raw.items()
        if key != "sources"
    }


def _read(key: str, raw: Any, sources: dict[str, Any], kind: str) -> Component:
    place = f"{kind}.toml: {key}"
    if not isinstance(raw, dict) or not isinstance(raw.get("name"), str):
        raise hardware.SpecError(f"{place}: a name is needed")
    known = ("name", "device", "aliases", "price", "from", "slots", "m2")
    if strange := sorted({*raw} - {*known}):
        raise hardware.SpecError(f"{place}: unknown key {strange[0]!r}")
    values: dict[str, Any] = {}
    told: dict[str, Source | None] = {}
    for field, name, value in _told(raw):
        if field in told:
            raise hardware.SpecError(f"{place}: {field} is told twice")
        values[field] = _checked(value, FIELDS[kind], field, f"{place}.{field}")
        told[field] = read_source(sources, name, place, True)
    quotes = [
        _quote(row, sources, f"parts/{kind}/{key}.price.{n}", place)
        for n, row in enumerate(raw.get("price", ()))
    ]
    device = ""
    if kind == "gpu":
        device = hardware.get(raw.get("device", key)).key
        values = {**_of_device(device), **values}
        quotes += _device_quotes(device)
    values = {**NONE.get(kind, {}), **values}
    quotes.sort(key=lambda quote: quote.date)
    values = {f: v for f, v in values.items() if v != UNKNOWN}
    shown = MappingProxyType(values)
    whole = MappingProxyType({f: told.get(f) for f in values})
    return Component(kind, key, raw["name"], shown, whole, tuple(quotes), device)


def _told(raw: Mapping[str, Any]) -> Iterator[tuple[str, str, Any]]:
    """Field, source and value of all that an entry says."""
    for source, fields in raw.get("from", {}).items():
        for field, value in fields.items():
            yield field, source, value
    for field in ("slots", "m2"):
        for source, rows in raw.get(field, {}).items():
            yield field, source, rows


def _checked(
    value: Any, known: Mapping[str, tuple[str, str]], field: str, place: str
) -> Any:
    """A value of the sort that its field has."""
    if field not in known:
        raise hardware.SpecError(f"{place}: no such field; known: {', '.join(known)}")
    sort = SORTS.get(known[field][0])
    if value == UNKNOWN:
        return value
    if sort is None:
        fine = isinstance(value, int | float) and not isinstance(value, bool)
        fine = fine and 0 <= value < float("inf")
    else:
        fine = isinstance(value, sort)
    if not fine:
        wanted = "number from 0" if sort is None else sort.__name__
        raise hardware.SpecError(f"{place}: {value!r} is no {wanted}")
    return _frozen(value)


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


def _quote(row: Any, sources: dict[str, Any], key: str, place: str) -> Quote:
    if not isinstance(row, list) or len(row) != 4:
        raise hardware.SpecError(
            f"{place}: a price is [dollars, date, kind of price, source], not {row!r}"
        )
    dollars, date, what, source = row
    dated = isinstance(date, str) and re.fullmatch(r"\d{4}(-\d\d){0,2}", date)
    if not dated or what not in KINDS:
        raise hardware.SpecError(
            f"{place}: price {row!r}: write a date such as 2025-10, and one of "
            f"{', '.join(KINDS)}"
        )
    number = isinstance(dollars, int | float) and not isinstance(dollars, bool)
    if not number or not 0 <= dollars < float("inf"):
        raise hardware.SpecError(f"{place}: price {dollars!r}: dollars from 0")
    value = Quantity(
        dollars,
        "USD",
        label=f"price, {what}",
        source=read_source(sources, source, place, True),
        kind="claimed",
        key=key,
    )
    return Quote(value, date, what)


def _of_device(key: str) -> dict[str, Any]:
    """What ``hardware`` tells of a card."""
    device = hardware.get(key)
    values: dict[str, Any] = {}
    if tdp := device.fields.get("tdp"):
        values["power"] = tdp.si
    if memory := device.fields.get("memory_capacity"):
        values["memory"] = memory.to("GB").value
    if found := re.fullmatch(r"pcie(\d)_x(\d+)", device.host_link_key):
        values["generation"], values["lanes"] = int(found[1]), int(found[2])
    return values


def _device_quotes(key: str) -> list[Quote]:
    quotes = [q for q in prices(key) if q.what != "cloud"]
    device = hardware.get(key)
    price = device.fields.get("purchase_price")
    if not quotes and price is not None:
        quotes = [Quote(price, str(device.year), "launch")]
    return [Quote(_make(q.value), q.date, q.what, q.note) for q in quotes]


@cache
def _table(kind: str) -> Mapping[str, Component]:
    raw = read_toml(DATA / "parts" / f"{kind}.toml")
    return MappingProxyType(read_parts(raw, kind))


@cache
def _names(kind: str) -> Mapping[str, str]:
    raw = read_toml(DATA / "parts" / f"{kind}.toml")
    names = {}
    for key, entry in raw.items():
        if key != "sources":
            for name in (key, entry["name"], *entry.get("aliases", ())):
                names[name] = key
    return MappingProxyType(names)


@cache
def _bare(key: str) -> Component:
    """A card of ``hardware`` that has no row here: its size and plugs are unknown."""
    values = {**_of_device(key), "rebar": False}
    name = hardware.get(key).name
    told = MappingProxyType(dict.fromkeys(values))
    quotes = tuple(sorted(_device_quotes(key), key=lambda quote: quote.date))
    return Component("gpu", key, name, MappingProxyType(values), told, quotes, key)


def parts(kind: str) -> tuple[Component, ...]:
    """The parts of one kind, in the order of their table.

    Parameters
    ----------
    kind : str
        ``"gpu"``, ``"cpu"``, ``"board"``, ``"memory"``, ``"psu"``, ``"storage"``,
        ``"case"``, ``"cooler"``, ``"cable"`` or ``"riser"``.

    Raises
    ------
    UnknownName
        For any other; the last line lists the nearest.

    Examples
    --------
    >>> [part.name for part in parts("cpu")][:2]
    ['AMD Ryzen Threadripper 7960X', 'AMD Ryzen Threadripper PRO 7965WX']
    """
    return tuple(_table(resolve(kind, FIELDS, "kind of part")).values())


def part(name: str, kind: str = "") -> Component:
    """The part of this name, of one kind or of any.

    Case, hyphens, underscores and spaces do not matter; the beginning of a name is
    enough where one part has it. A card may be named by any name of its device.
    """
    kinds = [resolve(kind, FIELDS, "kind of part")] if kind else [*FIELDS]
    known = {n: (k, key) for k in kinds for n, key in _names(k).items()}
    try:
        found, key = known[resolve(name, known, kind or "part")]
    except UnknownName:
        if "gpu" not in kinds:
            raise
        device = _card(name)
        if not device:
            raise
        return _table("gpu").get(device) or _bare(device)
    return _table(found)[key]


def _card(name: str) -> str:
    """The key of a device that goes into a slot, or nothing."""
    try:
        device = hardware.get(name)
    except UnknownName:
        return ""
    fits = device.host_link_key.startswith("pcie") and "_sxm" not in device.key
    return device.key if fits and device.kind == "gpu" else ""


def recorded() -> Iterator[Quantity]:
    """Every number and every price of the catalogue, with its key."""
    for kind in FIELDS:
        for found in parts(kind):
            for field in found.values:
                if FIELDS[kind][field][0] not in SORTS and found.sources[field]:
                    yield found.quantity(field)
            yield from (
                q.value for q in found.quotes if q.value.key.startswith("parts")
            )

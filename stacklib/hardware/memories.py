"""Memories: pins, rate a pin, bandwidth, stack heights, capacity, energy.

``memory("hbm3")`` finds a memory, ``memory_names()`` lists them. An entry is one
*stack*, one *device* (a graphics DRAM chip), one *channel*, or a *platform*: a
processor's whole set of channels. Its rates are the highest of the generation; what a
product runs stands with the device.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from types import MappingProxyType
from typing import Any, ClassVar

from stacklib.quantity import Quantity, resolve

from .accelerator import Known
from .links import LINK_DATA
from .load import SpecError
from .sourced import check_keys, read_fields, read_toml

# field -> (unit whose dimension it must have, what the reader sees)
MEMORY_FIELDS: dict[str, tuple[str, str]] = {
    "pins": ("", "data pins"),
    "pin_rate": ("bit/s", "rate a pin"),
    "bandwidth": ("B/s", "bandwidth"),
    "channels": ("", "channels"),
    "channel_bandwidth": ("B/s", "bandwidth of a channel"),
    "height": ("", "dies in the tallest stack"),
    "die_capacity": ("bit", "capacity of a die"),
    "capacity": ("B", "capacity"),
    "latency": ("s", "latency"),
    "energy": ("J/bit", "energy a bit"),
}
ALWAYS = ("pins", "pin_rate", "bandwidth", "latency", "energy")
# what one entry is -> the fields that make sense for it
PARTS = {
    "stack": (*ALWAYS, "channels", "height", "die_capacity", "capacity"),
    "device": (*ALWAYS, "die_capacity", "capacity"),
    "channel": ALWAYS,
    "DIMM": ALWAYS,  # two sub-channels of DDR5, each with a command bus of its own
    "platform": (*ALWAYS, "channels", "channel_bandwidth"),
}
TEXTS = ("name", "short", "part", "source")


@dataclass(frozen=True, slots=True, repr=False)
class Memory(Known):
    """A kind of memory: names, fields, stack heights, and where figures disagree.

    Fields are attributes (``memory.pin_rate``) and raise ``UnknownSpec`` where the
    value is not known or the part has no such field.
    """

    _known: ClassVar = MEMORY_FIELDS
    key: str
    name: str
    short: str
    part: str
    year: int
    heights: tuple[int, ...]  # dies a stack may have; empty where nothing is stacked
    fields: Mapping[str, Quantity | None]
    notes: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    inconsistent: Mapping[str, str] = field(
        default_factory=lambda: MappingProxyType({})
    )


def memory_from_dict(
    key: str, raw: dict[str, Any], sources: dict[str, Any], where: str
) -> Memory:
    """A Memory from parsed TOML."""
    place = f"{where}: {key}"
    check_keys(raw, place, (*TEXTS, "year", "fields"), ("heights", "note"))
    if raw["part"] not in PARTS:
        raise SpecError(f"{place}: part {raw['part']!r} is not {', '.join(PARTS)}")
    known = {n: MEMORY_FIELDS[n] for n in PARTS[raw["part"]]}
    read = read_fields(
        raw["fields"], sources, raw["source"], place, raw["short"], known
    )
    heights = tuple(raw.get("heights", ()))
    tallest = read.values.get("height")
    if tallest is not None and tallest.si not in heights:
        raise SpecError(f"{place}: height {tallest.si:g} is not among {heights}")
    notes = {**read.notes, **({"": raw["note"]} if "note" in raw else {})}
    return Memory(
        key,
        raw["name"],
        raw["short"],
        raw["part"],
        raw["year"],
        heights,
        MappingProxyType(dict(read.values)),
        MappingProxyType(notes),
        MappingProxyType(dict(read.inconsistent)),
    )


@cache
def _memories() -> dict[str, Memory]:
    path = LINK_DATA / "memory.toml"
    raw = read_toml(path)
    sources = raw.pop("sources")
    return {k: memory_from_dict(k, r, sources, path.name) for k, r in raw.items()}


def memory_names() -> tuple[str, ...]:
    """Keys of all memories, in file order."""
    return tuple(_memories())


def memory(name: str) -> Memory:
    """The memory of this name; case, hyphens and underscores do not matter.

    Raises
    ------
    UnknownName
        When none or several answer to it; the last line lists the candidates.
    SpecError
        When the file of memories is incomplete.

    Examples
    --------
    >>> memory("HBM3").bandwidth.text("GB/s")
    '819 GB/s'
    """
    return _memories()[resolve(name, memory_names(), "memory")]

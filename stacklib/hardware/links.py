"""Links: lanes, coding, one direction and both, latency, energy.

``link("nvlink5")`` finds a link, ``link_names()`` lists them. One direction is
``.per_direction``; a vendor's total that counts both is ``.bidirectional``. The units
carry the difference, so that the two cannot be mixed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar

from stacklib.quantity import Quantity, resolve

from .accelerator import Known
from .load import SpecError
from .sourced import check_keys, read_fields, read_toml

LINK_DATA = Path(__file__).parent / "data" / "links"
CATEGORIES = (
    "host",
    "scaleup",
    "network",
    "switch",
    "die-to-die",
    "coherent",
    "storage",
)
ONE_WAY = "B/s per_direction"

# field -> (unit with the tags it must have, what the reader sees)
LINK_FIELDS: dict[str, tuple[str, str]] = {
    "links": ("", "links"),
    "lanes": ("", "lanes a link, one direction"),
    "lane_rate": ("bit/s per_direction", "signalling rate a lane"),
    "encoding_efficiency": ("", "share left by the line coding"),
    "link_bandwidth": (ONE_WAY, "bandwidth of one link"),
    "per_direction": (ONE_WAY, "bandwidth, one direction"),
    "bidirectional": ("B/s bidirectional", "bandwidth, both directions"),
    "latency": ("s", "latency"),
    "energy": ("J/bit", "energy a bit"),
    "achieved": (ONE_WAY, "achieved bandwidth, one direction"),
    "ports": ("", "ports"),
    "reduction": ("FLOP/s", "arithmetic in the switch"),
}
SWITCH_ONLY = ("ports", "reduction")
TEXTS = ("name", "short", "encoding", "source")


@dataclass(frozen=True, slots=True, repr=False)
class Link(Known):
    """A link or a switch: names, fields, and where its figures disagree.

    Fields are attributes (``link.per_direction``) and raise ``UnknownSpec`` where the
    value is not known; ``link.fields`` holds None there. ``links`` are those of one
    device, ``per_direction`` is all of them together; for a switch it is all ports.
    """

    _known: ClassVar = LINK_FIELDS
    key: str
    name: str
    short: str
    category: str
    year: int
    encoding: str
    fields: Mapping[str, Quantity | None]  # field to quantity or None
    notes: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    inconsistent: Mapping[str, str] = field(
        default_factory=lambda: MappingProxyType({})
    )


def link_from_dict(
    key: str, raw: dict[str, Any], sources: dict[str, Any], category: str, where: str
) -> Link:
    """A Link from parsed TOML."""
    place = f"{where}: {key}"
    check_keys(raw, place, (*TEXTS, "year", "fields"), ("note",))
    if category not in CATEGORIES:
        raise SpecError(f"{where}: category {category!r} is not one of {CATEGORIES}")
    skip = ("links", "achieved") if category == "switch" else SWITCH_ONLY
    known = {n: words for n, words in LINK_FIELDS.items() if n not in skip}
    read = read_fields(
        raw["fields"],
        sources,
        raw["source"],
        place,
        raw["short"],
        known,
        optional=("achieved",),
    )
    share = read.values["encoding_efficiency"]
    if share is not None and share.si > 1:
        raise SpecError(f"{place}: encoding_efficiency {share.si} is above 1")
    notes = {**read.notes, **({"": raw["note"]} if "note" in raw else {})}
    return Link(
        key,
        raw["name"],
        raw["short"],
        category,
        raw["year"],
        raw["encoding"],
        MappingProxyType(dict(read.values)),
        MappingProxyType(notes),
        MappingProxyType(dict(read.inconsistent)),
    )


@cache
def _links() -> dict[str, Link]:
    found: dict[str, Link] = {}
    for category in CATEGORIES:
        path = LINK_DATA / f"{category}.toml"
        raw = read_toml(path)
        sources = raw.pop("sources")
        for key, entry in raw.items():
            if key in found:
                raise SpecError(f"{path.name}: {key} is in two files")
            found[key] = link_from_dict(key, entry, sources, category, path.name)
    return found


def link_names() -> tuple[str, ...]:
    """Keys of all links, by category."""
    return tuple(_links())


def link(name: str) -> Link:
    """The link of this name; case, hyphens and underscores do not matter.

    Raises
    ------
    UnknownName
        When none or several answer to it; the last line lists the candidates.
    SpecError
        When a file of links is incomplete or contradicts itself.

    Examples
    --------
    >>> link("nvlink-5").per_direction.text()
    '900 GB/s'
    >>> link("nvlink5").bidirectional.text("TB/s")
    '1.8 TB/s'
    """
    return _links()[resolve(name, link_names(), "link")]


def ladder() -> tuple[Link, ...]:
    """Links whose one-way bandwidth is known, the fastest first."""
    known = [k for k in _links().values() if k.fields["per_direction"] is not None]
    return tuple(sorted(known, key=lambda k: -k.per_direction.si))

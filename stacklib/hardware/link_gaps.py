"""What physics ties together in links and memories, and how far it is apart."""

from __future__ import annotations

from dataclasses import dataclass

from stacklib.quantity import Quantity

from .links import Link, link, link_names
from .memories import Memory, memory, memory_names


@dataclass(frozen=True, slots=True)
class Gap:
    """One relation: ``gap`` is predicted over published, less one."""

    key: str  # the link or memory
    relation: str  # for example ``"lanes x rate x encoding"``
    predicts: str  # the field it predicts
    gap: float  # relative; zero when they agree
    why: str = ""


Relation = tuple[str, str, Quantity | None]


def _product(*parts: Quantity | None) -> Quantity | None:
    """The product, or None where a part is unknown."""
    total: Quantity | None = None
    for part in parts:
        if part is None:
            return None
        total = part if total is None else total * part
    return total


def _gaps(thing: Link | Memory, relations: list[Relation]) -> dict[str, float]:
    found: dict[str, float] = {}
    for relation, predicts, built in relations:
        published = thing.fields.get(predicts)
        if built is not None and published is not None:
            found[relation] = built.to(published.unit or "1").si / published.si - 1
    return found


def _link_relations(a: Link) -> list[Relation]:
    f = a.fields
    one_way = f["per_direction"]
    count, words = f.get("links"), "links x link"
    if a.category == "switch":
        count, words = f["ports"], "ports x link"
    return [
        (
            "lanes x rate x encoding",
            "link_bandwidth",
            _product(f["lanes"], f["lane_rate"], f["encoding_efficiency"]),
        ),
        (words, "per_direction", _product(count, f["link_bandwidth"])),
        (
            "twice one direction",
            "bidirectional",
            None if one_way is None else one_way.retag("bidirectional", 2),
        ),
    ]


def _memory_relations(m: Memory) -> list[Relation]:
    get = m.fields.get
    return [
        ("pins x rate", "bandwidth", _product(get("pins"), get("pin_rate"))),
        (
            "channels x channel",
            "bandwidth",
            _product(get("channels"), get("channel_bandwidth")),
        ),
        ("height x die", "capacity", _product(get("height"), get("die_capacity"))),
    ]


def link_residuals(link: Link) -> dict[str, float]:
    """Relative gaps between the published figures of a link that physics ties."""
    return _gaps(link, _link_relations(link))


def memory_residuals(memory: Memory) -> dict[str, float]:
    """Relative gaps between the published figures of a memory that physics ties."""
    return _gaps(memory, _memory_relations(memory))


def _of(thing: Link | Memory) -> list[Gap]:
    rows = (
        _link_relations(thing) if isinstance(thing, Link) else _memory_relations(thing)
    )
    gaps = _gaps(thing, rows)
    return [
        Gap(thing.key, words, field, gaps[words], thing.inconsistent.get(field, ""))
        for words, field, _ in rows
        if words in gaps
    ]


def worst_gaps(count: int | None = None) -> list[Gap]:
    """Relations of all links and memories, the widest gap first."""
    things: list[Link | Memory] = [
        *(link(n) for n in link_names()),
        *(memory(n) for n in memory_names()),
    ]
    gaps = [gap for thing in things for gap in _of(thing)]
    return sorted(gaps, key=lambda g: -abs(g.gap))[:count]

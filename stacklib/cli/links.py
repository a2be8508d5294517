"""``stacklib links [NAME]``: the ladder of links, or one link with its sources."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from .arguments import add_formats, as_table, columns, emit, show_table

if TYPE_CHECKING:
    from stacklib.hardware.links import Link
    from stacklib.hardware.memories import Memory
    from stacklib.quantity import Quantity

SHOWN = 5  # gaps in the audit
FAMILIES = {
    "infiniband": ("ib_hdr", "ib_ndr", "ib_xdr"),
    "ethernet": ("eth_100g", "eth_200g", "eth_400g", "eth_800g", "uec_1_0"),
    "infinity fabric": ("if_mi250x", "if_mi300x", "if_mi355x"),
    "pci express": ("pcie3_x16", "pcie4_x16", "pcie5_x16", "pcie6_x16"),
}


def add_parser(subparsers: Any) -> None:
    """Register the command."""
    parser = subparsers.add_parser(
        "links",
        description=(
            "Without a name, every link by its bandwidth in one direction, and every "
            "memory by its bandwidth."
        ),
    )
    parser.add_argument("name", nargs="?", help="a link or memory, such as nvlink5")
    parser.add_argument(
        "--audit",
        action="store_true",
        help="count fields by where they come from, and the widest gaps",
    )
    add_formats(parser)
    parser.set_defaults(func=run)


def _find(name: str) -> Link | Memory:
    from stacklib import hardware
    from stacklib.quantity import resolve

    links = hardware.link_names()
    known = (*links, *hardware.memory_names())
    key = resolve(name, known, "link or memory", FAMILIES)
    return hardware.link(key) if key in links else hardware.memory(key)


def _everything() -> list[Link | Memory]:
    from stacklib import hardware

    return [
        *(hardware.link(name) for name in hardware.link_names()),
        *(hardware.memory(name) for name in hardware.memory_names()),
    ]


def _speed(thing: Link | Memory) -> Quantity | None:
    return thing.fields.get("per_direction") or thing.fields.get("bandwidth")


def _text(thing: Link | Memory, name: str, unit: str = "") -> str:
    value = thing.fields.get(name)
    if value is None:
        return "-"
    mark = "~" if name in thing.estimates else ""
    return f"{mark}{value.text(unit or None)}"


def _summary(thing: Link | Memory) -> tuple[str, ...]:
    speed = _speed(thing)
    both = thing.fields.get("bidirectional")
    return (
        thing.key,
        thing.name,
        getattr(thing, "category", "memory"),
        "unknown" if speed is None else speed.text("GB/s", 4),
        "-" if both is None else both.text("GB/s", 5),
        _text(thing, "latency"),
        _text(thing, "energy"),
    )


def _row(name: str, value: Quantity | None, note: str) -> tuple[str, ...]:
    if value is None:
        return (name, "unknown", "", note)
    source = value.source
    assert source is not None  # the loader gives every field one
    words = [source.confidence, *(["inherited"] if source.inherited else [])]
    if value.kind == "assumed":
        words.append("estimate")
    shown = " ".join([value.text(digits=6), *sorted(value.tags)])
    return (name, shown, f"{source.title} ({', '.join(words)}, {source.seen})", note)


def audit() -> dict[str, Any]:
    """Fields by where they come from, and the widest gaps between them."""
    from stacklib import hardware
    from stacklib.hardware.link_gaps import worst_gaps

    things = _everything()
    values = [value for thing in things for value in thing.fields.values()]
    known = [value for value in values if value is not None]
    inherited = sum(
        value.source is not None and value.source.inherited for value in known
    )
    return {
        "links": len(hardware.link_names()),
        "memories": len(hardware.memory_names()),
        "fields": len(values),
        "own source": len(known) - inherited,
        "inherited": inherited,
        "unknown": len(values) - len(known),
        "estimates": sum(len(thing.estimates) for thing in things),
        "relations": len(worst_gaps()),
        "widest gaps": [
            {"key": g.key, "relation": g.relation, "gap": g.gap, "why": g.why}
            for g in worst_gaps(SHOWN)
        ],
    }


def _show_audit(args: argparse.Namespace) -> None:
    counts = audit()
    if args.json:
        return emit(counts)
    gaps = counts.pop("widest gaps")
    rows = [(words, str(count)) for words, count in counts.items()]
    if as_table(args):
        return show_table(args, ("what", "count"), rows)
    print(columns(rows))
    print("\nwidest gaps between published figures")
    print(
        columns([(g["key"], g["relation"], f"{g['gap']:+.2%}", g["why"]) for g in gaps])
    )


def _as_json(thing: Link | Memory) -> dict[str, Any]:
    fields = thing.fields.items()
    return {
        "key": thing.key,
        "name": thing.name,
        "category": getattr(thing, "category", "memory"),
        "year": thing.year,
        "estimates": list(thing.estimates),
        "notes": dict(thing.notes),
        "inconsistent": dict(thing.inconsistent),
        "fields": {n: q.tree() if q is not None else "unknown" for n, q in fields},
    }


def _show_one(thing: Link | Memory, args: argparse.Namespace) -> None:
    if args.json:
        return emit(_as_json(thing))
    fields = thing.fields.items()
    rows = [_row(n, q, thing.notes.get(n, "")) for n, q in fields]
    head = ("field", "value", "source", "note")
    if as_table(args):
        return show_table(args, head, rows)
    print(thing.name)
    if "" in thing.notes:
        print(thing.notes[""])
    show_table(args, head, rows)
    for field, why in thing.inconsistent.items():
        print(f"{field} contradicts the fields that predict it: {why}")


def run(args: argparse.Namespace) -> int:
    """Print one link or memory, the ladder, or the audit."""
    if args.audit:
        _show_audit(args)
        return 0
    if args.name:
        _show_one(_find(args.name), args)
        return 0
    things = sorted(_everything(), key=_fastest_first)
    if args.json:
        emit({"links": [_as_json(thing) for thing in things]})
        return 0
    head = ("key", "name", "category", "one way", "both ways", "latency", "energy")
    show_table(args, head, [_summary(thing) for thing in things])
    if not as_table(args):
        print("~ estimate; a memory's bandwidth is shared by reads and writes")
    return 0


def _fastest_first(thing: Link | Memory) -> float:
    speed = _speed(thing)
    return 0.0 if speed is None else -speed.si

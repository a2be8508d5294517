"""``stacklib specs [DEVICE]``: fields with their sources."""

from __future__ import annotations

import argparse
import dataclasses
from typing import TYPE_CHECKING, Any

from .arguments import add_formats, as_table, columns, emit, show_table

if TYPE_CHECKING:
    from stacklib.hardware import Accelerator
    from stacklib.hardware.constants_audit import ConstantAudit
    from stacklib.hardware.survey import Audit
    from stacklib.quantity import Quantity

WORST = 10  # gaps listed by --audit
HEAD = ("key", "device", "memory", "bandwidth", "formats")


def add_parser(subparsers: Any) -> None:
    """Register the command."""
    parser = subparsers.add_parser(
        "specs", description="Without a name, all devices in one line each."
    )
    parser.add_argument("device", nargs="?", help="a device, such as h100-sxm")
    parser.add_argument(
        "--audit",
        action="store_true",
        help="count fields by source, list the widest gaps",
    )
    add_formats(parser)
    parser.set_defaults(func=run)


def _row(name: str, value: Quantity | None) -> tuple[str, ...]:
    if value is None:
        return (name, "unknown", "")
    source = value.source
    assert source is not None  # the loader gives every field one
    note = ", inherited" if source.inherited else ""
    tags = " ".join(t for t in sorted(value.tags) if t != "per_chip")
    shown = f"{value.text(digits=6)} {tags}".rstrip()
    return (name, shown, f"{source.title} ({source.confidence}{note}, {source.seen})")


def _audit_json(found: Audit, kept: ConstantAudit) -> dict[str, Any]:
    return {
        "devices": found.devices,
        "fields": found.fields,
        "own source": found.own,
        "inherited": found.inherited,
        "unknown": found.unknown,
        "confidence": dict(found.confidence),
        "second source": found.second,
        "alone": {name: list(keys) for name, keys in found.alone_by_field.items()},
        "relations": len(found.gaps),
        "worst": [
            {"device": g.key, "relation": g.relation, "gap": g.gap}
            for g in found.agreeing[:WORST]
        ],
        "inconsistent": [
            {"device": device, "place": place, "why": why}
            for device, place, why in found.inconsistent
        ],
        "constants": dataclasses.asdict(kept),
        "ports": _ports(),
    }


def _ports() -> dict[str, int]:
    """Lanes and latencies of the clock's ports, by the confidence of their sources."""
    from stacklib.gpu.issue import ports

    return ports.audit()


def _audit_counts(found: Audit, kept: ConstantAudit) -> list[tuple[str, str]]:
    """Devices, fields by where they come from, relations, and constants."""
    counts = {
        "devices": found.devices,
        "fields": found.fields,
        "  own source": found.own,
        "  inherited": found.inherited,
        "  unknown": found.unknown,
    }
    rows = [(name, str(count)) for name, count in counts.items()]
    by_count = sorted(found.confidence.items(), key=lambda item: -item[1])
    rows += [(f"  {name}", str(count)) for name, count in by_count]
    return [
        *rows,
        ("held to a second source", str(found.second)),
        ("relations between figures", str(len(found.gaps))),
        ("one source and no relation", str(len(found.alone))),
        *((f"  {name}", str(len(k))) for name, k in found.alone_by_field.items()),
        ("constants of architectures", str(kept.constants)),
        ("  computed again from the source's line", str(kept.held)),
        ("  of a neighbour", str(kept.inherited)),
        ("  recalled", str(kept.recalled)),
        ("lanes and latencies of ports", str(sum(_ports().values()))),
        *((f"  {name}", str(count)) for name, count in sorted(_ports().items())),
    ]


def _audit_text(found: Audit, kept: ConstantAudit) -> str:
    """Counts, then the widest gaps that nothing explains, then those explained."""
    widest = found.agreeing[:WORST]
    worst = [(g.key, g.relation, f"{g.gap:+.2%}") for g in widest]
    parts = [columns(_audit_counts(found, kept))]
    if worst:
        parts += ["\nWidest gaps among figures that should agree", columns(worst)]
    if found.inconsistent:
        explained = columns(list(found.inconsistent))
        parts += ["\nPublished figures that contradict others", explained]
    if kept.faults:
        parts += ["\nConstants that are not what their source printed", *kept.faults]
    return "\n".join(parts)


def run(args: argparse.Namespace) -> int:
    """Print one device, all of them, or the audit."""
    from stacklib import hardware
    from stacklib.hardware.survey import audit, entries

    names = [args.device] if args.device else list(hardware.names())
    devices = [hardware.get(name) for name in names]
    if args.audit:
        return _audit(audit(devices), args)
    if args.json:
        emit({"devices": [_as_json(d) for d in devices]})
    elif args.device:
        if not as_table(args):
            print(devices[0].name)
        fields = [_row(*item) for item in entries(devices[0]).items()]
        show_table(args, ("field", "value", "source"), fields)
    else:
        show_table(args, HEAD, [_summary(d) for d in devices])
    return 0


def _audit(found: Audit, args: argparse.Namespace) -> int:
    """Exit code 1 where a constant is not what its source printed."""
    from stacklib.hardware.constants_audit import audit_constants
    from stacklib.hardware.microarchitectures import constants

    kept = audit_constants(constants())
    if args.json:
        emit(_audit_json(found, kept))
    elif as_table(args):
        counts = [(what.strip(), n) for what, n in _audit_counts(found, kept)]
        show_table(args, ("what", "count"), counts)
    else:
        print(_audit_text(found, kept))
    return 1 if kept.faults else 0


def _summary(device: Accelerator) -> tuple[str, ...]:
    fields = device.fields
    shown = [fields["memory_capacity"], fields["memory_bandwidth"]]
    texts = [v.text() if v is not None else "unknown" for v in shown]
    return (device.key, device.name, *texts, " ".join(device.formats))


def _as_json(device: Accelerator) -> dict[str, Any]:
    from stacklib.hardware.survey import entries

    return {
        "key": device.key,
        "name": device.name,
        "vendor": device.vendor,
        "year": device.year,
        "kind": device.kind,
        "architecture": device.architecture,
        "compute_capability": device.compute_capability,
        "aliases": list(device.aliases),
        "fields": {
            name: value.tree() if value is not None else "unknown"
            for name, value in entries(device).items()
        },
    }

"""``stacklib specs [DEVICE]``: fields with their sources."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from .arguments import add_json, columns, emit

if TYPE_CHECKING:
    from stacklib.hardware import Accelerator
    from stacklib.quantity import Quantity


def add_parser(subparsers: Any) -> None:
    """Register the command."""
    parser = subparsers.add_parser(
        "specs",
        help="what is known of a device, with sources",
        description="Without a name, all devices in one line each.",
    )
    parser.add_argument("device", nargs="?", help="a device, such as h100-sxm")
    parser.add_argument(
        "--audit", action="store_true", help="count fields by where they come from"
    )
    add_json(parser)
    parser.set_defaults(func=run)


def _entries(device: Accelerator) -> dict[str, Quantity | None]:
    peaks = {f"peak {name}": peak.rate for name, peak in device.peaks.items()}
    return {**device.fields, **peaks}


def _row(name: str, value: Quantity | None) -> tuple[str, ...]:
    if value is None:
        return (name, "unknown", "")
    source = value.source
    assert source is not None  # the loader gives every field one
    note = ", inherited" if source.inherited else ""
    tags = " ".join(t for t in sorted(value.tags) if t != "per_chip")
    shown = f"{value.text(digits=6)} {tags}".rstrip()
    return (name, shown, f"{source.title} ({source.confidence}{note}, {source.seen})")


def audit(devices: list[Accelerator]) -> dict[str, int]:
    """Fields in all, with a source of their own, inherited, and unknown."""
    values = [v for d in devices for v in _entries(d).values()]
    sources = [v.source for v in values if v is not None and v.source]
    inherited = sum(s.inherited for s in sources)
    return {
        "devices": len(devices),
        "fields": len(values),
        "own source": len(sources) - inherited,
        "inherited": inherited,
        "unknown": sum(v is None for v in values),
    }


def run(args: argparse.Namespace) -> int:
    """Print one device, all of them, or the audit."""
    from stacklib import hardware

    names = [args.device] if args.device else list(hardware.names())
    devices = [hardware.get(name) for name in names]
    if args.audit:
        counts = audit(devices)
        if args.json:
            emit(counts)
        else:
            print(columns([(k, str(v)) for k, v in counts.items()]))
        return 0
    if args.json:
        emit({"devices": [_as_json(d) for d in devices]})
    elif args.device:
        print(devices[0].name)
        print(columns([_row(*item) for item in _entries(devices[0]).items()]))
    else:
        print(columns([_summary(d) for d in devices]))
    return 0


def _summary(device: Accelerator) -> tuple[str, ...]:
    fields = device.fields
    shown = [fields["memory_capacity"], fields["memory_bandwidth"]]
    texts = [v.text() if v is not None else "unknown" for v in shown]
    return (device.key, device.name, *texts, " ".join(device.formats))


def _as_json(device: Accelerator) -> dict[str, Any]:
    return {
        "key": device.key,
        "name": device.name,
        "vendor": device.vendor,
        "year": device.year,
        "kind": device.kind,
        "fields": {
            name: value.tree() if value is not None else "unknown"
            for name, value in _entries(device).items()
        },
    }

"""``stacklib measure``: the roofline of this machine."""

from __future__ import annotations

import argparse
from typing import Any

from .arguments import add_json


def add_parser(subparsers: Any) -> None:
    """Register the command."""
    parser = subparsers.add_parser(
        "measure",
        description="Bandwidth by working set (triad) and arithmetic rate (matrix "
        "product), then stored so that 'this_machine' means yours.",
    )
    parser.add_argument(
        "--full", action="store_true", help="about a minute instead of seconds"
    )
    parser.add_argument(
        "--levels",
        action="store_true",
        help="only the memory levels that one core's bandwidth shows, about a second",
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="measure, but store nothing"
    )
    add_json(parser)
    parser.set_defaults(func=run)


def run(args: argparse.Namespace) -> int:
    """Measure, print, store."""
    if args.levels:
        return levels(args.json)
    from stacklib.hardware.this_machine import store_machine
    from stacklib.roofline.host.measure import measure_host

    host = measure_host(quick=not args.full, progress=False if args.json else None)
    print(host.to_json() if args.json else host.text())
    if not args.dry_run:
        path = store_machine(host.to_json())
        if not args.json:
            print(f"stored in {path}; 'this_machine' now means this one")
    return 0


def levels(as_json: bool) -> int:
    """Find the memory levels of this machine and print them beside what it reports."""
    import json

    from stacklib.hardware.this_machine import read_machine
    from stacklib.quantity import Quantity
    from stacklib.roofline.host import streams

    found = streams.found_levels(
        streams.sweep(quick=True, names=("triad",), threads=(1,))
    )
    reported = [c.bytes for c in read_machine().caches]
    if as_json:
        rows = [{"bytes_per_s": p.rate, "ends_bytes": p.ends} for p in found]
        print(json.dumps({"found": rows, "reported_bytes": reported}))
        return 0
    for p in found:
        ends = f"until {size_text(p.ends)}" if p.ends else "beyond"
        print(f"{Quantity(p.rate, 'B/s').text('GB/s'):>12} {ends}")
    sizes = ", ".join(map(size_text, reported))
    print(f"caches as reported: {sizes or 'unknown'}")
    return 0


def size_text(size: float) -> str:
    """Bytes in the binary unit that fits them."""
    from stacklib.quantity import Quantity

    return Quantity(size, "B").text("MiB" if size >= 2**20 else "KiB")

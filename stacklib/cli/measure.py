"""``stacklib measure``: the roofline of this machine."""

from __future__ import annotations

import argparse
from typing import Any

from .arguments import add_json


def add_parser(subparsers: Any) -> None:
    """Register the command."""
    parser = subparsers.add_parser(
        "measure",
        help="the roofline of this machine, measured",
        description="Bandwidth by working set (triad) and arithmetic rate (matrix "
        "product), then stored so that 'this_machine' means yours.",
    )
    parser.add_argument(
        "--full", action="store_true", help="about a minute instead of seconds"
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="measure, but store nothing"
    )
    add_json(parser)
    parser.set_defaults(func=run)


def run(args: argparse.Namespace) -> int:
    """Measure, print, store."""
    from stacklib.hardware.this_machine import store_machine
    from stacklib.roofline.host import measure_host

    host = measure_host(quick=not args.full, progress=not args.json)
    print(host.to_json() if args.json else host.text())
    if not args.dry_run:
        path = store_machine(host.to_json())
        if not args.json:
            print(f"stored in {path}; 'this_machine' now means this one")
    return 0

"""``stacklib topo FILE``: an output of ``nvidia-smi topo -m``, and NCCL's choices."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .arguments import add_formats, as_table, emit, show_table

if TYPE_CHECKING:
    from stacklib.interconnect.networks.topo_reading import TopoReading

SIZES = (16 << 10, 1 << 20, 64 << 20, 1 << 30)
MOST = 1 << 20  # characters of a file that may be such an output


def add_parser(subparsers: Any) -> None:
    """Register the command."""
    parser = subparsers.add_parser(
        "topo",
        description=(
            "Which pairs are joined by what, which GPUs NVLink joins, what crosses the "
            "root complex, and what NCCL's cost model would choose there."
        ),
    )
    parser.add_argument("file", help="a file with that output, or - for standard input")
    parser.add_argument(
        "--on", help="the GPUs' device; else guessed from their NVLinks"
    )
    add_formats(parser)
    parser.set_defaults(func=run)


def _text(name: str) -> str:
    if name == "-":
        return sys.stdin.read(MOST)
    try:
        with Path(name).open(encoding="utf-8") as file:
            return file.read(MOST)
    except OSError as wrong:
        raise ValueError(f"{name}: {wrong.strerror or wrong}") from None
    except UnicodeDecodeError:
        raise ValueError(f"{name}: not text; give nvidia-smi topo -m's") from None


def analyse(reading: TopoReading, device: str | None) -> dict[str, Any]:
    """Classes of pairs, islands, what crosses the root complex, and choices."""
    from stacklib.interconnect.selection.topo import choices, guess, joined

    pairs = [list(pair) for pair in reading.pairs()]
    key = device or guess(reading)
    return {
        "gpus": list(reading.gpus),
        "nics": {nic: reading.cards.get(nic, "") for nic in reading.nics},
        "classes": dict(Counter(reading.between(a, b) for a, b in pairs)),
        "islands": [list(one) for one in joined(reading)],
        "crosses_root": [list(pair) for pair in reading.crosses_root()],
        "crosses_socket": [list(pair) for pair in reading.crosses_socket()],
        "nearest": {gpu: list(reading.nearest(gpu)) for gpu in reading.gpus}
        if reading.nics
        else {},
        "device": key,
        "choices": [
            {
                "size_bytes": one.size,
                "algorithm": one.algorithm,
                "protocol": one.protocol,
                "time_s": one.time,
            }
            for one in choices(reading, SIZES, on=key)
        ],
    }


def run(args: argparse.Namespace) -> int:
    """Print what the file says."""
    from stacklib import hardware
    from stacklib.interconnect.networks.read_topo import read_topo
    from stacklib.interconnect.networks.topo_reading import WAYS

    reading = read_topo(_text(args.file))
    device = hardware.get(args.on).key if args.on else None
    found = analyse(reading, device)
    if args.json:
        emit(found)
        return 0
    gpus = set(found["gpus"])
    root = [p for p in found["crosses_root"] if set(p) <= gpus]
    rows = [
        *(
            (f"{way}, {WAYS[way]}", f"{many} pairs")
            for way, many in sorted(
                found["classes"].items(), key=lambda item: list(WAYS).index(item[0])
            )
        ),
        *((f"island {i}", " ".join(one)) for i, one in enumerate(found["islands"], 1)),
        ("GPU pairs across the root complex", _listed(root)),
    ]
    rows += [(f"nearest to {g}", " ".join(n)) for g, n in found["nearest"].items()]
    rows += [
        (
            f"all-reduce of {c['size_bytes']:,} B",
            f"{c['algorithm']} {c['protocol']}, {c['time_s'] * 1e6:.4g} us",
        )
        for c in found["choices"]
    ]
    if not as_table(args):
        print(f"{len(gpus)} GPUs, read as {found['device']}")
    show_table(args, ("what", "value"), rows)
    return 0


def _listed(pairs: list[list[str]]) -> str:
    if not pairs:
        return "none"
    few = ", ".join("-".join(pair) for pair in pairs[:6])
    return f"{len(pairs)}: {few}" + (", ..." if len(pairs) > 6 else "")

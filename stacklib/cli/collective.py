"""``stacklib collective NAME``: its time, what NCCL would choose, and why."""

from __future__ import annotations

import argparse
import re
from typing import TYPE_CHECKING, Any

from .arguments import (
    add_formats,
    add_port,
    as_table,
    emit,
    port_of,
    show_table,
    whole,
)

if TYPE_CHECKING:
    from stacklib.interconnect.selection.timed import Timed

_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}
_SIZE = re.compile(r"(\d+(?:\.\d+)?(?:e\d+)?)\s*([kmgt]?)(i?)b?", re.IGNORECASE)


def size(text: str) -> float:
    """Bytes: 65536, 64KiB (powers of 1,024) or 64MB (powers of 1,000)."""
    found = _SIZE.fullmatch(text.strip())
    if not found:
        raise argparse.ArgumentTypeError(
            f"{text!r}: a size such as 65536, 64KiB or 64MB is needed"
        )
    base = 1024 if found[3] else 1000
    value = float(found[1]) * base ** _POWERS[found[2].lower()]
    if not 1 <= value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r}: one byte at least is needed")
    return value


def add_parser(subparsers: Any) -> None:
    """Register the command."""
    parser = subparsers.add_parser(
        "collective",
        description=(
            "all-reduce, all-gather, reduce-scatter, broadcast, reduce, all-to-all or "
            "send-recv, predicted by NCCL's cost model with its published constants."
        ),
    )
    parser.add_argument("name", help="a collective, such as all-reduce")
    parser.add_argument("--on", required=True, help="a device, such as h100-sxm")
    parser.add_argument("--ranks", type=whole, default=8, help="chips in all (8)")
    parser.add_argument("--nodes", type=whole, help="boxes they lie in (the fewest)")
    parser.add_argument(
        "--size",
        type=size,
        required=True,
        help="of one rank's whole array, as nccl-tests prints it: 16KiB, 64MB, ...",
    )
    add_port(parser)
    parser.add_argument(
        "--fabric", help="network between nodes: ib (taken), roce, efa, tcpx, tcpxo"
    )
    parser.add_argument(
        "--latency",
        type=float,
        metavar="US",
        help="microseconds that a port adds to each step (as published of the fabric)",
    )
    parser.add_argument("--algorithm", help="taken instead of NCCL's choice: ring, ...")
    parser.add_argument("--protocol", help="taken instead: ll, ll128, simple")
    parser.add_argument(
        "--python", action="store_true", help="called from Python, and waited for"
    )
    add_formats(parser)
    parser.set_defaults(func=run)


def predict(args: argparse.Namespace) -> Timed:
    """The time that the arguments ask for."""
    from stacklib import hardware
    from stacklib.interconnect.selection import constants as c
    from stacklib.interconnect.selection.machine import fabric
    from stacklib.interconnect.selection.timed import COLLECTIVES, collective_time
    from stacklib.quantity import resolve
    from stacklib.quantity.bounds import at_least

    name = resolve(args.name, COLLECTIVES, "collective")
    if args.latency is not None:
        at_least(0, latency=args.latency)
    on = fabric(
        hardware.get(args.on),
        args.ranks,
        nodes=args.nodes,
        port=port_of(args),
        network=args.fabric,
        latency=None if args.latency is None else args.latency * 1e-6,
    )
    algorithm, protocol = args.algorithm, args.protocol
    return collective_time(
        name,
        args.size,
        on,
        algorithm=algorithm and resolve(algorithm, c.ALGORITHMS, "algorithm"),
        protocol=protocol and resolve(protocol, c.PROTOCOLS, "protocol"),
        host=args.python,
    )


def as_json(found: Timed) -> dict[str, Any]:
    """The answer as one object; times in seconds, rates in bytes a second."""
    from stacklib import hardware
    from stacklib.interconnect.selection.timed import family

    band = hardware.error_band(family(found.size, found.fabric))
    rows = found.choice.table if found.choice else ()
    return {
        "collective": found.collective,
        "device": found.fabric.device,
        "ranks": found.fabric.ranks,
        "nodes": found.fabric.nodes,
        "fabric": found.fabric.network if found.fabric.nodes > 1 else None,
        "size_bytes": found.size,
        "time_s": found.time,
        "algorithm": found.algorithm,
        "protocol": found.protocol,
        "alpha_s": found.alpha,
        "beta_s_per_byte": found.beta,
        "fill_s": found.fill,
        "bus_bandwidth": found.bus,
        "error": None if band is None else {"median": band.median, "p90": band.p90},
        "candidates": [
            {
                "algorithm": row.algorithm,
                "protocol": row.protocol,
                "time_s": row.time,
                "refused": row.refused,
            }
            for row in rows
        ],
    }


def run(args: argparse.Namespace) -> int:
    """Print the time and what it is made of."""
    from stacklib.hardware.errors import band_text
    from stacklib.interconnect.selection.timed import family

    found = predict(args)
    if args.json:
        emit(as_json(found))
        return 0
    on = found.fabric
    way = f"{found.algorithm} {found.protocol}".strip()
    rows = [
        ("time", f"{found.time * 1e6:.4g} us"),
        ("algorithm, protocol", way),
        ("alpha", f"{found.alpha * 1e6:.4g} us"),
        ("beta", f"{found.beta * 1e12:.4g} us per MB"),
        ("pipeline fills", f"{found.fill * 1e6:.4g} us"),
        ("bus bandwidth", f"{found.bus / 1e9:.4g} GB/s"),
        ("error bar", band_text(family(found.size, on))),
    ]
    if not as_table(args):
        boxes = "one node"
        if on.nodes > 1:
            boxes = f"{on.nodes} nodes, {on.network} {on.port / 1e9:.4g} GB/s a port"
        print(
            f"{found.collective} of {found.size:,.0f} B, {on.ranks} ranks of "
            f"{on.device}, {boxes}, {on.link} {on.rate / 1e9:.4g} GB/s per direction"
        )
    show_table(args, ("what", "value"), rows)
    return 0

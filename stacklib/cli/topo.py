"""``stacklib topo FILE``: an output of ``nvidia-smi topo -m``, and NCCL's choices."""

from __future__ import annotations

import argparse
import re
from collections import Counter
from typing import TYPE_CHECKING, Any

from .arguments import add_formats, as_table, emit, show_table, text_of

if TYPE_CHECKING:
    from stacklib.interconnect.networks.topo_reading import TopoReading

SIZES = (16 << 10, 1 << 20, 64 << 20, 1 << 30)
MOST = 1 << 20  # characters of a file that may be such an output


def add_parser(subparsers: Any) -> None:
    """Register the command."""
    parser = subparsers.add_parser(
        "topo",
        description=(
            "Which pairs are joined by what, at which rate, which GPUs NVLink joins, "
            "what crosses the root complex, and what NCCL's cost model would choose "
            "there. nvidia-smi topo -p2p r may follow in the same file."
        ),
    )
    parser.add_argument("file", help="a file with that output, or - for standard input")
    parser.add_argument(
        "--on", help="the GPUs' device; else guessed from their NVLinks"
    )
    parser.add_argument(
        "--link",
        help="generation and lanes of the slots, such as 4x16, or one for each GPU "
        "(4x16,4x8,...); else the device's own",
    )
    parser.add_argument(
        "--p2p",
        action=argparse.BooleanOptionalAction,
        help="boards reach each other's memory over PCIe; else as the driver has it "
        "for the device, or as topo -p2p says",
    )
    parser.add_argument(
        "--p2p-level",
        help="the last word on whose ways NCCL writes to peers (NCCL_P2P_LEVEL)",
    )
    parser.add_argument(
        "--cpu", help="of an Intel or Arm host, whose link between sockets NCCL counts"
    )
    add_formats(parser)
    parser.set_defaults(func=run)


def _slots(text: str | None, gpus: int) -> list[float] | None:
    """Rates of slots from words such as 4x16."""
    from stacklib.interconnect.networks.pcie import slot

    if text is None:
        return None
    found = []
    for word in text.lower().split(","):
        said = re.fullmatch(r"\s*(?:gen|pcie)?\s*(\d+)(?:\.0)?\s*x\s*(\d+)\s*", word)
        if said is None:
            raise ValueError(f"--link {word.strip()!r}: give it as 4x16 or 5x8")
        found.append(slot(int(said[1]), int(said[2])))
    if len(found) not in (1, gpus):
        raise ValueError(f"--link has {len(found)} slots for {gpus} GPUs: one, or each")
    return found * gpus if len(found) == 1 else found


def analyse(
    reading: TopoReading, device: str | None, args: argparse.Namespace
) -> dict[str, Any]:
    """Classes of pairs with their rates, islands, what crosses, and choices."""
    from stacklib.interconnect.selection.topo import (
        boards_of,
        choices,
        guess,
        joined,
        machine_of,
    )

    pairs = [list(pair) for pair in reading.pairs()]
    key = device or guess(reading)
    boards = boards_of(
        reading,
        key,
        slots=_slots(args.link, len(reading.gpus)),
        peer=args.p2p,
        level=args.p2p_level,
        cpu=args.cpu,
    )
    at, ring = machine_of(boards, key)
    return {
        "gpus": list(reading.gpus),
        "nics": {nic: reading.cards.get(nic, "") for nic in reading.nics},
        "classes": dict(Counter(reading.between(a, b) for a, b in pairs)),
        "paths": [
            {
                "way": word,
                "peer": peer,
                "lowest_B_per_s": low,
                "highest_B_per_s": high,
                "pairs": many,
            }
            for (word, peer), (low, high, many) in boards.classes().items()
        ],
        "ring": None
        if ring is None
        else {
            "order": [reading.gpus[board] for board in ring.order],
            "limit": ring.limit,
        },
        "rate_B_per_s": at.rate,
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
                "bus_B_per_s": one.bus,
            }
            for one in choices(reading, SIZES, on=key, boards=boards)
        ],
    }


def run(args: argparse.Namespace) -> int:
    """Print what the file says."""
    from stacklib import hardware
    from stacklib.interconnect.networks.read_topo import read_topo
    from stacklib.interconnect.networks.topo_reading import WAYS

    reading = read_topo(text_of(args.file, MOST, "give nvidia-smi topo -m's"))
    device = hardware.get(args.on).key if args.on else None
    found = analyse(reading, device, args)
    if args.json:
        emit(found)
        return 0
    gpus = set(found["gpus"])
    root = [p for p in found["crosses_root"] if set(p) <= gpus]
    rows = [
        *(
            (f"{way}, {WAYS[way]}", _pairs(many))
            for way, many in sorted(
                found["classes"].items(), key=lambda item: list(WAYS).index(item[0])
            )
        ),
        *(
            (
                f"{p['way']} between GPUs, {_by(p)}",
                f"{_rates(p)} GB/s, {_pairs(p['pairs'])}",
            )
            for p in found["paths"]
        ),
        *((f"island {i}", " ".join(one)) for i, one in enumerate(found["islands"], 1)),
        ("GPU pairs across the root complex", _listed(root)),
    ]
    rows += [(f"nearest to {g}", " ".join(n)) for g, n in found["nearest"].items()]
    if found["ring"]:
        rate = f"{found['rate_B_per_s'] / 1e9:.3g} GB/s"
        rows.append(("a ring's rate", f"{rate}: {found['ring']['limit']}"))
    rows += [
        (
            f"all-reduce of {c['size_bytes']:,} B",
            f"{c['algorithm']} {c['protocol']}, {c['time_s'] * 1e6:.4g} us, "
            f"bus {c['bus_B_per_s'] / 1e9:.3g} GB/s",
        )
        for c in found["choices"]
    ]
    if not as_table(args):
        print(f"{len(gpus)} GPUs, read as {found['device']}")
    show_table(args, ("what", "value"), rows)
    return 0


def _by(path: dict[str, Any]) -> str:
    """By what two GPUs reach each other, in words."""
    if path["way"] == "NV":
        return "NVLinks"
    return "peer to peer" if path["peer"] else "through host memory"


def _rates(path: dict[str, Any]) -> str:
    """A rate, or from which to which."""
    low, high = (f"{path[k] / 1e9:.3g}" for k in ("lowest_B_per_s", "highest_B_per_s"))
    return low if low == high else f"{low} to {high}"


def _pairs(many: int) -> str:
    return f"{many} pair{'s' * (many != 1)}"


def _listed(pairs: list[list[str]]) -> str:
    if not pairs:
        return "none"
    few = ", ".join("-".join(pair) for pair in pairs[:6])
    return f"{len(pairs)}: {few}" + (", ..." if len(pairs) > 6 else "")

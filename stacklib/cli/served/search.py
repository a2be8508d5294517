"""``stacklib search MODEL --on DEVICE``: the best layout on some chips, and why."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from ..arguments import add_json, columns, emit, whole
from ..estimate import listed, share
from ..models import find

if TYPE_CHECKING:
    from stacklib.serving.layouts.layout import Layout
    from stacklib.serving.layouts.search import Search


def formats(text: str) -> tuple[str, ...]:
    """Formats of weights, with commas between."""
    return tuple(listed(text))


def add_parser(subparsers: Any) -> None:
    """Register the command."""
    parser = subparsers.add_parser(
        "search",
        description="Layouts of a model on some chips that keep limits of time, the "
        "best first: one pool, or one to read and one to write; averages in steady "
        "state. Exit status 0: one does, 1: none does (the nearest is said), 2: bad "
        "input.",
    )
    parser.add_argument("model", help="a model, such as llama-3-70b, or a config.json")
    parser.add_argument(
        "--on", type=listed, required=True, help="devices to compare: h100-sxm,mi300x"
    )
    parser.add_argument("--gpus", type=whole, default=8, help="chips of each (8)")
    parser.add_argument(
        "--prompt", type=whole, default=4096, help="tokens of a prompt (4096)"
    )
    parser.add_argument("--new", type=whole, default=512, help="tokens written (512)")
    parser.add_argument("--ttft", type=share, help="ms to the first token (any)")
    parser.add_argument("--tpot", type=share, help="ms of a token after it (any)")
    parser.add_argument("--e2e", type=share, help="ms to the last token (any)")
    parser.add_argument(
        "--dtype", type=formats, default=("bf16",), help="formats to try: bf16,fp8"
    )
    parser.add_argument(
        "--objective",
        default="tokens_per_gpu",
        help="tokens_per_gpu or tokens_per_user",
    )
    parser.add_argument(
        "--software", default="engine", help="who exchanges: engine or library"
    )
    add_json(parser)
    parser.set_defaults(func=run)


def run(args: argparse.Namespace) -> int:
    """Print the layouts; 0 when one keeps the limits."""
    from stacklib.serving import search

    asked = {name: getattr(args, name) for name in ("ttft", "tpot", "e2e")}
    limits = {name: ms / 1e3 for name, ms in asked.items() if ms is not None}
    if not limits:
        raise ValueError("a limit is needed, in ms: --ttft 2000, --tpot 50, --e2e 9000")
    found = search(
        find(args.model),
        gpus=args.gpus,
        on=args.on,
        traffic=(args.prompt, args.new),
        slo=limits,
        dtypes=args.dtype,
        software=args.software,
        objective=args.objective,
    )
    if args.json:
        emit(_facts(found))
    else:
        print(_told(found))
    return 0 if found.met else 1


def _told(found: Search) -> str:
    told = [] if found.met else [found.why, ""]
    rows = [("layout", "first token", "a token", "tokens/s a GPU")]
    for row in found.leaders:
        times = f"{1e3 * row.ttft:.4g} ms", f"{1e3 * row.tpot:.4g} ms"
        rows.append((row.words, *times, f"{row.tokens_per_gpu:.1f}"))
    if found.met:
        told += ["of every kind the best:", columns(rows), ""]
    told += [one.words for one in found.against]
    refused = [row for row in found.rows if row.refused]
    told += [f"refused: {row.words}: {row.refused}" for row in refused]
    return "\n".join(told)


def _facts(found: Search) -> dict[str, Any]:
    """What the command says, as JSON has it; times in seconds."""
    return {
        "met": found.met,
        "why": found.why,
        "best": _row(found.best) if found.met else None,
        "pareto": [_row(row) for row in found.pareto],
        "rows": [_row(row) for row in found.rows],
        "against": [
            {
                "device": one.device,
                "other": one.other,
                "apart": one.apart if one.apart < float("inf") else None,
                "needed": one.needed if one.needed < float("inf") else None,
                "holds": one.holds,
            }
            for one in found.against
        ],
    }


def _row(row: Layout) -> dict[str, Any]:
    names = ("tp", "ep", "copies", "batch")
    pools = {
        name: pool and {part: getattr(pool, part) for part in names}
        for name, pool in (("pool", row.pool), ("prefill", row.prefill))
    }
    return {
        "kind": row.kind,
        "device": row.device,
        "dtype": str(row.dtype),
        **pools,
        "ttft_s": row.ttft,
        "tpot_s": row.tpot,
        "tokens_per_s": row.tokens_per_s,
        "tokens_per_gpu": row.tokens_per_gpu,
        "refused": row.refused,
    }

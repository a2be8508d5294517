"""``stacklib layout MODEL --on DEVICE --chips N``: the fastest training layouts."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from .arguments import add_formats, as_table, emit, show_table, whole

if TYPE_CHECKING:
    from stacklib.interconnect.parallelism.plan import Choice

_HEAD = ("layout", "step", "MFU", "memory", "sent", "bubble", "before the next because")
_KINDS = ("weights", "gradients", "optimizer", "activations")
_WAYS = ("tensor", "context", "expert", "pipeline", "data")


def add_parser(subparsers: Any) -> None:
    """Register the command."""
    parser = subparsers.add_parser(
        "layout",
        description="Every layout that divides is timed; those that fit are ranked. "
        "Bytes are those of one chip, one direction. Exit status 1 when none fits.",
    )
    parser.add_argument("model", help="a model, such as llama-3-70b")
    parser.add_argument("--on", required=True, help="a device, such as h100-sxm")
    parser.add_argument("--chips", type=whole, required=True, help="how many")
    parser.add_argument("--batch", type=whole, help="sequences a step (eight a chip)")
    parser.add_argument(
        "--length", type=whole, default=4096, help="tokens a sequence (4096)"
    )
    parser.add_argument("--dtype", default="bf16", help="of products (bf16)")
    parser.add_argument(
        "--port", type=float, metavar="GBIT", help="Gbit/s of each chip's network port"
    )
    parser.add_argument("--best", type=whole, default=5, help="how many to show (5)")
    add_formats(parser)
    parser.set_defaults(func=run)


def as_json(choice: Choice) -> dict[str, Any]:
    """One choice; times in seconds, sizes in bytes."""
    layout, step = choice.layout, choice.step
    ways = ("dp", "tp", "pp", "ep", "cp", "sequence", "zero", "micro", "interleave")
    return {
        **{name: getattr(layout, name) for name in ways},
        "recompute": layout.recompute,
        "time_s": step.time,
        "mfu": step.mfu,
        "bubble": step.bubble,
        "memory_bytes": {name: getattr(step.memory, name) for name in _KINDS},
        "sent_bytes": {name: getattr(step.sent, name) for name in _WAYS},
        "reason": choice.reason,
    }


def run(args: argparse.Namespace) -> int:
    """Print the ranking."""
    from stacklib import hardware
    from stacklib.interconnect.parallelism.plan import plan
    from stacklib.roofline.work.fit import Infeasible

    from .models import find

    device = hardware.get(args.on)
    batch = args.batch or 8 * args.chips
    model = find(args.model)
    try:
        found = plan(
            model,
            on=device,
            chips=args.chips,
            batch=batch,
            length=args.length,
            dtype=args.dtype,
            best=args.best,
            port=None if args.port is None else args.port * 1e9 / 8,
        )
    except Infeasible as why:
        if args.json:
            emit(
                {
                    "model": model.key,
                    "device": device.key,
                    "fits": False,
                    "explanation": str(why),
                    "layouts": [],
                }
            )
        else:
            print(why)
        return 1
    if args.json:
        emit(
            {
                "model": model.key,
                "device": device.key,
                "chips": args.chips,
                "batch": batch,
                "length": args.length,
                "fits": True,
                "layouts": [as_json(one) for one in found],
            }
        )
        return 0
    if not as_table(args):
        print(
            f"{model.name} on {args.chips} {device.short}, {batch} sequences of "
            f"{args.length:,} tokens a step"
        )
    rows = [
        (
            one.layout.text(),
            f"{one.step.time:.4g} s",
            f"{one.step.mfu:.1%}",
            f"{one.step.memory.total / 1e9:.1f} GB",
            f"{one.step.sent.total / 1e9:.1f} GB",
            f"{one.step.bubble:.1%}",
            one.reason,
        )
        for one in found
    ]
    show_table(args, _HEAD, rows)
    return 0

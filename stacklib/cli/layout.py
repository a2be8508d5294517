"""``stacklib layout MODEL --on DEVICE --chips N``: the fastest training layouts."""

from __future__ import annotations

import argparse
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
    from stacklib.interconnect.parallelism.plan import Choice
    from stacklib.interconnect.parallelism.step import Step

_HEAD = (
    "layout",
    "step",
    "MFU",
    "memory",
    "sent",
    "bubble",
    "stages",
    "before the next because",
)
_KINDS = ("weights", "gradients", "optimizer", "activations")
_WAYS = ("tensor", "context", "expert", "pipeline", "data")


def add_parser(subparsers: Any) -> None:
    """Register the command."""
    parser = subparsers.add_parser(
        "layout",
        description="Every layout that divides is timed; those that fit are ranked. "
        "Bytes are those of one chip, one direction. Stages are said as Megatron-LM's "
        "--pipeline-model-parallel-layout: E embedding, t layer, L loss. Exit status 1 "
        "when none fits.",
    )
    parser.add_argument("model", help="a model, such as llama-3-70b")
    parser.add_argument("--on", required=True, help="a device, such as h100-sxm")
    parser.add_argument("--chips", type=whole, required=True, help="how many")
    parser.add_argument("--batch", type=whole, help="sequences a step (eight a chip)")
    parser.add_argument(
        "--length", type=whole, default=4096, help="tokens a sequence (4096)"
    )
    parser.add_argument("--dtype", default="bf16", help="of products (bf16)")
    add_port(parser)
    parser.add_argument(
        "--layout",
        metavar="WORDS",
        help="time this one alone: 'tp 8, pp 16, zero 1'; dp fills the chips",
    )
    parser.add_argument(
        "--split",
        metavar="STAGES",
        help="its stages' layers, as Megatron-LM's text: 'Ett|(ttt|)*14ttL'",
    )
    parser.add_argument("--best", type=whole, default=5, help="how many to show (5)")
    add_formats(parser)
    parser.set_defaults(func=run)


def as_json(choice: Choice) -> dict[str, Any]:
    """One choice; times in seconds, sizes in bytes."""
    layout, step = choice.layout, choice.step
    ways = ("dp", "tp", "pp", "ep", "cp", "sequence", "zero", "micro", "interleave")
    band = step.error
    return {
        **{name: getattr(layout, name) for name in ways},
        "recompute": layout.recompute,
        "schedule": layout.schedule,
        "layers": list(step.split),
        "slowest_stage": step.slowest,
        "time_s": step.time,
        "time_band_s": _ends(step) or None,
        "band": "" if band is None else band.cell,
        "mfu": step.mfu,
        "bubble": step.bubble,
        "memory_bytes": {name: getattr(step.memory, name) for name in _KINDS},
        "fullest_stage": step.memory.stage,
        "sent_bytes": {name: getattr(step.sent, name) for name in _WAYS},
        "reason": choice.reason,
    }


def _ends(step: Step) -> list[float]:
    """Between which nine in ten published steps like it lie; empty without a band."""
    band = step.error
    if band is None or not band.low:
        return []
    return [step.time * band.low, step.time * band.high]


def _band(step: Step) -> str:
    """The same in words."""
    ends = _ends(step)
    if not ends or step.error is None:
        return "no band: no published step is like it"
    cell = step.error.cell.replace("/", ", ")
    return f"nine in ten steps like it: {ends[0]:.4g} to {ends[1]:.4g} s ({cell})"


def _timed(args: argparse.Namespace, asked: dict[str, Any]) -> list[Choice]:
    """The layout that is told, or the fastest."""
    from stacklib.interconnect.parallelism.layout import read_layout
    from stacklib.interconnect.parallelism.plan import Choice, plan
    from stacklib.interconnect.parallelism.step import step_time
    from stacklib.roofline.work.fit import Infeasible

    if args.layout is None:
        if args.split is not None:
            raise ValueError(f"split = {args.split!r}: say the --layout that has it")
        return plan(**asked, best=args.best)
    layout = read_layout(args.layout, args.chips, args.split)
    step = step_time(**asked, layout=layout)
    if step.refused:
        raise Infeasible(f"{layout.text()}: {step.refused}")
    return [Choice(layout, step, "told")]


def run(args: argparse.Namespace) -> int:
    """Print the ranking."""
    from stacklib import hardware
    from stacklib.interconnect.parallelism.split import write
    from stacklib.roofline.work.fit import Infeasible

    from .models import find

    device = hardware.get(args.on)
    model = find(args.model)
    asked = {
        "model": model,
        "on": device,
        "chips": args.chips,
        "batch": args.batch or 8 * args.chips,
        "length": args.length,
        "dtype": args.dtype,
        "port": port_of(args),
    }
    try:
        found = _timed(args, asked)
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
                "batch": asked["batch"],
                "length": args.length,
                "fits": True,
                "layouts": [as_json(one) for one in found],
            }
        )
        return 0
    if not as_table(args):
        print(
            f"{model.name} on {args.chips} {device.short}, {asked['batch']} sequences "
            f"of {args.length:,} tokens a step"
        )
    rows = [
        (
            one.layout.text(),
            f"{one.step.time:.4g} s",
            f"{one.step.mfu:.1%}",
            f"{one.step.memory.total / 1e9:.1f} GB",
            f"{one.step.sent.total / 1e9:.1f} GB",
            f"{one.step.bubble:.1%}",
            write(one.step.split, one.layout.later),
            one.reason,
        )
        for one in found
    ]
    show_table(args, _HEAD, rows)
    if not as_table(args):
        first = found[0]
        if first.layout.pp > 1:
            print(
                f"first of them: stage {first.step.slowest} is the slowest, stage "
                f"{first.step.memory.stage} the fullest"
            )
        print(_band(first.step))
    return 0

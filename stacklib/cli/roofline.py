"""``stacklib roofline DEVICE``: peaks and ridges; with --model a decode step."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from .arguments import (
    add_formats,
    add_serving,
    as_table,
    beyond_model,
    emit,
    show_table,
)
from .models import find

if TYPE_CHECKING:
    from stacklib.roofline import DecodeStep


STEP = ("of the step", "value")


def add_parser(subparsers: Any) -> None:
    """Register the command."""
    parser = subparsers.add_parser(
        "roofline",
        description="Peaks are dense. With --model, the least time of one decode "
        "step: a bound, not a forecast; exit status 1 when it does not fit.",
    )
    parser.add_argument("device", help="a device, such as h100-sxm")
    parser.add_argument("--model", help="a model, such as llama-3-70b")
    parser.add_argument(
        "--explain", action="store_true", help="print where the time comes from"
    )
    add_serving(parser)
    add_formats(parser)
    parser.set_defaults(func=run)


def run(args: argparse.Namespace) -> int:
    """Print ridges, or the decode step."""
    from stacklib import hardware
    from stacklib.roofline import decode_step, ridge

    device = hardware.get(args.device)
    if args.model:
        model = find(args.model)
        step = decode_step(
            model,
            on=device,
            dtype=args.dtype,
            kv_dtype=args.kv_dtype,
            tp=args.tp,
            batch=args.batch,
            context=args.context,
        )
        return _show_step(step, args, beyond_model(model, args.context))
    bandwidth = device.memory_bandwidth
    rows = [
        (name, device.peak(name).text(digits=4), ridge(device, name).text())
        for name in device.formats
    ]
    if args.json:
        ridges = {name: ridge(device, name).tree() for name in device.formats}
        emit({"device": device.key, "bandwidth": bandwidth.tree(), "ridges": ridges})
    else:
        if not as_table(args):
            print(f"{device.name}, memory {bandwidth.text()}")
        show_table(args, ("format", "dense peak", "ridge"), rows)
    return 0


def _show_step(step: DecodeStep, args: argparse.Namespace, beyond: str) -> int:
    from stacklib.hardware.errors import band_text
    from stacklib.quantity import explain

    fit = step.fit
    if args.json:
        data: dict[str, Any] = {"fits": fit.fits, "explanation": fit.explanation}
        data["beyond_model"] = bool(beyond)
        if fit.fits:
            data |= {
                "bound": step.bound,
                "time_s": step.time.si,
                "t_compute_s": step.t_compute.si,
                "t_memory_s": step.t_memory.si,
                "tokens_per_s": step.tokens_per_s.si,
                "formats": step.formats,
                "error_bar": band_text(step.time.family),
            }
        emit(data)
        return 0 if fit.fits else 1
    if not as_table(args):
        print(*filter(None, (fit.explanation, beyond)), sep="\n")
    if not fit.fits:
        if as_table(args):
            show_table(args, STEP, [("fit", fit.explanation)])
        return 1
    rows = [
        ("formats", step.formats),
        ("operations", step.operations.text()),
        ("bytes", step.bytes.text()),
        ("time to compute", step.t_compute.text()),
        ("time to move", step.t_memory.text()),
        ("step", f"{step.time.text()} at least, {step.bound}-bound"),
        ("busy", step.busy.text("%")),
        ("tokens", step.tokens_per_s.text()),
        ("error bar", band_text(step.time.family)),
    ]
    show_table(args, STEP, rows)
    if args.explain and not as_table(args):
        print(explain(step.time))
    return 0

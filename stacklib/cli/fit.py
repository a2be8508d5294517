"""``stacklib fit MODEL --on DEVICE``: does it fit, and the sum."""

from __future__ import annotations

import argparse
from typing import Any

from .arguments import add_json, add_serving, beyond_model, emit, gigabytes
from .models import find, mixture


def add_parser(subparsers: Any) -> None:
    """Register the command."""
    parser = subparsers.add_parser(
        "fit",
        description="(weights + KV cache) / tp + reserve <= published capacity, "
        "1 GB = 1e9 B. Exit status 0: fits, 1: does not, 2: bad input. Where engines "
        "keep copies of the cache, a second line has the sum with them.",
    )
    parser.add_argument("model", help="a model, such as llama-3-70b, or a config.json")
    parser.add_argument("--on", required=True, help="a device, such as h100-sxm")
    add_serving(parser)
    parser.add_argument(
        "--reserve", type=gigabytes, default=0.0, help="GB kept free on each chip (0)"
    )
    add_json(parser)
    parser.set_defaults(func=run)


def run(args: argparse.Namespace) -> int:
    """Print the sum; 0 when it fits."""
    from stacklib import hardware
    from stacklib.quantity import chosen
    from stacklib.roofline import fit_memory
    from stacklib.roofline.work.fit import fit_with_copies

    model, device = find(args.model), hardware.get(args.on)
    reserve = chosen(args.reserve, "GB", label="reserve")
    fit = fit_memory(
        model,
        on=device,
        dtype=args.dtype,
        kv_dtype=args.kv_dtype,
        tp=args.tp,
        batch=args.batch,
        context=args.context,
        reserve=reserve,
    )
    copied = fit_with_copies(model, fit)
    beyond = beyond_model(model, args.context)
    if args.json:
        emit(
            {
                "model": model.key,
                "on": device.key,
                "dtype": fit.way.name,
                "kv_dtype": fit.cache,
                "tp": args.tp,
                "batch": args.batch,
                "context": args.context,
                "fits": fit.fits,
                "weights_bytes": fit.weights.si,
                "kv_bytes": fit.kv.si,
                "reserve_bytes": reserve.si,
                "need_bytes_per_chip": fit.need.si,
                "have_bytes_per_chip": fit.have.si,
                "fits_with_copies": copied.fits,
                "need_bytes_per_chip_with_copies": copied.need.si,
                "beyond_model": bool(beyond),
                "explanation": fit.explanation,
            }
        )
    else:
        shape = f"batch {args.batch} x {args.context} tokens"
        print(f"{model.name}, {fit.way.name}, {shape}")
        if parts := mixture(model, args.dtype):
            print(f"{parts}; cache in {fit.cache}")
        print(fit.explanation)
        if copied is not fit:
            print(f"with the copies that engines keep: {copied.explanation}")
        if beyond:
            print(beyond)
    return 0 if fit.fits else 1

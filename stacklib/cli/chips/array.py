"""``stacklib array``: what a product takes on an array of multipliers."""

from __future__ import annotations

import argparse
from typing import Any

from ..arguments import add_json, emit, whole


def add_parser(subparsers: Any) -> None:
    """Register the command."""
    parser = subparsers.add_parser(
        "array",
        description="Last cycle, use and reads of a product of m x k by k x n on an "
        "array of rows x cols multipliers, in closed form, as SCALE-Sim counts.",
    )
    for name, what in (
        ("m", "rows of the activations: tokens"),
        ("n", "columns of the weights"),
        ("k", "columns of the activations, rows of the weights"),
        ("rows", "rows of multipliers"),
    ):
        parser.add_argument(f"--{name}", type=whole, required=True, help=what)
    parser.add_argument("--cols", type=whole, help="columns of multipliers (as rows)")
    parser.add_argument(
        "--dataflow",
        default="os",
        help="what stands still: os sums (default), ws weights, is activations",
    )
    parser.add_argument(
        "--overlap", action="store_true", help="a fold begins while one runs"
    )
    add_json(parser)
    parser.set_defaults(func=run)


def run(args: argparse.Namespace) -> int:
    """Print what the product takes."""
    from stacklib.accelerators import cycles, sram_reads, utilisation
    from stacklib.accelerators.array.cycles import folds

    size = {"m": args.m, "n": args.n, "k": args.k, "rows": args.rows}
    size["cols"] = args.rows if args.cols is None else args.cols
    array = {**size, "dataflow": args.dataflow}
    cut = folds(**array)
    found = {
        **size,
        "dataflow": cut.dataflow,
        "overlap": args.overlap,
        "cycles": cycles(**array, overlap=args.overlap),
        "utilisation": utilisation(**array, overlap=args.overlap),
        "folds": cut.count,
        "sram_reads": sram_reads(**array)._asdict(),
    }
    if args.json:
        emit(found)
        return 0
    print(
        f"{args.m} x {args.k} by {args.k} x {args.n} on {args.rows} x {size['cols']}, "
        f"{cut.dataflow}{', folds overlapping' if args.overlap else ''}"
    )
    print(f"last cycle       {found['cycles']:,}")
    print(f"use              {100 * found['utilisation']:.4g} %")
    print(f"folds            {cut.count:,} ({cut.down:,} x {cut.across:,})")
    for name, many in sram_reads(**array)._asdict().items():
        print(f"{name + ' read':<17}{many:,}")
    return 0

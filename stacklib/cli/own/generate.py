"""``stacklib generate "..."``: text from the book's own model, as it is made."""

from __future__ import annotations

import argparse
import sys
import time
from typing import Any

from ..arguments import add_json, emit, whole


def add_parser(subparsers: Any) -> None:
    """Register the command."""
    parser = subparsers.add_parser(
        "generate",
        description="Goes on from a prompt, printing each piece as it is made. The "
        "model was trained on Python's documentation and this book: give it a "
        "beginning from there.",
    )
    parser.add_argument("prompt", nargs="?", default="", help="what it goes on from")
    parser.add_argument(
        "--model", default="tiny", help="tiny, draft, draft_plain (tiny)"
    )
    parser.add_argument("--tokens", type=whole, default=200, help="most tokens (200)")
    parser.add_argument(
        "--temperature", type=float, default=0.8, help="0 is greedy (0.8)"
    )
    parser.add_argument("--top-k", type=whole, default=0, help="tokens kept; 0: all")
    parser.add_argument(
        "--top-p", type=float, default=0.95, help="probability kept (0.95)"
    )
    parser.add_argument(
        "--min-p", type=float, default=0.0, help="least share of the likeliest (0)"
    )
    parser.add_argument("--seed", type=whole, default=0, help="(0)")
    add_json(parser)
    parser.set_defaults(func=run)


def run(args: argparse.Namespace) -> int:
    """Stream the text, or print it whole as JSON."""
    from stacklib import tinylm

    began = time.perf_counter()
    model = tinylm.load(args.model)
    loaded = time.perf_counter()
    pieces = tinylm.generate(
        args.prompt,
        model=model,
        tokens=args.tokens,
        temperature=args.temperature,
        top_k=args.top_k,
        top_p=args.top_p,
        min_p=args.min_p,
        seed=args.seed,
    )
    if not args.json:
        print(args.prompt, end="", flush=True)
    text = []
    for piece in pieces:
        text.append(piece)
        if not args.json:
            print(piece, end="", flush=True)
    seconds = time.perf_counter() - loaded
    made = sum(1 for piece in text if piece)
    if args.json:
        emit(
            {
                "model": model.name,
                "prompt": args.prompt,
                "text": "".join(text),
                "load_s": loaded - began,
                "seconds": seconds,
            }
        )
        return 0
    print()
    print(
        f"{model.name}: loaded in {loaded - began:.2f} s, "
        f"{made / seconds:.0f} pieces/s (measured)",
        file=sys.stderr,
    )
    return 0

"""``stacklib start [TARGET]``: write the reader's copies of the exercises."""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path
from typing import Any

from stacklib.grading import Exercise, copies

from .arguments import add_json, emit
from .check import chosen
from .checks.results import near


def add_parser(subparsers: Any) -> None:
    """Register the command."""
    parser = subparsers.add_parser(
        "start",
        description="Writes your copies of the exercises into my/. What you wrote "
        "there stays; after an update of the book, a question and tests that you "
        "left as they were become the new ones around your answer.",
    )
    parser.add_argument(
        "target", nargs="?", help="a chapter (1) or an exercise (1.2); all if left out"
    )
    parser.add_argument("--root", type=Path, help="the checkout (found from here)")
    add_json(parser)
    parser.set_defaults(func=run)


def run(args: argparse.Namespace) -> int:
    """Write what is missing and say what is there.

    Raises UnknownExercise (a LookupError) or ValueError for bad input.
    """
    if (args.target or "").endswith(".py") and Path(args.target).is_file():
        raise ValueError(f"{args.target!r}: name it by chapter and number, such as 1.2")
    found = [(e, copies.renew(e)) for e in chosen(args)]
    if args.json:
        names = ("id", "path", "state")
        rows = [dict(zip(names, (e.id, str(e.path), s), strict=True)) for e, s in found]
        emit({"exercises": rows})
    else:
        tell(found)
    return 0


def tell(found: list[tuple[Exercise, str]]) -> None:
    """How many copies there are, which need a hand, and where to begin."""
    states = Counter(state for _, state in found)
    words = [f"{states[s]} {s}" for s in (copies.NEW, copies.RENEWED) if states[s]]
    print(f"your exercises, in my/: {', '.join([str(len(found)), *words])}")
    for e, state in found:
        if state == copies.BOTH:
            print(
                f"{e.id}: the book has changed, and so has your question or test in "
                f"{near(e.path)}; it is left as it is. A new one, with yours kept "
                f"beside it: stacklib check {e.id} --reset"
            )
    if first := next((e for e, state in found if state == copies.NEW), None):
        print(f"begin in {near(first.path)}, then: stacklib check {first.id}")

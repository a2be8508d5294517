"""``stacklib claims``: what the source documents say, and the verdicts."""

from __future__ import annotations

import argparse
from collections import Counter
from typing import Any

from .arguments import add_formats, as_table, emit, show_table

HEAD = ("id", "document", "verdict", "claim")
WIDTH = 70  # of a claim's text in the list
FILTERS = ("chapter", "source", "verdict", "search")


def add_parser(subparsers: Any) -> None:
    """Register the command."""
    from stacklib.evidence.judge import VERDICTS

    parser = subparsers.add_parser(
        "claims",
        description="Filters combine; with an id, one claim and its derivation.",
    )
    parser.add_argument("id", nargs="?", help="one claim, such as decode-wait-share")
    parser.add_argument("--chapter", metavar="N", help="only this chapter (1 to 10)")
    parser.add_argument(
        "--source", metavar="000", help="only this document (000 to 004)"
    )
    parser.add_argument(
        "--verdict",
        metavar="WORD",
        help=f"only this verdict: {', '.join(VERDICTS)}",
    )
    parser.add_argument(
        "--search", metavar="TEXT", help="only rows that hold all these words"
    )
    add_formats(parser)
    parser.set_defaults(func=run)


def run(args: argparse.Namespace) -> int:
    """Print the rows asked for and a count by verdict; ValueError for id and filter."""
    from stacklib import evidence, pages

    if args.id:
        return _show_one(args)
    rows = pages.claims(**{name: getattr(args, name) for name in FILTERS})
    if args.json:
        counts = Counter(row.verdict for row in rows)
        emit({"claims": [row.row for row in rows], "counts": counts})
        return 0
    shown = [
        (row.claim.id, row.claim.source, row.verdict, _text(row.claim.text, args))
        for row in rows
    ]
    if shown or as_table(args):
        show_table(args, HEAD, shown)
    if not as_table(args):
        print(evidence.counted(rows))
    return 0


def _text(text: str, args: argparse.Namespace) -> str:
    whole = as_table(args) or len(text) <= WIDTH
    return text if whole else text[: WIDTH - 1] + "…"


def _show_one(args: argparse.Namespace) -> int:
    from stacklib import pages
    from stacklib.evidence.kinds import KINDS
    from stacklib.quantity import explain

    for name in FILTERS:
        if getattr(args, name) is not None:
            raise ValueError(f"--{name} filters the list; with an id leave it out")
    judgement = pages.judge(args.id)
    if args.json:
        emit(judgement.as_dict())
        return 0
    if as_table(args):
        row = {name: str(value) for name, value in judgement.row.items()}
        show_table(args, list(row), [list(row.values())])
        return 0
    claim = judgement.claim
    print(f"{claim.id}: {claim.text}")
    print(f"claimed {claim.claimed}; {claim.document} ({claim.source})")
    print(f"{judgement.verdict} ({claim.kind}: {KINDS[claim.kind].rule})")
    for line in (judgement.reason, judgement.first_review):
        if line:
            print(line)
    for end in judgement.ends:
        print(explain(end))
    return 0

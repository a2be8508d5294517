"""``stacklib claims``: what the source documents say, and the verdicts."""

from __future__ import annotations

import argparse
from collections import Counter
from typing import Any

from .arguments import add_json, columns, emit


def add_parser(subparsers: Any) -> None:
    """Register the command."""
    parser = subparsers.add_parser(
        "claims",
        help="claims of the source documents and their verdicts",
        description="Filters combine; with an id, one claim and its derivation.",
    )
    parser.add_argument("id", nargs="?", help="one claim, such as decode-wait-share")
    parser.add_argument("--chapter", help="only this chapter (1 to 10)")
    parser.add_argument("--source", help="only this document (000 to 004)")
    parser.add_argument("--verdict", help="only this verdict")
    add_json(parser)
    parser.set_defaults(func=run)


def run(args: argparse.Namespace) -> int:
    """Print the rows asked for and a count by verdict."""
    from stacklib.evidence import claims

    if args.id:
        return _show_one(args)
    rows = claims.table(args.chapter, args.source, args.verdict)
    counts = Counter(row["verdict"] for row in rows)
    if args.json:
        emit({"claims": rows, "counts": counts})
        return 0
    shown = [(r["id"], r["source"], r["verdict"], r["claim"][:70]) for r in rows]
    if shown:
        print(columns(shown))
    total = ", ".join(f"{n} {verdict}" for verdict, n in counts.most_common())
    print(f"{len(rows)} claims: {total or 'none'}")
    return 0


def _show_one(args: argparse.Namespace) -> int:
    from stacklib.evidence import claims
    from stacklib.quantity import explain

    judgement = claims.judge(args.id)
    if args.json:
        emit(judgement.as_dict())
        return 0
    claim = judgement.claim
    print(f"{claim.id}: {claim.text} [{claim.source}]")
    print(f"{judgement.verdict}: {judgement.why}")
    if judgement.condition:
        print(f"right if {judgement.condition}")
    if judgement.computed is not None:
        print(explain(judgement.computed))
    return 0

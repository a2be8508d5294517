"""``stacklib watch``: dated forecasts, and how they did."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stacklib.quantity.files import read_rows

from ..arguments import add_formats, as_table, emit, show_table

if TYPE_CHECKING:
    from stacklib.frontier.watching import Score, Watch


def add_parser(subparsers: Any) -> None:
    """Register the command."""
    parser = subparsers.add_parser(
        "watch",
        description="The book's dated forecasts with their probabilities, a naive one "
        "beside each, and their scores once outcomes are entered. Exit status 0: "
        "done, 1: a forecast is overdue, 2: bad input.",
    )
    parser.add_argument(
        "id", nargs="?", help="one forecast, with what settles it (all, in short)"
    )
    parser.add_argument(
        "--score", action="store_true", help="Brier and log score, the naive beside"
    )
    parser.add_argument(
        "--file",
        type=Path,
        help="your own list: a CSV of id, due, statement, settles, probability",
    )
    parser.add_argument(
        "--outcomes",
        type=Path,
        metavar="FILE",
        help="a CSV of id, outcome (true, false or void) and why, beside the book's",
    )
    parser.add_argument(
        "--today", metavar="DATE", help="what is overdue by then (today)"
    )
    add_formats(parser)
    parser.set_defaults(func=run)


def run(args: argparse.Namespace) -> int:
    """Print the list or the score; 1 where a forecast is overdue."""
    from stacklib.frontier.watching import read_watch, watch

    found = watch() if args.file is None else read_watch(args.file, args.today)
    if args.outcomes is not None:
        found = found.entered(_read(args.outcomes))
    late = {each.id for each in found.overdue(args.today)}
    if args.id is not None:
        return _one(args, found)
    if args.score:
        _score(args, found)
        return 1 if late else 0
    head = ("forecast", "due", "probability", "naive", "outcome")
    rows = [
        (
            each.id,
            each.due,
            f"{each.probability:.0%}",
            f"{each.naive:.0%}",
            "overdue" if each.id in late else each.outcome,
        )
        for each in found.forecasts
    ]
    if args.json:
        emit({"forecasts": [_facts(found, each.id) for each in found.forecasts]})
    else:
        show_table(args, head, rows)
        if not as_table(args):
            print(_record(found.score))
    return 1 if late else 0


def _one(args: argparse.Namespace, found: Watch) -> int:
    each = found[args.id]
    facts = _facts(found, each.id)
    if args.json:
        emit(facts)
    elif as_table(args):
        show_table(args, ("field", "value"), [(n, str(v)) for n, v in facts.items()])
    else:
        print(each.statement)
        print(f"made {each.made}, settled by {each.due}: {each.settles}")
        print(f"probability {each.probability:.1%}, by {each.model}")
        if each.value:
            ends = f"{each.low:.3g} to {each.high:.3g}"
            print(f"which gives {each.value:.3g}, nine in ten from {ends}")
        print(f"naive: {each.naive:.0%}, {each.naive_says}")
        print(f"outcome: {each.outcome}{f', {each.why}' if each.why else ''}")
    return 0


def _score(args: argparse.Namespace, found: Watch) -> None:
    score = found.score
    if args.json:
        emit(
            {
                "settled": score.settled,
                "void": score.void,
                "open": score.open,
                "brier": score.brier,
                "log": _finite(score.log),
                "naive_brier": score.naive_brier,
                "naive_log": _finite(score.naive_log),
            }
        )
        return
    head = ("forecast", "outcome", "probability", "Brier", "log", "naive Brier")
    rows = [
        (
            each.id,
            each.outcome,
            f"{each.probability:.0%}",
            f"{each.brier():.3f}" if each.settled else "-",
            f"{each.log():.3f}" if each.settled else "-",
            f"{each.brier(each.naive):.3f}" if each.settled else "-",
        )
        for each in found.forecasts
        if each.outcome != "open"
    ]
    if rows or as_table(args):
        show_table(args, head, rows)
    if not as_table(args):
        print(_record(score))


def _record(score: Score) -> str:
    """What a list is worth so far, in one line."""
    names = ("settled", "void", "open")
    told = [(getattr(score, name), name) for name in names]
    counts = ", ".join(f"{n} {name}" for n, name in told if n)
    if score.brier is None:
        return f"{counts}; no score before something is settled"
    assert score.naive_brier is not None
    words = _both(score.brier, score.log)
    naive = _both(score.naive_brier, score.naive_log)
    better = "better than" if score.brier < score.naive_brier else "no better than"
    return f"{counts}; {words}: {better} the naive forecasts ({naive})"


def _both(brier: float, log: float | None) -> str:
    told = _finite(log)
    return f"Brier {brier:.3f}, log {told if isinstance(told, str) else f'{told:.3f}'}"


def _read(path: Path) -> dict[str, tuple[str, str]]:
    """Outcomes of a file, by forecast."""
    found: dict[str, tuple[str, str]] = {}
    for row in read_rows(path, ("id", "outcome"), ("id", "outcome", "why")):
        if row["id"] in found:
            raise ValueError(f"{path}: {row['id']!r} has two outcomes")
        found[row["id"]] = (row["outcome"], row.get("why", ""))
    return found


def _facts(found: Watch, id: str) -> dict[str, Any]:
    each = found[id]
    return {name: getattr(each, name) for name in each.__slots__}


def _finite(value: float | None) -> float | str | None:
    """A score as JSON has it, which knows no infinity."""
    return "infinite" if value == float("inf") else value

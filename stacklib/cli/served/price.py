"""``stacklib price USD``: what must be true for a price of a million tokens to pay."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from ..arguments import add_dtype, add_json, columns, emit, whole
from ..estimate import share as number
from ..models import find

if TYPE_CHECKING:
    from stacklib.quantity import Quantity
    from stacklib.serving.prices.explain import Border, Region


def add_parser(subparsers: Any) -> None:
    """Register the command."""
    parser = subparsers.add_parser(
        "price",
        description="What must be true for a price of a million output tokens to pay: "
        "batch, utilisation, years of service, price of power, from quotes with their "
        "dates. Exit status 0: it can, 1: it cannot, 2: bad input.",
    )
    parser.add_argument("usd", type=number, help="dollars a million tokens written")
    parser.add_argument("--model", default="llama-3-70b", help="model (llama-3-70b)")
    parser.add_argument("--on", default="h100-sxm", help="its chip (h100-sxm)")
    add_dtype(parser)
    parser.add_argument("--tp", type=whole, default=8, help="chips sharing it (8)")
    parser.add_argument(
        "--context", type=whole, default=4096, help="tokens cached in each (4096)"
    )
    parser.add_argument(
        "--years", type=number, default=5.0, help="that what is bought serves (5)"
    )
    parser.add_argument("--tpot", type=number, help="ms that a token may take (any)")
    parser.add_argument(
        "--bought", help="purchase (new), launch or used (the first that is quoted)"
    )
    add_json(parser)
    parser.set_defaults(func=run)


def run(args: argparse.Namespace) -> int:
    """Print the region; 0 when it is not empty."""
    from stacklib.roofline.work.fit import Infeasible
    from stacklib.serving import explain_price

    names = "tp dtype context years bought".split()
    given = {name: getattr(args, name) for name in names}
    limit = None if args.tpot is None else args.tpot / 1e3
    try:
        found = explain_price(args.usd, find(args.model), args.on, tpot=limit, **given)
    except Infeasible as wrong:
        if args.json:
            emit({"feasible": False, "words": str(wrong)})
        else:
            print(wrong)
        return 1
    if args.json:
        emit(_facts(found))
    else:
        print(_told(found))
    return 0 if found.feasible else 1


def _told(found: Region) -> str:
    first, last = found.machine.dates
    when = first if first == last else f"{first} to {last}"
    told = [
        found.words,
        f"prices of chips as quoted in {when}",
        "",
        "each alone, the others at their best, cheapest quotes:",
    ]
    marks = {True: "=", False: "!"}
    told += [f"{marks[border.holds]} {border.words}" for border in found.borders]
    rows = [("batch", "tokens/s", "a token", "in use at least", "or, dearest quotes")]
    for row in found.rows:
        used = _used(row.needed), _used(row.enough)
        times = row.tokens_per_s.text(), row.tpot.text()
        rows.append((str(row.batch), *times, *used))
    return "\n".join([*told, "", columns(rows)])


def _used(share: Quantity) -> str:
    return "never pays" if share.si > 1 else f"{share.si:.1%}"


def _facts(found: Region) -> dict[str, Any]:
    """What the command says, as JSON has it."""
    return {
        "price_usd_per_million": found.price.value,
        "feasible": found.feasible,
        "words": found.words,
        "quotes_dated": list(found.machine.dates),
        "floor_usd_per_million": [end.value for end in _ends(found)],
        "price_over_least_cost": found.margin.si,
        "largest_batch": found.room,
        "best_batch": found.best,
        "borders": [_border(border) for border in found.borders],
        "rows": [
            {
                "batch": row.batch,
                "tokens_per_s": row.tokens_per_s.si,
                "tpot_s": row.tpot.si,
                "utilisation_needed": row.needed.si,
                "utilisation_enough": row.enough.si,
            }
            for row in found.rows
        ],
    }


def _ends(found: Region) -> tuple[Quantity, Quantity]:
    floor = found.floor
    return floor.low, floor.high


def _border(border: Border) -> dict[str, Any]:
    return {
        "name": border.name,
        "needed": None if border.needed is None else border.needed.value,
        "best": border.best.to(border.best.unit).value,
        "unit": border.best.unit,
        "at_least": border.least,
        "holds": border.holds,
    }

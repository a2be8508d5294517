"""``stacklib journey MODEL --on DEVICE``: one token in time, joules and dollars."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from ..arguments import add_dtype, add_json, columns, emit, whole
from ..estimate import share as number
from ..models import find

if TYPE_CHECKING:
    from stacklib.cost.spans import Span
    from stacklib.frontier.waterfall import Journey, Phase

REQUESTS = 300  # of a traffic that is asked for by its rate
PAID = {"power": "price_of_power", "rent": "rent", "utilisation": "load"}


def add_parser(subparsers: Any) -> None:
    """Register the command."""
    parser = subparsers.add_parser(
        "journey",
        description="One token through all layers: each line of its account in time, "
        "joules and dollars, and the joules that no line explains. Exit status 0: "
        "done, 2: bad input, or a model that does not fit.",
    )
    parser.add_argument("model", help="a model, such as llama-3-70b, or a config.json")
    parser.add_argument("--on", required=True, help="a device, such as h100-sxm")
    add_dtype(parser)
    parser.add_argument("--tp", type=whole, default=1, help="chips sharing it (1)")
    parser.add_argument("--batch", type=whole, default=1, help="sequences (1)")
    parser.add_argument(
        "--context", type=whole, help="tokens cached in each (4096, or what fits)"
    )
    parser.add_argument(
        "--prompt", type=whole, help="tokens of the prompt (as many as the context)"
    )
    parser.add_argument("--new", type=whole, default=1, help="tokens written (1)")
    parser.add_argument(
        "--rate", type=number, help="requests a second: adds the wait in the queue"
    )
    parser.add_argument(
        "--price-of-power", type=number, help="dollars a kWh (what industry pays)"
    )
    parser.add_argument(
        "--rent", type=number, help="dollars an hour of a chip (bought, at quotes)"
    )
    parser.add_argument("--load", type=number, help="share of the hours in use (1)")
    parser.add_argument("--mode", default="calibrated", help="calibrated or limit")
    add_json(parser)
    parser.set_defaults(func=run)


def run(args: argparse.Namespace) -> int:
    """Print the waterfall in three currencies."""
    from stacklib.frontier import journey
    from stacklib.serving import poisson
    from stacklib.serving.token.host import own_name

    names = "dtype tp batch context prompt new mode".split()
    given = {name: getattr(args, name) for name in names}
    paid = {n: v for n, flag in PAID.items() if (v := getattr(args, flag)) is not None}
    if args.rate is not None:
        given["traffic"] = poisson(args.rate, REQUESTS)
    model = args.model if own_name(args.model) else find(args.model)
    found = journey(model, args.on, prices=paid or None, **given)
    if args.json:
        emit(_facts(found))
    else:
        print("\n".join(_told(found)))
    return 0


def _told(found: Journey) -> list[str]:
    told = [found.estimate.title, found.estimate.why]
    rows = [("line", "time", "joules", "dollars", "section")]
    for event in found.events:
        if event.time is not None:
            each = _text(event.joules, "J"), _text(event.dollars, "USD")
            rows.append((event.name, event.time.text(), *each, event.section))
    every = _text(found.joules, "J"), _text(found.dollars, "USD")
    rows.append(("a token", found.time.text(), *every, ""))
    told.append(columns(rows))
    if found.measured is not None:
        told.append(f"measured on the book's machine: {found.measured.text()}")
    told += _drawn(found.token)
    prompt = found.prompt
    each = _text(prompt.joules, "J"), _text(prompt.dollars, "USD")
    told.append(f"the prompt before it: {prompt.time.text()}, {', '.join(each)}")
    told += _drawn(prompt)
    told.append(found.unpriced or f"a million tokens: {_bill(found)}")
    if (wait := found.wait) is not None:
        told.append(
            f"in the queue before: {wait.mean:.3g} s, 99 in 100 under {wait.tail:.3g} s"
            f" ({wait.utilisation:.0%} of what can be served)"
        )
    return told


def _bill(found: Journey) -> str:
    assert found.bill is not None
    rows = [f"{name} {row.text()}" for name, row in found.bill.rows.items()]
    return f"{found.bill.total.text()} ({'; '.join(rows)})"


def _drawn(phase: Phase) -> list[str]:
    """What the boards may draw, and what of it is explained."""
    if phase.gap is None or phase.ceiling is None or phase.explained is None:
        return ["no figure of what the boards draw: no gap"]
    least, most = (end.text("J") for end in phase.gap)
    return [
        f"boards at their design power: {phase.ceiling.text('J')}; explained "
        f"{phase.explained.text()} of it, the gap is {least} to {most}"
    ]


def _text(value: Span | None, unit: str) -> str:
    return "-" if value is None else value.text(unit)


def _ends(value: Span | None) -> list[float] | None:
    return None if value is None else [value.low.si, value.high.si]


def _facts(found: Journey) -> dict[str, Any]:
    """What the command says, as JSON has it; seconds, joules and dollars."""
    bill, wait, metered = found.bill, found.wait, found.metered
    return {
        "title": found.estimate.title,
        "token": _phase(found.token),
        "prompt": _phase(found.prompt),
        "metered_J": _ends(metered),
        "usd_per_token_by_row": None
        if bill is None
        else {name: _ends(row) for name, row in bill.rows.items()},
        "unpriced": found.unpriced,
        "wait_s": None if wait is None else {"mean": wait.mean, "p99": wait.tail},
    }


def _phase(phase: Phase) -> dict[str, Any]:
    gap = phase.gap
    return {
        "time_s": phase.time.si,
        "joules": _ends(phase.joules),
        "dollars": _ends(phase.dollars),
        "design_power_J": None if phase.ceiling is None else phase.ceiling.si,
        "explained": _ends(phase.explained),
        "gap_J": None if gap is None else [end.si for end in gap],
        "joules_by_part": {n: _ends(j) for n, j in phase.by_part().items()},
        "events": [
            {
                "line": event.name,
                "section": event.section,
                "time_s": event.time.si,
                "joules": _ends(event.joules),
                "dollars": _ends(event.dollars),
            }
            for event in phase.events
            if event.time is not None
        ],
    }

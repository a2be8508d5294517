"""``stacklib plan``: what a budget runs, or whether a list of parts holds together."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from ..arguments import add_formats, as_table, emit, show_table, text_of

if TYPE_CHECKING:
    from stacklib.diy.findings import Finding

MOST = 1 << 16  # characters of a file that may be a build
SAMPLE = """\
gpus = ["2 x rtx_5090"]
cpu = "7960x"
board = "trx50_aero_d"
memory = "renegade_pro_128"
psu = "straight_power_12_1500"
storage = "990_pro_4tb"
case = "enthoo_pro_2_server"
cooling = "xe360_tr5"
"""


def add_parser(subparsers: Any) -> None:
    """Register the command."""
    parser = subparsers.add_parser(
        "plan",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description="With --budget and --run: the fastest machines whose parts cost no "
        "more. With --verify:\nholds the parts of a machine against every rule: what "
        "breaks it, with the sum,\nand the cheapest change that mends it. Exit status "
        "1 where nothing fits, or a rule is\nbroken or cannot be decided. A build is "
        "such a file:\n\n" + SAMPLE,
    )
    either = parser.add_mutually_exclusive_group(required=True)
    either.add_argument(
        "--verify", metavar="FILE", help="a build in TOML, or - for standard input"
    )
    either.add_argument("--budget", type=float, help="dollars for all parts")
    parser.add_argument(
        "--run",
        action="append",
        metavar="MODEL:FORMAT",
        help="a model that must run, such as llama-3-70b:q4_k_m; may be given again",
    )
    parser.add_argument(
        "--context", type=int, default=4096, help="tokens cached (4096)"
    )
    parser.add_argument("--date", help="prices up to a day, such as 2025-10")
    parser.add_argument("--market", default="us", help="where prices are from (us)")
    parser.add_argument("--noise", type=float, help="most dBA, a metre away")
    parser.add_argument("--most", type=int, default=3, help="machines to print (3)")
    parser.add_argument("--mains", type=float, default=120, help="volts (120)")
    parser.add_argument(
        "--continuous",
        type=float,
        default=0.8,
        help="share of a breaker that may be drawn for hours (0.8)",
    )
    add_formats(parser)
    parser.set_defaults(func=run)


def run(args: argparse.Namespace) -> int:
    """Print machines, or findings; 1 where nothing fits or a rule is broken."""
    if args.budget is not None:
        return _planned(args)
    from stacklib import diy
    from stacklib.diy.rules import RULES

    build = diy.read_build(text_of(args.verify, MOST, "give a build in TOML"))
    found = diy.verify(build, mains=args.mains, continuous=args.continuous)
    if args.json:
        emit(
            {
                "rules": len(RULES),
                "holds": not found,
                "findings": [_plain(finding) for finding in found],
            }
        )
    elif as_table(args):
        head = ("rule", "verdict", "says", "sum", "part", "mend", "dollars")
        rows = [[str(v or "") for v in _row(finding)] for finding in found]
        show_table(args, head, rows)
    else:
        _tell(found, len(RULES))
    return int(bool(found))


def _planned(args: argparse.Namespace) -> int:
    """The machines of a budget."""
    from stacklib import diy
    from stacklib.roofline.work.fit import Infeasible

    if not args.run:
        raise ValueError("--run: name a model, such as llama-3-70b:q4_k_m")
    try:
        found: list[Any] = diy.plan(
            args.budget,
            args.run,
            market=args.market,
            date=args.date,
            circuit=args.mains,
            noise=args.noise,
            context=args.context,
            most=args.most,
        )
    except Infeasible as miss:
        if args.json:
            emit({"fits": False, "why": str(miss), "machines": []})
        else:
            print(miss)
        return 1
    if args.json:
        emit({"fits": True, "machines": [_machine(one) for one in found]})
    elif as_table(args):
        head = ("cards", "dollars", "watts", *(f"{name} tokens/s" for name in args.run))
        rows = [
            [_cards(one), f"{one.total:,.0f}", f"{one.watts:,.0f}"]
            + [
                f"{run.decode:.3g} ({run.low:.3g} to {run.high:.3g})"
                for run in one.runs
            ]
            for one in found
        ]
        show_table(args, head, rows)
    else:
        for one in found:
            _show(one)
    return 0


def _cards(one: Any) -> str:
    limit = f" at {one.limit:.0f} W" if one.limit else ""
    return f"{len(one.gpus)} x {one.gpus[0].name}{limit}"


def _show(one: Any) -> None:
    print(f"{_cards(one)}: {one.total:,.0f} USD, {one.watts:,.0f} W from the wall")
    for run in one.runs:
        print(f"  {run.model}, by {run.split}: {run}")
    names = dict.fromkeys(name for name, _ in one.bill)
    for name in names:
        prices = [dollars for part, dollars in one.bill if part == name]
        times = f"{len(prices)} x " if len(prices) > 1 else ""
        print(f"  {sum(prices):8,.0f}  {times}{name}")
    print(f"  after three hours in a closed room of {one.room:.0f} C: {one.left:.0%}")
    print(f"  noise {one.noise}")
    if one.excluded:
        no = one.excluded
        print(f"  {no.part}, {no.saves:,.0f} USD less: {no.rule}, {no.sum}")
    for command in one.commands:
        print(f"  {command}")


def _machine(one: Any) -> dict[str, Any]:
    return {
        "cards": [card.name for card in one.gpus],
        "limit": one.limit,
        "dollars": one.total,
        "bill": [{"part": name, "dollars": dollars} for name, dollars in one.bill],
        "watts": one.watts,
        "room": one.room,
        "left": one.left,
        "noise": {
            "least_dba": one.noise.dba if one.noise.levels else None,
            "untold": list(one.noise.untold),
        },
        "runs": [
            {
                "model": run.model,
                "split": run.split,
                "tokens_per_s": run.decode,
                "low": run.low,
                "high": run.high,
                "prompt_tokens_per_s": run.prompt,
            }
            for run in one.runs
        ],
        "excluded": one.excluded
        and {
            name: getattr(one.excluded, name)
            for name in ("part", "saves", "rule", "sum")
        },
        "commands": list(one.commands),
    }


def _row(finding: Finding) -> tuple[Any, ...]:
    mend = finding.mend
    change = (mend.says, f"{mend.dollars:.0f}") if mend else ("", "")
    return (
        finding.rule,
        finding.verdict,
        finding.says,
        finding.sum,
        finding.part,
        *change,
    )


def _plain(finding: Finding) -> dict[str, Any]:
    mend = finding.mend
    return {
        "rule": finding.rule,
        "verdict": finding.verdict,
        "says": finding.says,
        "sum": finding.sum,
        "part": finding.part,
        "mend": mend and {"change": mend.says, "dollars": mend.dollars},
        "sources": [f"{s.title}: {s.where} ({s.confidence})" for s in finding.sources],
    }


def _tell(found: list[Finding], many: int) -> None:
    for finding in found:
        print(f"{finding.rule}, {finding.verdict}: {finding.says}")
        print(f"  {finding.sum}")
        if finding.mend:
            dollars = finding.mend.dollars
            cost = f"{abs(dollars):,.0f} USD {'less' if dollars < 0 else 'more'}"
            print(f"  mend: {finding.mend.says}{f', {cost}' if dollars else ''}")
        elif finding.verdict == "broken":
            print("  no change of one part in the catalogue mends it")
    broken = sum(finding.verdict == "broken" for finding in found)
    undecided = len(found) - broken
    print(f"{many} rules: {broken} broken, {undecided} undecided")

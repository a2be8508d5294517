"""``stacklib plan --verify FILE``: does a list of parts hold together?"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..arguments import add_formats, as_table, emit, show_table

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
        description="Holds the parts of a machine against every rule: what breaks it, "
        "with the sum,\nand the cheapest change that mends it. Exit status 1 where a "
        "rule is broken or\ncannot be decided. A build is such a file:\n\n" + SAMPLE,
    )
    parser.add_argument(
        "--verify",
        required=True,
        metavar="FILE",
        help="a build in TOML, or - for standard input",
    )
    parser.add_argument("--mains", type=float, default=120, help="volts (120)")
    parser.add_argument(
        "--continuous",
        type=float,
        default=0.8,
        help="share of a breaker that may be drawn for hours (0.8)",
    )
    add_formats(parser)
    parser.set_defaults(func=run)


def _text(name: str) -> str:
    if name == "-":
        return sys.stdin.read(MOST)
    try:
        with Path(name).open(encoding="utf-8") as file:
            return file.read(MOST)
    except OSError as wrong:
        raise ValueError(f"{name}: {wrong.strerror or wrong}") from None
    except UnicodeDecodeError:
        raise ValueError(f"{name}: not text; give a build in TOML") from None


def run(args: argparse.Namespace) -> int:
    """Print the findings; 1 where there are any."""
    from stacklib import diy
    from stacklib.diy.rules import RULES

    build = diy.read_build(_text(args.verify))
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

"""``stacklib rig FILE...``: what keeps the machine that stands there slow."""

from __future__ import annotations

import argparse
from typing import Any

from ..arguments import add_formats, as_table, emit, show_table, text_of

MOST = 1 << 22  # characters of a file that may be such an output
MODEL = "llama-3-8b:q4_k_m"


def add_parser(subparsers: Any) -> None:
    """Register the command."""
    parser = subparsers.add_parser(
        "rig",
        description="Reads what nvidia-smi -q (under load), nvidia-smi topo -m and "
        "sudo lspci -vv printed, one file each, and says which card runs below its "
        "slot, at which limit, held by what, and the tokens a second that mending "
        "gives. Exit status 1 where something is wrong or cannot be decided.",
    )
    parser.add_argument("files", nargs="+", help="their outputs, or - once")
    parser.add_argument("--run", default=MODEL, help=f"model and format ({MODEL})")
    parser.add_argument(
        "--split", choices=("layers", "tensors"), help="how cards share it; the faster"
    )
    parser.add_argument(
        "--context", type=int, default=4096, help="tokens cached (4096)"
    )
    add_formats(parser)
    parser.set_defaults(func=run)


def run(args: argparse.Namespace) -> int:
    """Print what is wrong; 1 where something is."""
    from stacklib import diy
    from stacklib.diy.rig import cleaned, kind_of

    told: dict[str, str] = {}
    for name in args.files:
        text = text_of(name, MOST, "save the output of a command")
        try:
            kind = kind_of(cleaned(text))
        except ValueError as wrong:
            raise ValueError(f"{name}: {wrong}") from None
        if kind in told:
            raise ValueError(f"{name}: a second output of the kind {kind}; give one")
        told[kind] = text
    rig = diy.read_rig(**told)
    asked = {"split": args.split, "context": args.context}
    found: list[Any] = diy.diagnose(rig, args.run, **asked)
    if args.json:
        emit(
            {
                "cards": [
                    {"name": c.name, "link": c.link, "most": c.most, "limit": c.limit}
                    for c in rig.hands
                ],
                "path": rig.path,
                "findings": [_plain(one) for one in found],
            }
        )
    elif as_table(args):
        head = ("rule", "verdict", "says", "sum", "tokens/s more", "do")
        rows = [
            [x.rule, x.verdict, x.says, x.sum, f"{x.gives:.3g}", x.todo] for x in found
        ]
        show_table(args, head, rows)
    else:
        _tell(rig, found, args.run)
    return int(bool(found))


def _plain(one: Any) -> dict[str, Any]:
    return {
        "rule": one.rule,
        "verdict": one.verdict,
        "says": one.says,
        "sum": one.sum,
        "part": one.part,
        "todo": one.todo,
        "command": one.command,
        "now": one.now and one.now.decode,
        "after": one.after and one.after.decode,
        "low": one.after and one.after.low,
        "high": one.after and one.after.high,
        "prompt_now": one.now and one.now.prompt,
        "prompt_after": one.after and one.after.prompt,
    }


def _tell(rig: Any, found: list[Any], model: str) -> None:
    for at, card in enumerate(rig.hands):
        now, most = (f"PCIe {g} x{n}" for g, n in (card.link, card.most))
        limit = f", {card.limit:.0f} W" if card.limit else ""
        link = f"{now} of {most}" if card.told else "its link not told"
        print(f"card {at}: {card.name}, {link}{limit}")
    for one in found:
        print(f"{one.rule}, {one.verdict}: {one.says}")
        print(f"  {one.sum}")
        if one.now and one.after:
            print(f"  {model} now: {one.now}")
            more = f"{one.gives:.3g} tokens/s more" if one.gives > 0.05 else "as fast"
            split = f", by {one.now.split}" if len(rig.hands) > 1 else ""
            prompt = one.after.prompt / one.now.prompt
            faster = f", a prompt {prompt:.2g} times as fast" if prompt > 1.05 else ""
            print(f"  mended: {more}{split}{faster}")
        if one.todo:
            print(f"  {one.todo}")
        if one.command:
            print(f"  {one.command}")
    if not found:
        print("every card runs as it should")

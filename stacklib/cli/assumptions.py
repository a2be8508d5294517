"""``stacklib assumptions``: every judgement the book's numbers rest on, and why."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .arguments import add_formats, as_table, emit, show_table

if TYPE_CHECKING:
    from stacklib.quantity import Quantity


def add_parser(subparsers: Any) -> None:
    """Register the command."""
    parser = subparsers.add_parser(
        "assumptions",
        description="Read from the stored numbers of the book's checkout.",
    )
    add_formats(parser)
    parser.set_defaults(func=run)


def run(args: argparse.Namespace) -> int:
    """Print every assumption once, with the pages whose numbers rest on it."""
    from stacklib.grading import find_root

    rows = assumptions(find_root())
    if args.json:
        emit({"assumptions": rows})
        return 0
    head = ("what", "value", "why")
    show_table(args, head, [[row[name] for name in head] for row in rows])
    if not as_table(args):
        print(f"{len(rows)} assumptions")
    return 0


def assumptions(root: Path) -> list[dict[str, Any]]:
    """Each assumed leaf: what, value, reason, and by page the numbers that stand on it.

    Raises ValueError where there is no book.
    """
    from stacklib.quantity.store import load

    found: dict[tuple[str, str, str], dict[str, set[str]]] = {}
    for page, said in stored(root):
        made = load(map(json.loads, said["nodes"]))
        for name, number in said["numbers"].items():
            for leaf in made[number["node"]].leaves():
                if leaf.kind == "assumed":
                    row = found.setdefault((leaf.label, value(leaf), leaf.note), {})
                    row.setdefault(page, set()).add(name)
    if not found:
        raise ValueError(f"{root} holds no book; run it in a checkout of the book")
    return [
        {
            "what": what,
            "value": value,
            "why": why,
            "numbers": {page: sorted(names) for page, names in sorted(pages.items())},
        }
        for (what, value, why), pages in sorted(found.items())
    ]


def value(leaf: Quantity) -> str:
    """What was assumed: a whole number with all its digits, a fit with three."""
    return leaf.text(digits=9 if leaf.value.is_integer() else 3)


def stored(root: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """What the cells of the pages say, by page; that of pages without cells last."""
    from stacklib.quantity.say import MIME

    notebooks = [*root.glob("chapters/*/*.ipynb"), *root.glob("book/*/*.ipynb")]
    for path in sorted(notebooks):
        page = path.relative_to(root).with_suffix("").as_posix()
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            for output in cell.get("outputs", ()):
                if MIME in output.get("data", {}):
                    yield page, output["data"][MIME]
    for path in root.glob("book/said.json"):
        yield "", json.loads(path.read_text(encoding="utf-8"))

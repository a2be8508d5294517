"""``stacklib assumptions``: every judgement the book's numbers rest on, and why."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .arguments import add_json, columns, emit


def add_parser(subparsers: Any) -> None:
    """Register the command."""
    parser = subparsers.add_parser(
        "assumptions",
        help="judgements that the book's numbers rest on, each with its reason",
        description="Read from the stored numbers of the book's checkout.",
    )
    add_json(parser)
    parser.set_defaults(func=run)


def run(args: argparse.Namespace) -> int:
    """Print every assumption once, with the pages whose numbers rest on it."""
    from stacklib.evidence import results

    rows = assumptions(results.root())
    if args.json:
        emit({"assumptions": rows})
        return 0
    print(columns([[row["what"], row["value"], row["why"]] for row in rows]))
    print(f"{len(rows)} assumptions")
    return 0


def assumptions(root: Path) -> list[dict[str, Any]]:
    """Each assumed leaf of the stored numbers: what, value, reason, pages.

    Raises ValueError where there is no book.
    """
    from stacklib.quantity.store import load

    found: dict[tuple[str, str, str], set[str]] = {}
    for page, nodes in stored(root):
        for leaf in load(node for node in nodes if node.get("kind") == "assumed"):
            row = (leaf.label, leaf.text(), leaf.note)
            found.setdefault(row, set()).add(page)
    if not found:
        raise ValueError(f"{root} holds no book; run it in a checkout of the book")
    return [
        {"what": what, "value": value, "why": why, "pages": sorted(pages)}
        for (what, value, why), pages in sorted(found.items())
    ]


def stored(root: Path) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """The pages that say numbers, with the nodes of what they say."""
    from stacklib.quantity.say import MIME

    notebooks = [*root.glob("chapters/*/*.ipynb"), *root.glob("book/*/*.ipynb")]
    for path in sorted(notebooks):
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            for output in cell.get("outputs", ()):
                said = output.get("data", {}).get(MIME, {"nodes": []})
                yield path.stem, [json.loads(node) for node in said["nodes"]]
    for path in root.glob("book/said.json"):
        said = json.loads(path.read_text(encoding="utf-8"))
        yield path.stem, [json.loads(node) for node in said["nodes"]]

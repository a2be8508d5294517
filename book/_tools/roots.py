"""What the numbers of the book stand on, counted over the stored outputs.

A number has a root where its tree ends in records, in a reader's own choice or in a
public call. Counted by chapter: numbers that are one node alone without source, key or
public call; numbers with a private call in their tree; times, rates, joules and prices
with the band of a model.

Usage: python -m _tools.roots [--list WORD]   (names those of a notebook)
"""

import argparse
import sys
from collections import Counter
from collections.abc import Iterator

from _tools import said
from stacklib import hardware
from stacklib.quantity import Quantity
from stacklib.quantity.core import SOURCED
from stacklib.quantity.counting import PLAIN
from stacklib.quantity.told import COUNT, families, parts, told

COLUMNS = ("numbers", "rootless", "chosen", "private", "costs", "banded", "unbanded")
PUBLIC = ("stacklib.", COUNT, *(f"{name}(" for name in PLAIN))


def nodes(q: Quantity) -> Iterator[Quantity]:
    """A number and everything under it, each node once."""
    seen: set[int] = set()
    todo = [q]
    while todo:
        part = todo.pop()
        if id(part) not in seen:
            seen.add(id(part))
            yield part
            todo += parts(part)


def public(q: Quantity) -> bool:
    """Whether a count shows a call that a reader can type."""
    return q.note.startswith(PUBLIC)


def private(q: Quantity) -> bool:
    """Whether a number stands on a call of a private function."""
    calls = (one.note.split("(")[0] for one in nodes(q) if one.kind == "counted")
    return any(f".{call}".find("._") >= 0 for call in calls)


def rootless(q: Quantity) -> bool:
    """Whether a number opens to one node without source, key or public call."""
    if q.inputs or q.source or q.key or q.kind in ("chosen", "assumed", "constant"):
        return False
    return not public(q)


def typed(q: Quantity) -> list[Quantity]:
    """The leaves that say that they were read and name no record."""
    return [one for one in nodes(q) if one.kind in SOURCED and not one.key]


def cost(q: Quantity) -> bool:
    """Whether a number says how long, how fast, how much energy or money."""
    return told(q) in ("predicted", "simulated") and said.costs(q)


def chapter(place: str) -> str:
    """Two digits of the chapter of a cell's place; ``book`` for the other pages."""
    head, _, rest = place.partition("/")
    return rest[:2] if head == "chapters" else "book"


def count(numbers: dict[str, said.Number]) -> dict[str, Counter[str]]:
    """The counts of ``COLUMNS`` by chapter."""
    found: dict[str, Counter[str]] = {}
    for number in numbers.values():
        q, row = (
            number.quantity,
            found.setdefault(chapter(number.cell.place), Counter()),
        )
        row["numbers"] += 1
        row["rootless"] += rootless(q)
        row["chosen"] += not (q.inputs or q.key) and q.kind == "chosen"
        row["private"] += private(q)
        if cost(q):
            row["costs"] += 1
            bands = [hardware.error_band(family) for family in families(q)]
            row["banded"] += any(bands)
            row["unbanded"] += not said.error_bar(q)
    return found


def main(words: list[str] | None = None) -> int:
    """Print the counts, or the numbers of one notebook that lack a root."""
    parser = argparse.ArgumentParser(prog="roots", description="what numbers stand on")
    parser.add_argument("--list", default="", help="a word of the notebooks' paths")
    word = parser.parse_args(words).list
    numbers = said.numbers()
    if word:
        for name, number in numbers.items():
            q = number.quantity
            if word in number.cell.place and (rootless(q) or private(q) or typed(q)):
                print(
                    f"{number.cell.place}: {name} = {number.text}: {q.note or q.label}"
                )
    found = count(numbers)
    print("  ".join(f"{name:>9}" for name in ("chapter", *COLUMNS)))
    for name, row in [*sorted(found.items()), ("all", sum(found.values(), Counter()))]:
        print("  ".join(f"{x:>9}" for x in (name, *(row[c] for c in COLUMNS))))
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Which sentences change when a spec changes: `make numbers`.

The text between the brackets of a computed link is the stored value; this compares
it with the value computed now. Nothing is written; `make execute` does that.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from _tools import prose, tree
from _tools.prose import LINK, Block

Lookup = Callable[[str], str]


@dataclass(frozen=True)
class Moved:
    """A sentence with the numbers in it that are no longer what it says."""

    block: Block
    sentence: str

    def __str__(self) -> str:
        return f"{self.block}: {self.sentence}"


@cache
def current(name: str) -> str:
    """The text of a registered number under the present specs."""
    from stacklib.evidence import numbers

    return numbers.get(name).text


def refresh(text: str, lookup: Lookup = current) -> str:
    """`text` with every computed link's bracket rewritten to the present value."""
    for link in reversed(prose.links(text)):
        start, end = link.span("text")
        text = text[:start] + lookup(link["name"]) + text[end:]
    return text


def moved(blocks: Iterable[Block], lookup: Lookup = current) -> list[Moved]:
    """The sentences whose numbers differ from the present ones, in page order.

    A name that is not registered raises LookupError, with the page it stands on.
    """
    found = []
    for block in blocks:
        links = prose.links(block.text)
        try:
            stale = {m.start() for m in links if m["text"] != lookup(m["name"])}
        except LookupError as error:
            raise LookupError(f"{block}: {error}") from None
        for start, end in prose.sentences(block.text) if stale else ():
            if any(start <= position < end for position in stale):
                text = shown(block.text[start:end], lookup)
                found.append(Moved(block, text))
    return found


def shown(sentence: str, lookup: Lookup) -> str:
    """The sentence on one line: [old -> new] where a number moved, else its text."""

    def bracket(link: re.Match[str]) -> str:
        old, new = link["text"], lookup(link["name"])
        return old if old == new else f"[{old} -> {new}]"

    return " ".join(LINK.sub(bracket, sentence).split())


def used(blocks: Iterable[Block]) -> list[str]:
    """The names of all numbers the blocks link to, once each."""
    return sorted({m["name"] for block in blocks for m in prose.links(block.text)})


def main(
    argv: list[str] | None = None, root: Path = tree.ROOT, lookup: Lookup = current
) -> int:
    """Print the sentences that move, and how many; always 0 unless `--check`."""
    parser = argparse.ArgumentParser(prog="make numbers", description=__doc__)
    parser.add_argument("--check", action="store_true", help="exit 1 if one moves")
    options = parser.parse_args(argv)
    blocks = list(prose.blocks(root))
    try:
        found = moved(blocks, lookup)
    except LookupError as error:
        print(error, file=sys.stderr)
        return 2
    for sentence in found:
        print(sentence)
    verb = "sentence changes" if len(found) == 1 else "sentences change"
    print(f"{len(found)} {verb}; {len(used(blocks))} computed numbers in use")
    return int(options.check and bool(found))


if __name__ == "__main__":
    sys.exit(main())

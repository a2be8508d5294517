"""Which sentences change when a spec changes: `make numbers`.

Closed forms are put through their stored derivations with the present specs. A number
that a run counted cannot be: its notebook is run again, in a copy, where the run stands
on a leaf that moved. Nothing is written; `make execute` does that.
"""

import argparse
import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from _tools import leaves, prose, said, tree
from _tools.brackets import Lookup
from _tools.prose import LINK, Block
from _tools.rerun import run
from _tools.said import Cell, Number
from stacklib.quantity.store import load


@dataclass(frozen=True)
class Moved:
    """A sentence with the numbers in it that are no longer what it says."""

    block: Block
    sentence: str

    def __str__(self) -> str:
        return f"{self.block}: {self.sentence}"


def present(root: Path = tree.ROOT) -> Lookup:
    """The text of each number under the present specs; runs repeated where needed."""
    numbers = said.numbers(root)
    cells = list(said.cells(root))
    moved = {key for cell in cells for key in _moved(cell)}
    fresh: dict[str, str] = {}
    for cell in cells:
        if moved & _keys(cell):
            fresh |= _recomputed(cell)
    for path in sorted(_to_run(cells, moved, root)):
        print(f"running {tree.name(path, root)}", file=sys.stderr)
        fresh |= _rerun(path, root)
    return lambda name: fresh.get(name) or said.get(numbers, name).text


def _keys(cell: Cell) -> set[str]:
    return {node["key"] for node in cell.nodes if node.get("key")}


def _moved(cell: Cell) -> set[str]:
    """The keys of a cell whose records say something else now."""
    return {node["key"] for node in cell.nodes if node.get("key") and _differs(node)}


def _differs(node: dict) -> bool:
    now = _now(node["key"], node["si"])
    return abs(now - node["si"]) > leaves.SAME * abs(now)


def _now(key: str, old: float) -> float:
    """The present value of a record; the old one where there is none any more."""
    try:
        return old if old in leaves.ends(key) else leaves.current(key)
    except (LookupError, ValueError):
        return old


def _recomputed(cell: Cell) -> dict[str, str]:
    """Every number of a cell, put through its derivation with the present leaves.

    A stored text stands where nothing under it moved.
    """
    quantities = load(cell.nodes, moved=_now)
    return {
        name: number.printed(now)
        for name, entry in cell.stored["numbers"].items()
        for number, now in [(Number(name, cell), quantities[entry["node"]])]
        if now.si != number.quantity.si
    }


def _to_run(cells: Iterable[Cell], moved: set[str], root: Path) -> set[Path]:
    """Notebooks whose runs, or whose measurements, stand on something that moved."""
    devices = {key.partition(".")[0] for key in moved if "/" not in key}
    found = set()
    for cell in cells:
        files = cell.stored.get("files", {}).items()
        measured = any(leaves.digest(file) != read for file, read in files)
        if measured or any(_stands_on(cell, i, moved, devices) for i in _runs(cell)):
            found.add(root / cell.place.partition(", ")[0])
    return {path for path in found if path.suffix == ".ipynb"}


def _runs(cell: Cell) -> list[int]:
    return [i for i, node in enumerate(cell.nodes) if node.get("kind") == "counted"]


def _stands_on(cell: Cell, run: int, moved: set[str], devices: set[str]) -> bool:
    """Whether a run's inputs hold a moved leaf, or its call names a moved device."""
    node = cell.nodes[run]
    below = [run, *node.get("inputs", ())]
    for i in below:
        below += [j for j in cell.nodes[i].get("inputs", ()) if j not in below]
    keys = {cell.nodes[i].get("key", "") for i in below}
    named = any(f"'{device}'" in node.get("note", "") for device in devices)
    return bool(keys & moved) or named


def _rerun(path: Path, root: Path) -> dict[str, str]:
    """What a notebook's cells say when it is run now; the file is left alone.

    A stored text stands where the run made the same number.
    """
    stored, name = tree.read_notebook(path), tree.name(path, root)
    before = said.index(said.of_notebook(stored, name))
    now = said.index(said.of_notebook(run(stored, path.parent), name))
    return {
        name: number.text
        for name, number in now.items()
        if name not in before or not before[name].stands(number.quantity)
    }


def moved(blocks: Iterable[Block], lookup: Lookup) -> list[Moved]:
    """The sentences whose numbers differ from what `lookup` says, in page order.

    A name that no cell says raises LookupError, with the page it stands on.
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
    argv: list[str] | None = None,
    root: Path = tree.ROOT,
    lookup: Lookup | None = None,
) -> int:
    """Print the sentences that move, and how many; always 0 unless `--check`."""
    parser = argparse.ArgumentParser(prog="make numbers", description=__doc__)
    parser.add_argument("--check", action="store_true", help="exit 1 if one moves")
    options = parser.parse_args(argv)
    blocks = list(prose.blocks(root))
    try:
        found = moved(blocks, lookup or present(root))
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

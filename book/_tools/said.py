"""The numbers that the book says, read from stored outputs; nothing is computed.

A cell that ends in ``say(...)`` stores its numbers with their derivations. Those of
pages without cells stand in `book/said.json`, which `make execute` writes.
"""

import difflib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from _tools import tree
from stacklib import hardware
from stacklib.hardware.errors import nearest
from stacklib.quantity import Quantity
from stacklib.quantity.runs import near
from stacklib.quantity.say import MIME, printed
from stacklib.quantity.store import load
from stacklib.quantity.told import families, told

FRONT = "book/said.json"
NOT_VALIDATED = "not yet validated"
NO_MODEL = "none; arithmetic on its inputs, without a model of losses"
NO_ROWS = "none; a run of our own machinery, which no published row was held against"
COSTS = ("s", "J", "USD")  # a unit with one of them is a time, a rate, or a price
# Models whose numbers no published row was held against yet, as a reader knows them.
MODELS = {
    "A/vector": "products on ordinary lanes",
    "A/widened": "products whose weights are widened first",
    "D_small/network": "small collectives over a network",
    "E_decode": "the decode step",
    "J/prompt": "a prompt on cards of a rig (no band that was tried holds)",
    "chase": "the pointer chase",
    "host": "this machine's roofline",
    "littles_law": "Little's law",
    "tile_feed": "the feeding of tiles",
    "tpu_v1": "the first TPU's tiles and memory",
    "trend": "a line through the years",
    "wall": "watts from the wall",
}


class UnknownNumber(LookupError):
    """No cell of the book says a number of this name."""


class SaidTwice(ValueError):
    """Two cells say a number of the same name."""


@dataclass(frozen=True)
class Cell:
    """What one cell said: its place, its numbers and the nodes under them."""

    place: str
    stored: dict[str, Any]

    @cached_property
    def nodes(self) -> list[dict[str, Any]]:
        """The stored nodes, inputs before what stands on them."""
        nodes: list[dict[str, Any]] = json.loads(f"[{','.join(self.stored['nodes'])}]")
        return nodes

    @cached_property
    def quantities(self) -> list[Any]:
        """Every node of the cell as a quantity."""
        return load(self.nodes)


@dataclass(frozen=True)
class Number:
    """One number of the text, as its cell stored it."""

    name: str
    cell: Cell

    @property
    def stored(self) -> dict[str, Any]:
        """Text, sentence, unit, digits and node."""
        return self.cell.stored["numbers"][self.name]

    @property
    def text(self) -> str:
        """What stands between the brackets of a link."""
        return self.stored["text"]

    @property
    def what(self) -> str:
        """One sentence: what it is."""
        return self.stored["what"]

    @property
    def quantity(self) -> Quantity:
        """The value with its derivation, as stored."""
        return self.cell.quantities[self.stored["node"]]

    def printed(self, quantity: Quantity) -> str:
        """Another value of this number, printed as it is."""
        unit, digits = self.stored.get("unit"), self.stored.get("digits", 3)
        return printed(quantity, unit, digits)

    def stands(self, quantity: Quantity) -> bool:
        """Whether the stored text may be that of a value which a run made now."""
        return self.text in map(self.printed, near(quantity))

    def tree(self) -> dict[str, Any]:
        """Derivation for the page: ``Quantity.tree()`` and what a reader is told."""
        return {
            **self.quantity.tree(),
            "text": self.text,
            "name": self.name,
            "what": self.what,
            "error_bar": error_bar(self.quantity),
            "cell": self.cell.place,
        }


def costs(q: Quantity) -> bool:
    """Whether a number says how long, how fast, how much energy or money."""
    return any(q.shown.dimension(name) for name in COSTS)


def error_bar(q: Quantity) -> str:
    """The band of the models under a number, or by name those that have none.

    Empty for what is no prediction: neither a model's, nor a time or a price of a run.
    """
    word = told(q)
    if word == "simulated" and costs(q):
        return NO_ROWS
    if word != "predicted":
        return ""
    bands = {family: hardware.error_band(family) for family in families(q)}
    bare = sorted(
        MODELS.get(nearest(family, MODELS) or family, family)
        for family, band in bands.items()
        if band is None
    )
    if bare:
        return f"{NOT_VALIDATED}: {', '.join(bare)}"
    known = [band for band in bands.values() if band]
    if not known:
        return NO_MODEL
    widest = max(known, key=lambda band: band.p90)
    half, most = f"{100 * widest.median:.0f} %", f"{100 * widest.p90:.0f} %"
    near = f"half of the predictions are within {half}, nine in ten within {most}"
    if widest.low:
        ends = f"{100 * widest.low:.0f} to {100 * widest.high:.0f} %"
        near = (
            f"half of the predictions are within {half}, nine in ten measured times "
            f"are {ends} of the predicted"
        )
    return f"{near}, of {widest.unseen:,} rows never seen"


def of_notebook(notebook: Any, name: str) -> Iterator[Cell]:
    """What the cells of one notebook said."""
    for number, cell in enumerate(notebook["cells"], 1):
        for output in cell.get("outputs", ()):
            stored = output.get("data", {}).get(MIME)
            if stored:
                yield Cell(f"{name}, cell {number}", stored)


def cells(root: Path = tree.ROOT) -> Iterator[Cell]:
    """Every cell of the book that said something."""
    for path in tree.notebooks(root):
        text = path.read_text("utf-8")
        if MIME in text:
            yield from of_notebook(json.loads(text), tree.name(path, root))
    front = root / FRONT
    if front.is_file():
        yield Cell(FRONT, json.loads(front.read_text("utf-8")))


def numbers(root: Path = tree.ROOT) -> dict[str, Number]:
    """Every number of the book by name, as stored."""
    return index(cells(root))


def index(said: Iterable[Cell]) -> dict[str, Number]:
    """Every number by name.

    Raises SaidTwice for a name of two cells, naming both.
    """
    found: dict[str, Number] = {}
    for cell in said:
        for name in cell.stored["numbers"]:
            if name in found:
                raise SaidTwice(
                    f"number {name!r} is said twice: in {found[name].cell.place} "
                    f"and in {cell.place}; give one another name"
                )
            found[name] = Number(name, cell)
    return found


def get(numbers: dict[str, Number], name: str) -> Number:
    """The number of a link ``#q:name``; UnknownNumber with the nearest names."""
    if name in numbers:
        return numbers[name]
    near = difflib.get_close_matches(name, numbers, 3, 0.4)
    hint = f"; nearest: {', '.join(near)}" if near else ""
    raise UnknownNumber(f"no cell says a number {name!r}{hint}")


def faults(numbers: dict[str, Number]) -> list[str]:
    """Stored texts that their own stored derivations do not give.

    Of a number that a run made, nor what counts as the same number.
    """
    return [
        f"{number.cell.place}: {name} reads {number.text!r}, its derivation gives "
        f"{number.printed(number.quantity)!r}; run make execute"
        for name, number in numbers.items()
        if not number.stands(number.quantity)
    ]

"""FPGAs that one can buy on a board: what they hold, how fast a design runs, a price.

A place of an array takes a block of multipliers, or look-up tables where those are
gone. How many of each is what synthesis found; the clock is what a design runs at, not
what a block could. Left out: speed grades, and memory beside the chip.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from stacklib.cost.spans import Span, span
from stacklib.quantity import Quantity, one_of, quoted, resolve

# Of each family the multipliers of eight bits that a block holds.
FAMILIES = {"ice40": 1, "ecp5": 1, "xc7": 1, "xcup": 1, "cyclonev": 3}


def table(name: str) -> dict[str, dict[str, str]]:
    """Rows of a file of words by their key."""
    text = (Path(__file__).parent / "data" / f"{name}.csv").read_text("utf-8")
    return {row.pop("key"): row for row in csv.DictReader(text.splitlines())}


_KNOWN = table("fpgas")
KEYS = tuple(_KNOWN)
BOARDS = {row["board"]: key for key, row in _KNOWN.items() if row["board"]}


@dataclass(frozen=True)
class Fpga:
    """One device, each number with its source."""

    key: str
    name: str
    family: str
    luts: Quantity
    dsps: Quantity
    memory: Quantity
    clock: Quantity
    price: Span  # of a board

    @property
    def ceiling(self) -> Quantity:
        """Operations a second if every multiplier of a block worked in every cycle.

        A product and its sum are two, as data sheets count.
        """
        count = self.dsps * FAMILIES[self.family]
        rate = 2 * count * one_of("OP/cycle dense per_chip") * self.clock
        return rate.to("TOP/s").named(f"{self.name}, multipliers x clock")


@cache
def device(name: str) -> Fpga:
    """An FPGA by its key or a board that carries it."""
    known = {**{k: k for k in KEYS}, **BOARDS}
    key = known[resolve(str(name), known, "FPGA")]
    fields = ("luts", "dsps", "memory", "clock", "price_low", "price_high")
    luts, dsps, memory, clock, *price = (quoted(f"fpga_{key}.{f}") for f in fields)
    name, family = _KNOWN[key]["name"], _KNOWN[key]["family"]
    return Fpga(key, name, family, luts, dsps, memory, clock, span(*price))


def per_place(family: str, block: bool = True) -> Quantity:
    """Look-up tables of one place, with its multiplier in a block or not."""
    return quoted(f"place.{family}_{'block' if block else 'tables'}")

"""FPGAs that one can buy on a board: what they hold, how fast a design runs, a price.

A place of an array takes a block of multipliers, or look-up tables where those are
gone. How many of each is what synthesis found; the clock is what a design runs at, not
what a block could. Left out: speed grades, and memory beside the chip.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from stacklib.cost.spans import Span, span
from stacklib.quantity import Quantity, one_of, quoted, resolve

# Of each family the multipliers of eight bits that a block holds.
FAMILIES = {
    "ice40": 1,
    "ecp5": 1,
    "xc7": 1,
    "xcup": 1,
    "cyclonev": 3,
}
KEYS = {
    "up5k": ("iCE40 UP5K", "ice40"),
    "hx8k": ("iCE40 HX8K", "ice40"),
    "ecp5_85f": ("ECP5-85F", "ecp5"),
    "artix_100t": ("Artix-7 100T", "xc7"),
    "zynq_7020": ("Zynq 7020", "xc7"),
    "cyclone_v": ("Cyclone V SE A6", "cyclonev"),
    "k26": ("Kria K26", "xcup"),
    "u50": ("Alveo U50", "xcup"),
    "u55c": ("Alveo U55C", "xcup"),
}
BOARDS = {
    "icebreaker": "up5k",
    "ulx3s": "ecp5_85f",
    "arty_a7_100t": "artix_100t",
    "pynq_z2": "zynq_7020",
    "de10_nano": "cyclone_v",
    "kv260": "k26",
}


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


def device(name: str) -> Fpga:
    """An FPGA by its key or a board that carries it."""
    known = {**{k: k for k in KEYS}, **BOARDS}
    return _read(known[resolve(str(name), known, "FPGA")])


@cache
def _read(key: str) -> Fpga:
    words, family = KEYS[key]
    told = {
        field: quoted(f"fpga_{key}.{field}")
        for field in ("luts", "dsps", "memory", "clock")
    }
    price = span(*(quoted(f"fpga_{key}.price_{end}") for end in ("low", "high")))
    return Fpga(key, words, family, **told, price=price)


def per_place(family: str, block: bool = True) -> Quantity:
    """Look-up tables of one place, with its multiplier in a block or not."""
    return quoted(f"place.{family}_{'block' if block else 'tables'}")

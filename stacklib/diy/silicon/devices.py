"""FPGAs that one can buy on a board: what they hold, how fast a design runs, a price.

A place of an array takes a block of multipliers, or look-up tables where those are
gone. How many of each is what synthesis found; the clock is what a design runs at, not
what a block could. Left out: speed grades, and most memory beside the chip.

``weigh`` sets a board against a card of a fifth of its price, each with the weeks of a
person at a wage: what one project on either costs, and after how many of them at work
the board's lower price a unit, if it has one, would have paid for its weeks.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from math import ceil
from typing import Any, NamedTuple

from stacklib import hardware
from stacklib.cost.spans import Span, span
from stacklib.quantity import Quantity, chosen, one_of, quoted, resolve
from stacklib.quantity.bounds import above_zero

from ..build import table

WAGE = 100_000, "USD/year", "wage"
WEEKS = (one_of("year") / (7 * one_of("day"))).to("").named("weeks of a year")
# Of each family the multipliers of eight bits that a block holds.
FAMILIES = {"ice40": 1, "ecp5": 1, "xc7": 1, "xcup": 1, "cyclonev": 3}


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


class Side(NamedTuple):
    """One of the two."""

    name: str
    rate: Quantity  # operations on eight bits a second, at the most
    bytes: Quantity | None  # a second, from memory beside the chip
    price: Quantity
    weeks: Quantity
    effort: Quantity  # price of bringing one network to it

    @property
    def total(self) -> Quantity:
        """Thing and effort, for one of it."""
        return (self.price + self.effort).named(f"{self.name} and its effort")


class Choice(NamedTuple):
    """Board and card beside one another."""

    board: Side
    card: Side

    @property
    def rate(self) -> Quantity:
        """The card's operations a second over the board's."""
        return (self.card.rate / self.board.rate).named("in operations")

    @property
    def bytes(self) -> Quantity | None:
        """The card's bytes a second over the board's; what a decode step waits for."""
        if self.card.bytes is None or self.board.bytes is None:
            return None
        return (self.card.bytes / self.board.bytes).named("in bytes")

    @property
    def money(self) -> Quantity:
        """The board with its effort over the card with its own."""
        return (self.board.total / self.card.total).named("in money")

    def same_speed(self) -> int:
        """Boards that do as many operations a second as one card, at the least."""
        return ceil(self.rate.si)


def weigh(
    board: str = "u50",
    card: str = "rtx-5060-ti",
    *,
    weeks: float | None = None,
    by_hls: bool = False,
) -> Choice:
    """An FPGA board and a card for one network of eight bits.

    - ``weeks``: on the card, the guide's judged ones if left out; on the board the
      guide's effort times as many.
    - ``by_hls``: from C, by high-level synthesis, not in a hardware language.
    """
    of, other, paid = device(board), hardware.get(card), chosen(*WAGE)
    on_card = quoted("fpga_guide.weeks")
    if weeks is not None:
        above_zero(weeks=weeks)
        on_card = chosen(weeks, "", "weeks")
    on_board = on_card * quoted("fpga_guide.effort")
    if by_hls:
        on_board *= quoted("hls.time")

    def side(name: str, rate: Quantity, memory: Any, price: Any, weeks: Any) -> Side:
        cost = (weeks / WEEKS * one_of("year") * paid).to("USD").named("effort")
        return Side(name, rate, memory, price, weeks.named(f"weeks on {name}"), cost)

    memory = quoted(f"fpga_{of.key}.bandwidth") if of.key in ("u50", "u55c") else None
    price = of.price.middle.named(f"price of a board with {of.name}")
    rate, bought = other.peaks["int8"].rate, other.purchase_price.across(1)
    return Choice(
        side(of.name, of.ceiling, memory, price, on_board),
        side(other.short, rate, other.memory_bandwidth.across(1), bought, on_card),
    )

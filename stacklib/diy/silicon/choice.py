"""An FPGA board against a card of a fifth of its price: rate, bytes and weeks.

    card      operations a second of its peak, and bytes from its memory
    board     multipliers x clock, and bytes from its memory
    both      dollars of the thing, weeks of a person at a wage

One project on either: what it costs, and after how many of them at work the board's
lower price a unit, if it has one, would have paid for its weeks. ``by_hls`` is the
board's effort where high-level synthesis takes the place of a hardware language.
"""

from __future__ import annotations

from dataclasses import dataclass

from stacklib import hardware
from stacklib.quantity import Quantity, chosen, one_of, quoted
from stacklib.quantity.bounds import above_zero

from .devices import Fpga, device

WEEKS = 365.25 / 7  # of a year


@dataclass(frozen=True)
class Side:
    """One of the two.

    - ``rate``: operations on eight bits a second, at the most
    - ``bytes``: from memory beside the chip, a second; none where it has none
    - ``price``: of the thing
    - ``effort``: of bringing one network to it
    """

    name: str
    rate: Quantity
    bytes: Quantity | None
    price: Quantity
    weeks: Quantity
    effort: Quantity

    @property
    def total(self) -> Quantity:
        """Thing and effort, for one of it."""
        return (self.price + self.effort).named(f"{self.name} and its effort")


@dataclass(frozen=True)
class Choice:
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
        return -int(-self.rate.si // 1)


def weigh(
    board: str | Fpga = "u50",
    card: str = "rtx-5060-ti",
    *,
    wage: Quantity | float = 100_000,
    weeks: float | None = None,
    effort: float | None = None,
    by_hls: bool = False,
) -> Choice:
    """An FPGA board and a card for one network of eight bits.

    - ``wage``: of who does it, dollars a year.
    - ``weeks``: on the card, the guide's judged ones if left out.
    - ``effort``: how many times as long it takes on the board.
    - ``by_hls``: from C, by high-level synthesis, not in a hardware language.
    """
    of = device(board) if isinstance(board, str) else board
    other = hardware.get(card)
    if not isinstance(wage, Quantity):
        above_zero(wage=wage)
        wage = chosen(wage, "USD/year", label="wage")
    on_card = quoted("fpga_guide.weeks") if weeks is None else _times(weeks, "weeks")
    longer = quoted("fpga_guide.effort") if effort is None else _times(effort, "effort")
    on_board = on_card * longer
    if by_hls:
        on_board = on_board * quoted("hls.time")
    price = of.price.middle
    asked = other.purchase_price
    return Choice(
        Side(
            of.name,
            of.ceiling,
            quoted(f"fpga_{of.key}.bandwidth") if of.key in ("u50", "u55c") else None,
            price.named(f"price of a board with {of.name}"),
            on_board.named("weeks on the board"),
            _cost(on_board, wage),
        ),
        Side(
            other.short,
            other.peaks["int8"].rate,
            other.memory_bandwidth,
            asked,
            on_card.named("weeks on the card"),
            _cost(on_card, wage),
        ),
    )


def _times(value: float, label: str) -> Quantity:
    above_zero(**{label: value})
    return chosen(value, label=label)


def _cost(weeks: Quantity, wage: Quantity) -> Quantity:
    years = weeks / WEEKS * one_of("year")
    return (years * wage).to("USD").named("effort")

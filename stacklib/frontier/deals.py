"""Contracts, shares and margins: what is told, by the year, by the watt, side by side.

A contract's dollars say little until they are spread over its years or its watts; a
share says nothing until one knows of what. Dollars are those of the announcement.
"""

from __future__ import annotations

from typing import NamedTuple

from stacklib.quantity import Quantity, chosen, quoted

CONTRACTS = {
    "deal_cerebras": ("OpenAI", "Cerebras", "watts"),
    "deal_openai": ("OpenAI", "Trainium", "years"),
    "deal_anthropic": ("Anthropic", "Trainium", "years"),
    "deal_ai5": ("Tesla", "Samsung", "years"),
}


class Deal(NamedTuple):
    """A contract: who, with whom, dollars, and dollars a year or a watt."""

    buyer: str
    seller: str
    dollars: Quantity
    each: Quantity
    by: str  # ``years`` or ``watts``


class Share(NamedTuple):
    """A share as one source tells it, and what it counts."""

    source: str
    told: Quantity
    counts: str


SHARES = {
    "hbm_share.first": ("a post of 002", "HBM, no quarter named"),
    "hbm_share.second": ("another post of 002", "HBM, no quarter named"),
    "hbm_share.oldest": ("000", "HBM beside two makers with the rest, 2022's split"),
}
# Who makes what at three nanometres and below, as two posts of one author tell it.
FOUNDRIES = (
    ("no other foundry at 3 nm", "TSMC", "volume of accelerators"),
    ("AI5 comes from two", "TSMC and Samsung", "one chip, announced, in two versions"),
)


def deals() -> tuple[Deal, ...]:
    """All contracts of the source documents that name years or watts."""
    found = []
    for key, (buyer, seller, by) in CONTRACTS.items():
        dollars, over = quoted(f"{key}.dollars"), quoted(f"{key}.{by}")
        each = (dollars / over).named(f"dollars of {buyer}'s contract, by {by}")
        found.append(Deal(buyer, seller, dollars, each, by))
    return tuple(found)


def shares() -> tuple[Share, ...]:
    """One maker's share of HBM, by each source."""
    return tuple(Share(who, quoted(key), of) for key, (who, of) in SHARES.items())


def apart() -> Quantity:
    """The two shares of one author over each other."""
    first, second = quoted("hbm_share.first"), quoted("hbm_share.second")
    return (first / second).to("").named("one share over the other")


def profits() -> Quantity:
    """The memory maker's profit over the foundry's: margins turned into dollars."""
    theirs = quoted("margin.tsmc") * quoted("margin.tsmc_revenue")
    return (quoted("margin.hynix_profit") / theirs).to("").named("profit over profit")


def oil(barrels_a_day: float = 103e6, dollars: float = 70.0) -> Quantity:
    """What the world pays for oil in a year: the bar for a larger market."""
    year = chosen(barrels_a_day * 365, label="barrels of a year")
    price = chosen(dollars, "USD", label="price of a barrel")
    return (year * price).named("oil of a year")

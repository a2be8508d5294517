"""Contracts, shares and margins: what is told, by the year, by the watt, side by side.

A contract's dollars say little until they are spread over its years or its watts; a
share says nothing until one knows of what. Dollars are those of the announcement.
"""

from __future__ import annotations

from typing import NamedTuple

from stacklib.quantity import Quantity, chosen, quoted

from .gigawatt import deal_a_watt

CONTRACTS = {
    "deal_cerebras": ("OpenAI", "Cerebras", True),
    "deal_openai": ("OpenAI", "AWS", True),
    "deal_anthropic": ("Anthropic", "AWS", True),
    "deal_ai5": ("Tesla", "Samsung", False),
}


class Deal(NamedTuple):
    """A contract: who, with whom, dollars, over years and, where told, over watts."""

    buyer: str
    seller: str
    dollars: Quantity
    a_year: Quantity
    a_watt: Quantity | None


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
    for key, (buyer, seller, powered) in CONTRACTS.items():
        dollars, years = quoted(f"{key}.dollars"), quoted(f"{key}.years")
        a_year = (dollars / years).named(f"{buyer} with {seller}, a year")
        a_watt = deal_a_watt(dollars, quoted(f"{key}.watts")) if powered else None
        found.append(Deal(buyer, seller, dollars, a_year, a_watt))
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


def oil() -> Quantity:
    """What the world pays for oil in a year: the bar for a larger market."""
    year = chosen(365, label="days of a year") * quoted("oil.barrels")
    return (year * quoted("oil.price")).named("oil of a year")

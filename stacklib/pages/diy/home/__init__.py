"""Section 9.8: What does the token cost at home?"""

from __future__ import annotations

from functools import cache
from typing import Any

from stacklib import cost, diy
from stacklib.cost.spans import Span, span
from stacklib.cost.tokens import BreakEven, TokenBill
from stacklib.diy.planned import Planned
from stacklib.diy.silicon.realism import own_chip
from stacklib.pages.chain.posts import CONTEXT
from stacklib.pages.diy import budget
from stacklib.quantity import Quantity, chosen, counting, maximum, minimum, quoted
from stacklib.quantity.constants import case

BUDGET = budget.BUDGETS[1]
YEARS, DAY = 4.0, 24  # that the machine serves; hours
MANY = case("home")  # conversations at once
FLAT: dict[str, Any] = dict.fromkeys(("cooling", "storage", "network", "people"), 0.0)
# A machine's way of writing: split, limit in W or its own, conversations.
WAYS: dict[str, tuple[str, float | None, int]] = {
    "by layers": ("layers", None, 1),
    "by tensors": ("tensors", None, 1),
    "at 300 W a card": ("tensors", 300.0, 1),
    "with eight readers": ("tensors", None, MANY),
}
BEST = "by tensors"


def machine() -> Planned:
    """The machine of the middle budget."""
    return budget.machine(BUDGET)


@cache
def built(way: str) -> Any:
    """The same under the limit of a way."""
    limit = WAYS[way][1] or machine().limit
    return machine().with_(limit=limit)


@counting("tokens a second, {way}", unit="token/s", family="J/decode")
def rate(way: str = BEST) -> float:
    """Of all conversations together."""
    split, _, many = WAYS[way]
    asked: dict[str, Any] = {"batch": many, "context": CONTEXT}
    return diy.speed(built(way), budget.RUN, split=split, **asked).decode


@counting("watts from the wall, {way}", unit="W", family="wall")
def wall(way: str = BEST) -> float:
    """With every card at work."""
    return diy.chain(built(way)).wall


def joules(way: str = BEST) -> Quantity:
    """Energy from the wall of one token."""
    return (wall(way) / rate(way)).to("J/token").named(f"energy of a token, {way}")


def electricity() -> Span:
    """What a household pays, in Iowa and in Connecticut."""
    ends = (quoted(f"eia.home_{state}_2025") for state in ("iowa", "connecticut"))
    return span(*ends).named("a kilowatt hour at home")


def rent() -> Span:
    """An hour of as many such cards, by the quotes of clouds."""
    rates = [q.value for q in cost.prices(budget.PAIR, "cloud")]
    pair = len(machine().gpus)
    ends = (minimum(*rates).across(pair), maximum(*rates).across(pair))
    return Span(*(each.to("USD/h") for each in ends)).named("rent of an hour")


@cache
def bill(hours: float = DAY, way: str = BEST) -> TokenBill:
    """A million tokens of a machine that works so many hours a day, and is else off."""
    used = chosen(hours / DAY, label="share of the day")
    power = (wall(way) * used).named("power on average")
    paid = budget.bill(BUDGET)
    every: dict[str, Any] = {"pue": 1.0, "years": YEARS, **FLAT}
    every |= {"capital": paid, "power": power, "price_of_power": electricity()}
    return cost.token(rate(way), utilisation=used, **every)


def hour(row: str, end: str = "low") -> Quantity:
    """A row of the bill, an hour of work or of life."""
    found: Quantity = getattr(bill().hourly[row], end)
    return found


@cache
def even(end: str) -> BreakEven:
    """Owned for what it cost, rented for what is left of the rent beyond power."""
    other = {"low": "high", "high": "low"}[end]
    left = getattr(rent(), other) - hour("power", end)
    every: dict[str, Any] = {"pue": 1.0, "power": 0.0, "years": YEARS, **FLAT}
    return cost.break_even(rate(), rent=left, capital=budget.bill(BUDGET), **every)


def hours(end: str) -> Quantity:
    """Hours a day from which owning is the cheaper: ``low`` or ``high``."""
    day = chosen(DAY, "h", label="hours of a day")
    found = even(end).utilisation.low * day
    return found.named(f"hours a day to break even, {end}")


def rented(end: str) -> Quantity:
    """A million tokens on rented hours, all of them in use."""
    found = (getattr(rent(), end) / rate()).to("USD/Mtoken")
    return found.named(f"rented, {end}")


def owned(hours_a_day: float, end: str = "low", way: str = BEST) -> Quantity:
    """A million tokens of the machine that is owned."""
    found: Quantity = getattr(bill(hours_a_day, way).total, end)
    return found.named(f"owned, {hours_a_day} h a day, {end}")


def ways() -> list[dict[str, Any]]:
    """What an evening changes: tokens, joules and dollars of the same machine."""
    return [
        {
            "way": way,
            "tokens": rate(way),
            "from the wall": wall(way),
            "energy": joules(way),
            "at all hours": owned(DAY, "low", way),
        }
        for way in WAYS
    ]


def gain(way: str, over: str) -> Quantity:
    """Tokens a second of one way over those of another."""
    return (rate(way) / rate(over)).named(f"{way} over {over}")


def chip() -> Quantity:
    """What a leading chip of one's own costs at the least."""
    return own_chip()["total"].low

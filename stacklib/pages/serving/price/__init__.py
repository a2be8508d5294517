"""Section 8.12: What does a million tokens cost?"""

from __future__ import annotations

from functools import cache

from stacklib.cost.spans import Span
from stacklib.cost.tokens import TokenBill
from stacklib.pages.chain.posts import DEVICE, TP
from stacklib.pages.serving import estimate, fits
from stacklib.quantity import Quantity, counted, one_of
from stacklib.serving.prices.machine import Machine, machine


@cache
def owned() -> Machine:
    """The machine that the book's model is served on, with what it costs to own."""
    return machine(DEVICE, TP)


def bill(batch: int = 1) -> TokenBill:
    """What a million tokens cost on it, always in use, so many at once."""
    return owned().bill(estimate.rate(batch))


def room() -> int:
    """Conversations that an engine has room for beside the weights, as 8.1 counts."""
    return int(fits.machine().conversations.si)


def full() -> Quantity:
    """The same, as a number of the page."""
    return counted(room, label="conversations at once")


def dollars(price: Quantity, label: str) -> Quantity:
    """Of a price: what a million tokens cost."""
    return (price * (10**6 * one_of("token"))).to("USD").named(label)


def middle(price: Span, label: str) -> Quantity:
    """What they cost between the ends: as many times the least as the most is of it."""
    return dollars(price.middle, label)


def owned_hour() -> Quantity:
    """Dollars of an hour of it, between the ends."""
    return bill().hour.middle.to("USD/h").named("an hour of the machine")

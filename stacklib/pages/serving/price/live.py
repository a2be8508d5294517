"""A price, live: the hours that each batch needs for it, and the cost at a point."""

from __future__ import annotations

from functools import cache
from typing import Any

from stacklib.cost.spans import Span
from stacklib.cost.tokens import UNIT
from stacklib.pages.serving import price as page
from stacklib.plots.live import choices
from stacklib.plots.live.parts import chosen, here
from stacklib.plots.marks import Spec, axis, band, chart, line
from stacklib.plots.spec import readout
from stacklib.quantity import Quantity
from stacklib.serving import estimate
from stacklib.serving.prices.machine import machine

BATCHES = (1, 2, 4, 8, 16, 32, 64, 128, 192, 256, 320, 371)
CENTS = (1, 2, 5, 10, 20, 30, 50, 70, 100, 200, 500, 1000, 3000)
POWERS = (3, 6, 8, 12, 20, 30, 50)  # cents a kilowatt hour
DAY = 24
HOURS = (1, 2, 4, 7, 10, 12, 16, 20, 22, 24)  # of a day


def controls() -> list[dict[str, Any]]:
    """The price, the point at which it is asked, years and power."""
    return [
        choices.slider("cents", "Price of a million tokens (cents)", CENTS, 30),
        choices.slider("batch", "Readers at once", BATCHES, page.TOGETHER),
        choices.slider("hours", "Hours of a day in use", HOURS, 16),
        choices.slider("years", "Years of service", range(1, 9), 5),
        choices.slider("power", "Power (cents a kWh)", POWERS, 8),
    ]


@cache
def _rate(batch: int) -> Quantity:
    found: Quantity = estimate(
        page.MODEL, page.DEVICE, "bf16", page.TP, batch, page.CONTEXT
    ).tokens_per_s
    return found


def _price(batch: int, hours: int, years: int, power: int) -> Span:
    bill = machine(page.DEVICE, page.TP).bill(
        chosen(_rate(batch).si, "token/s", "tokens a second"),
        utilisation=chosen(hours / DAY, "", "hours in use"),
        years=chosen(years, "year", "years of service"),
        price_of_power=chosen(power / 100, "USD/kWh", "price of power"),
    )
    return bill.total


def explore(*, cents: int, batch: int, hours: int, years: int, power: int) -> Spec:
    """Hours that each batch needs at the lowest and the highest quotes."""
    price = chosen(cents / 100, UNIT, "price of a million tokens")
    always = {each: _price(each, DAY, years, power) for each in BATCHES}
    needs = {
        words: [DAY * (getattr(always[b], end) / price).si for b in BATCHES]
        for words, end in (("lowest quotes", "low"), ("highest quotes", "high"))
    }
    point = _price(batch, hours, years, power)
    return chart(
        f"At {price.text()}, {batch} at once and {hours} hours a day: "
        f"{_word(price, point)}.",
        x=axis("Readers at once", log=True, limits=[0.9, 450]),
        y=axis("Hours of a day that the price needs", log=True, limits=[0.2, 500]),
        marks=[
            band("more hours than a day has", "impossible", y=[DAY, 500], at="key"),
            *(
                line(BATCHES, y, words, "predicted", at="key", series=series)
                for series, (words, y) in enumerate(needs.items())
            ),
            here(batch, hours),
        ],
        readouts=[
            readout("least", "It costs, at least", point.low, unit=UNIT, digits=3),
            readout("most", "It costs, at most", point.high, unit=UNIT, digits=3),
            readout("word", "At this price it", _word(price, point)),
        ],
        about={"device": page.DEVICE},
    )


def _word(price: Quantity, cost: Span) -> str:
    """Whether it pays: at all quotes, at some, or at none."""
    if price >= cost.high:
        return "pays at every quote"
    return "pays at the lowest quotes" if price >= cost.low else "does not pay"

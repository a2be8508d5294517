"""The bill of a journey: quotes of a machine, or what the reader pays instead."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stacklib import cost
from stacklib.cost.data import Range
from stacklib.cost.spans import Span
from stacklib.cost.tokens import TokenBill
from stacklib.hardware import THIS_MACHINE, Accelerator
from stacklib.quantity import Quantity, chosen, quoted
from stacklib.quantity.bounds import above_zero
from stacklib.quantity.names import resolve_all
from stacklib.serving.prices.machine import machine

HIRED = "rent"
ASKED = (HIRED, "capital", "power", "pue", "years", "utilisation")
_OWN = {"capital": "USD", HIRED: "USD/h"}


def bill_of(
    device: Accelerator, chips: int, tokens_per_s: Quantity, prices: Mapping[str, Any]
) -> tuple[TokenBill | None, str]:
    """The six rows of a million tokens, or why there are none.

    - ``prices``: as ``checked`` returns them
    """
    used = {n: prices[n] for n in ("utilisation", "years") if n in prices}
    each, pue = prices.get("power"), prices.get("pue")
    if HIRED in prices:
        if used.pop("years", None) is not None:
            raise ValueError("prices: years are of what is bought, beside a rent")
        hour = _all(HIRED, prices[HIRED], chips)
        return _rented(tokens_per_s, hour, used), ""
    if device.key == THIS_MACHINE:
        return None, "nobody quotes what this machine costs: tell what it is rented for"
    if "capital" not in prices:
        try:
            found = machine(device, chips)
        except ValueError as wrong:
            return None, str(wrong)
        if pue is None:
            return found.bill(tokens_per_s, price_of_power=each, **used), ""
        capital: Any = found.capital
        drawn: Any = found.power
        rest = {n: getattr(found, n) for n in ("storage", "network", "people")}
    else:
        capital = _all("capital", prices["capital"], chips)
        if device.fields["tdp"] is None:
            return None, f"nobody says what a {device.short} draws: ask by rent"
        drawn = device.tdp.across(chips)
        rest = dict.fromkeys(("storage", "network", "people"), 0)
        pue = quoted("uptime.pue_2023") if pue is None else pue
    used.setdefault("utilisation", 1.0)
    used.setdefault("years", 5.0)
    made = cost.token(
        tokens_per_s,
        capital=capital,
        power=drawn,
        pue=pue,
        cooling=0,
        price_of_power=each,
        **rest,
        **used,
    )
    return made, ""


def checked(prices: Any) -> dict[str, Any]:
    """Prices that the reader pays instead of what is quoted, each by its own name.

    - ``prices``: None, dollars a kilowatt hour, or a mapping of ``ASKED``: ``rent`` and
      ``capital`` of a chip, ``power`` a kilowatt hour, ``pue``, ``years`` of service,
      ``utilisation``
    - raises ``ValueError`` for what is not above zero, ``UnknownName`` for another name
    """
    if prices is None:
        return {}
    if not isinstance(prices, Mapping):
        prices = {"power": prices}
    found = resolve_all(prices, ASKED, "price", exact=True)
    if HIRED in found and (both := set(found) & {"capital", "power", "pue"}):
        raise ValueError(f"prices: {', '.join(sorted(both))} are in a rent already")
    for name, value in found.items():
        if not isinstance(value, Span | Range):
            above_zero(**{name: value})
    return found


def _all(name: str, value: Any, chips: int) -> Any:
    """Of one chip, times the chips."""
    if isinstance(value, int | float):
        value = chosen(value, _OWN[name], label=f"{name} of a chip")
    return cost.span(value) * chosen(chips, label="chips")


def _rented(tokens_per_s: Quantity, hour: Any, used: Mapping[str, Any]) -> TokenBill:
    nothing = dict.fromkeys(("power", "cooling", "storage", "network", "people"), 0)
    return cost.token(
        tokens_per_s,
        capital=hour,
        pue=1.0,
        utilisation=used.get("utilisation", 1.0),
        years=1.0,
        **nothing,
    )

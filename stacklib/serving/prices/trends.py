"""How fast inference gets cheaper, and a price for what it is worth: a right answer.

A factor over some years and a factor a year are one trend only where

    factor = yearly ** years.
"""

from __future__ import annotations

from typing import Any

from stacklib.quantity import Quantity, quoted
from stacklib.quantity.bounds import above_zero, share


def yearly(factor: Any, years: Any) -> Any:
    """The factor a year of a whole factor: ``factor ** (1 / years)``.

    - ``factor``, ``years``: floats, quantities or arrays; years in years

    >>> round(yearly(100.0, 3.0), 2)
    4.64
    """
    above_zero(factor=factor, years=years)
    return factor ** (1.0 / _plain(years))


def over(factor: Any, years: Any) -> Any:
    """What a factor a year comes to: ``factor ** years``.

    >>> over(40.0, 3.0)
    64000.0
    """
    above_zero(factor=factor, years=years)
    return factor ** _plain(years)


def published() -> dict[str, Quantity]:
    """Factors a year that others measured in prices at equal quality."""
    start, end = quoted("a16z.gpt3_start"), quoted("a16z.gpt3_end")
    return {
        "GPT-3's score": yearly(start / end, quoted("a16z.years")),
        "slowest of six": quoted("epoch.price_least"),
        "GPT-4's science": quoted("epoch.price_science"),
        "fastest of six": quoted("epoch.price_most"),
    }


def per_answer(usd_per_million: Any, tokens: Any, right: Any) -> Any:
    """Dollars for a right answer: cost per unit of quality.

        price x tokens an answer / share of right answers

    - ``usd_per_million``: dollars a million tokens
    - ``tokens``: that an answer takes
    - ``right``: share of the answers that are right, above 0

    >>> per_answer(2.0, 1000.0, 0.5)
    0.004
    """
    above_zero(usd_per_million=usd_per_million, tokens=tokens, right=right)
    share(right=right)
    if isinstance(usd_per_million, Quantity):
        return usd_per_million * tokens / right
    return usd_per_million / 1e6 * tokens / right


def _plain(years: Any) -> Any:
    """Years as a number: an exponent has no unit."""
    return years.to("year").value if isinstance(years, Quantity) else years

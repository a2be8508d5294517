"""Projections backed out to their growth, and held against what is sold today.

    base = value / (1 + rate)^years        rate = (value / base)^(1 / years) - 1

A market that is said to reach so much by so much a year had a size at the start; where
two firms alone sell more than that, not all of it can be true.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from stacklib.cost.spans import Given, Span, span
from stacklib.quantity import Quantity, chosen, quoted
from stacklib.quantity.bounds import at_least

ROUNDED = 1.01  # what is told has two or three digits


@dataclass(frozen=True)
class Projected:
    """One projection.

    - ``base``: what it was at the start, by the growth that is told
    - ``needed``: growth a year that would bring what is sold to the value, or nothing
    - ``true``: whether what is sold is no more than ``base`` allows, where it is told
    """

    base: Span
    needed: float | None
    true: bool | None


def growth(
    value: Quantity,
    rates: tuple[float, float],
    years: float,
    *,
    sold: Given | None = None,
) -> Projected:
    """Back a projection out to its start.

    Parameters
    ----------
    value : Quantity
        What is projected, in dollars.
    rates : tuple of float
        Projected a year, lowest and highest, such as (0.15, 0.2).
    years : float
        From start to end.
    sold : Span, Range or Quantity, optional
        What was sold at the start, at least: of the firms that report.

    Returns
    -------
    Projected
        The start, the growth that is needed, and whether they agree.

    Raises
    ------
    ValueError
        For growth of -100 % or less, ends the wrong way round, no years, or a value
        that is not above zero.

    Examples
    --------
    >>> market, sold = Quantity(34.71e9, "USD"), Quantity(11e9, "USD")
    >>> told = growth(market, (0.15, 0.2), 10, sold=sold)
    >>> told.true, round(told.needed, 2)
    (False, 0.12)
    """
    if not isinstance(rates, tuple) or len(rates) != 2:
        raise ValueError(f"rates {rates!r}: the lowest and the highest are needed")
    low, high = (chosen(rate).si for rate in rates)
    at_least(-0.99, lowest=low, highest=high)
    at_least(1e-9, years=years)
    many = chosen(years).si
    if many * math.log1p(high) > 700:
        raise ValueError(f"{years} years at {high:g} each: no number holds it")
    if low > high:
        raise ValueError(f"rates {rates}: the lower one first")
    start = Span(
        value / chosen((1 + high) ** many, label="growth, highest"),
        value / chosen((1 + low) ** many, label="growth, lowest"),
    ).named("start of the projection")
    if sold is None:
        return Projected(start, None, None)
    known = span(sold)
    needed = rate(known.low, value, years)
    return Projected(start, needed, bool(known.low <= start.high * ROUNDED))


def rate(first: Quantity, last: Quantity, years: float) -> float:
    """Projected a year between two values."""
    at_least(1e-9, years=years)
    grown = span(last) / span(first)  # both above zero, or refused
    return float(grown.to("").low.si ** (1 / chosen(years).si) - 1)


def backed_out() -> dict[str, Projected]:
    """The projections of the source documents, by the keys of their claims.

    What design software sold is of its two largest firms: four times a quarter of one,
    and the other's year.
    """
    cpo, eda = quoted("cpo_market.growth").si, quoted("eda_market.growth_low").si
    first, then = quoted("cadence.q1_2024"), quoted("cadence.q1_2025")
    sold = chosen(4, label="quarters") * then + quoted("synopsys.fy2024")
    rates = eda, quoted("eda_market.growth_high").si
    own = quoted("cadence.growth").si
    return {
        "cpo-market-2036": growth(quoted("cpo_market.2036"), (cpo, cpo), 10),
        "eda-tam-2035": growth(quoted("eda_market.2035"), rates, 10, sold=sold),
        "cadence-revenue-growth": growth(then, (own, own), 1, sold=first),
    }

"""From the least to the most: sums, products and quotients of ranges.

Nobody publishes what things cost, so every input here is a range of quotes, and what
is computed from ranges is one. The ends are combined as if the inputs had nothing to
do with each other: cheapest with cheapest, dearest with dearest. So a span is as wide
as its inputs allow, and holds every value they could give.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from stacklib.quantity import Quantity, UnitError, chosen, maximum, minimum

from .data import Range

Given: TypeAlias = "Span | Range | Quantity | float"


@dataclass(frozen=True, slots=True)
class Span:
    """Two ends of one unit, both above zero."""

    low: Quantity  # least and most, of one dimension
    high: Quantity

    def __post_init__(self) -> None:
        if self.low.si <= 0 or self.low > self.high * (1 + 1e-12):
            raise ValueError(
                f"{self.low.text()} to {self.high.text()}: a span runs upwards from a "
                "value above zero"
            )

    @property
    def middle(self) -> Quantity:
        """The geometric mean: as many times the low end as the high end is of it."""
        return (self.low * self.high) ** 0.5

    @property
    def width(self) -> Quantity:
        """High end over low end."""
        return self.high / self.low

    def named(self, label: str) -> Span:
        """The same span under a name; formulas stop at named ends."""
        return Span(
            self.low.named(f"{label}, lowest"), self.high.named(f"{label}, highest")
        )

    def to(self, unit: str) -> Span:
        """Both ends in another unit."""
        return Span(self.low.to(unit), self.high.to(unit))

    def text(self, unit: str | None = None, digits: int = 2) -> str:
        """Both ends for a reader, for example ``"46 to 114 USD/GB"``."""
        high = self.high.text(unit, digits)
        number, _, symbol = self.low.text(unit, digits).partition(" ")
        if high.partition(" ")[2] != symbol:  # another prefix
            return f"{number} {symbol} to {high}"
        return f"{number} to {high}"

    def __contains__(self, value: Quantity) -> bool:
        return bool(self.low <= value) and bool(value <= self.high)

    def __add__(self, other: Given) -> Span:
        right = span(other)
        return Span(self.low + right.low, self.high + right.high)

    def __mul__(self, other: Given) -> Span:
        right = span(other)
        return Span(self.low * right.low, self.high * right.high)

    def __truediv__(self, other: Given) -> Span:
        right = span(other)
        return Span(self.low / right.high, self.high / right.low)

    __radd__ = __add__
    __rmul__ = __mul__

    def __rtruediv__(self, other: Given) -> Span:
        return span(other) / self


def span(value: Given, other: Quantity | float | None = None) -> Span:
    """A span from a range of quotes, from one value, or from two ends in any order.

    Parameters
    ----------
    value : Span, Range, Quantity or float
        One value has two equal ends.
    other : Quantity or float, optional
        The other end.

    Raises
    ------
    UnitError
        For ends of different dimension, NaN, infinity or a bool.
    ValueError
        When an end is not above zero, or ``other`` is given with a range.

    Examples
    --------
    >>> price = span(Quantity(8, "USD/GB"), Quantity(18, "USD/GB"))
    >>> (price * Quantity(192, "GB")).text()
    '1,500 to 3,500 USD'
    """
    if isinstance(value, (Span, Range)):
        if other is not None:
            raise ValueError(f"span({value!r}, {other!r}): a range has both its ends")
        return value if isinstance(value, Span) else Span(value.low, value.high)
    ends = [_quantity(v) for v in (value, value if other is None else other)]
    if ends[0].shown.dims != ends[1].shown.dims:
        raise UnitError(f"{ends[0].text()} to {ends[1].text()}: two dimensions")
    if ends[0] <= ends[1]:
        return Span(*ends)
    return Span(ends[1], ends[0])


def _quantity(value: Quantity | float) -> Quantity:
    if isinstance(value, Quantity):
        return value
    return chosen(value, label=f"{chosen(value).si:g}")


def least(*spans: Span) -> Quantity:
    """The lowest of all low ends."""
    return minimum(*(s.low for s in spans))


def most(*spans: Span) -> Quantity:
    """The highest of all high ends."""
    return maximum(*(s.high for s in spans))

"""A published price, turned inside out: what must be true for it to pay.

    price >= (bought / years + drawn x PUE x price of power) / (utilisation x tokens/s)

Each of batch, utilisation, years and price of power has a border, which holds with the
other three at their best; rows give the use that each batch needs. Prices are spans of
quotes: at their cheapest a condition is necessary, at their dearest it suffices. A
price that no corner reaches is infeasible, and said to be by how much.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from stacklib.cost.spans import Span
from stacklib.cost.tokens import UNIT, TokenBill, electricity
from stacklib.quantity import Quantity, chosen, counted
from stacklib.quantity.bounds import above_zero, whole
from stacklib.roofline.work.fit import Infeasible

from ..estimates.estimate import Estimate, estimate
from .machine import Machine, machine

YEARS = 5.0  # that what is bought serves, at the most
MOST = 1 << 16  # sequences at once: more are not looked for
# Batches that are tried: each up to the first number, then every so many-th.
EACH, TILES = 128, ((1024, 16), (MOST, 128))


@dataclass(frozen=True, slots=True)
class Row:
    """One batch: how fast it is, and the use that the price then needs."""

    batch: int
    tokens_per_s: Quantity
    tpot: Quantity
    needed: Quantity  # utilisation at the cheapest prices; above 1: never
    enough: Quantity  # utilisation at the dearest


@dataclass(frozen=True, slots=True)
class Border:
    """One condition, with all others at their best."""

    name: str  # ``batch``, ``utilisation``, ``years``, ``price of power`` or ``rent``
    needed: Quantity | None  # None: no value of it is enough
    best: Quantity  # as far as it goes
    least: bool  # at least ``needed``, or at most

    @property
    def holds(self) -> bool:
        """Whether there is room on the right side of it."""
        if self.needed is None:
            return False
        small, large = (self.needed.si, self.best.si)[:: 1 if self.least else -1]
        return small <= large * (1 + 1e-12)

    @property
    def words(self) -> str:
        """The condition in words."""
        if self.needed is None:
            return f"{self.name}: no value is enough"
        side, end = ("at least", "of at most") if self.least else ("at most", "from")
        return f"{self.name} {side} {self.needed.text()} ({end} {self.best.text()})"


@dataclass(frozen=True, slots=True, repr=False)
class Region:
    """Where a price pays: borders, rows, and the floor under them."""

    price: Quantity  # dollars a million tokens
    machine: Machine
    step: Callable[..., Estimate]  # batch -> Estimate
    room: int  # largest batch that fits and is quick enough
    years: float
    rates: Mapping[int, float]  # batch to tokens a second, in plain floats

    def __repr__(self) -> str:
        return f"<Region {self.words}>"

    @property
    def best(self) -> int:
        """The batch that makes most tokens: not always the largest, whose last tile of
        rows may be all but empty."""
        return max(self.rates, key=lambda batch: self.rates[batch])

    @property
    def floor(self) -> Span:
        """The least that a million tokens cost: the best batch, always in use.

        From the cheapest quotes to the dearest ones.
        """
        return self.bill(self.best).total

    @property
    def feasible(self) -> bool:
        """Whether any corner of the quotes reaches the price."""
        return bool(self.floor.low <= self.price * (1 + 1e-9))

    @property
    def margin(self) -> Quantity:
        """Price over the least cost: below 1, what is missing."""
        return (self.price / self.floor.low).named("price over least cost")

    @property
    def borders(self) -> tuple[Border, ...]:
        """What must be true of each alone, at the cheapest quotes."""
        return tuple(_borders(self))

    @property
    def rows(self) -> tuple[Row, ...]:
        """The use that each batch needs: powers of two, the best, and the largest."""
        batches = {1 << n for n in range(self.room.bit_length())}
        return tuple(self._row(n) for n in sorted(batches | {self.best, self.room}))

    def _row(self, batch: int) -> Row:
        step, total = self.step(batch=batch), self.bill(batch).total
        needed, enough = (end / self.price for end in (total.low, total.high))
        return Row(batch, step.tokens_per_s, step.tpot, needed, enough)

    def bill(self, batch: int, **changed: Any) -> TokenBill:
        """A million tokens of a batch; ``changed``: as ``Machine.bill`` takes it."""
        rate, asked = self.step(batch=batch).tokens_per_s, {"years": self.years}
        return self.machine.bill(rate, **asked | changed)

    def holds(
        self,
        batch: int,
        utilisation: float,
        years: float | None = None,
        price_of_power: Quantity | float | None = None,
        dearest: bool = False,
    ) -> bool:
        """Whether the price pays at one point, by ``cost.token``.

        - ``dearest``: at the dearest quotes in place of the cheapest
        - a batch beyond ``room`` never pays
        """
        if batch > self.room:
            return False
        changed = {"utilisation": utilisation, "price_of_power": price_of_power}
        life = self.years if years is None else years
        total = self.bill(batch, years=life, **changed).total
        end = total.high if dearest else total.low
        return bool(end <= self.price * (1 + 1e-9))

    @property
    def words(self) -> str:
        """The answer in a line."""
        price = f"{self.price.text()} on {self.machine.chips} x {self.machine.name}"
        if not self.feasible:
            short = (self.floor.low / self.price).text()
            return (
                f"{price}: infeasible, {short} times too cheap; the least cost is "
                f"{self.floor.low.text()}, at batch {self.best} and in use all hours"
            )
        spare = self.margin.text()
        return f"{price}: feasible, {spare} times the least cost"


def explain_price(
    usd_per_million: float | Quantity,
    model: Any = "llama-3-70b",
    on: str = "h100-sxm",
    *,
    tp: int = 8,
    dtype: str | None = None,
    context: int = 4096,
    years: float = YEARS,
    tpot: float | None = None,
    bought: str | None = None,
) -> Region:
    """What must be true for a price of a million output tokens to pay.

    Parameters
    ----------
    usd_per_million : float or Quantity
        The price, in dollars a million tokens written. Prompts are priced apart.
    model, on, tp, dtype, context
        As ``estimate`` takes them: ``context`` tokens are cached in each sequence.
    years : float
        How long what is bought serves, at the most.
    tpot : float, optional
        Seconds that a token may take: batches that are slower are left out.
    bought : str, optional
        ``"purchase"`` (new), ``"launch"`` or ``"used"``, for older hardware; default
        the first that somebody quotes.

    Raises
    ------
    ValueError
        For a price or years not above zero, NaN, or chips that nobody quotes to buy.
    Infeasible
        Where not even one sequence fits, or is quick enough.

    Examples
    --------
    >>> region = explain_price(0.01)
    >>> region.feasible
    False
    """
    price = usd_per_million
    if not isinstance(price, Quantity):
        above_zero(usd_per_million=price)
        price = chosen(price, UNIT, label="price of a million tokens")
    price = price.to(UNIT)
    above_zero(usd_per_million=price, years=years)
    whole(tp=tp, context=context)
    if tpot is not None:
        above_zero(tpot=tpot)
    step = partial(estimate, model, on, dtype, tp, context=context)
    room = room_of(step, tpot)
    if not room:
        one = step(batch=1)
        slow = f"one sequence takes {one.tpot.text()} a token" if one.fits else one.why
        raise Infeasible(f"{one.title}: {slow}")
    made = {
        batch: step(batch=float(batch), context=float(context)).tokens_per_s
        for batch in _tried(room)
    }
    return Region(price, machine(on, tp, bought), step, room, float(years), made)


def _tried(room: int) -> list[int]:
    """Every batch at first, then those of whole tiles of rows, and the largest."""
    found, start = [*range(1, min(room, EACH) + 1)], EACH
    for end, step in TILES:
        found += range(start + step, min(room, end) + 1, step)
        start = end
    return sorted({*found, room})


def room_of(step: Callable[..., Estimate], tpot: float | None = None) -> int:
    """The largest batch that fits and is quick enough; 0 where none is."""

    def over(batch: int) -> bool:
        found = step(batch=batch)
        return not found.fits or (tpot is not None and found.tpot.si > tpot)

    return bisect_left(range(1, MOST + 1), True, key=over)


def _borders(region: Region) -> list[Border]:
    """Each condition, the others at their best, at the cheapest quotes."""
    rate, bill = region.step(batch=region.best).tokens_per_s, region.bill(region.best)
    earned = (region.price * rate).to("USD/h")
    hour = bill.hour.low
    drawn = (bill.hourly["power"] + bill.hourly["cooling"]).low
    bought = (hour - drawn) * chosen(region.years, "year", label="years")
    left_by_power, left_by_life = earned - drawn, earned - (hour - drawn)
    life = (bought / left_by_power).to("year") if left_by_power.si > 0 else None
    cheap = electricity().low
    dear = (cheap * left_by_life / drawn).to("USD/kWh") if left_by_life.si > 0 else None
    borders = [
        Border("batch", _batch(region, hour), chosen(region.room, label="batch"), True),
        Border("utilisation", hour / earned, chosen(1, label="all hours"), True),
        Border("years", life, chosen(region.years, "year", label="years"), True),
        Border("price of power", dear, cheap, False),
    ]
    if region.machine.rent is not None:
        least = region.machine.rent.low
        borders.append(Border("rent", earned, least, False))
    return borders


def _batch(region: Region, hour: Quantity) -> Quantity | None:
    """The least batch, of those tried, that makes enough tokens in an hour."""
    needed = (hour / region.price).to("token/s").si * (1 - 1e-9)
    enough = [batch for batch, rate in region.rates.items() if rate >= needed]
    return counted(min, [*enough, region.room], label="batch") if enough else None

"""What a million tokens cost, from the machine's price down to who looks after it.

Six rows, each a span:

    row = dollars an hour / (tokens an hour while busy x utilisation)

What is bought is spread over the years that it serves; electricity is paid for every
hour, cooling's share of it by the PUE. *Allocation* pays for all hours that a machine
is held, *usage* for those in which it works: what lies between is idle. Buying and
renting are two baselines (``break_even``). Tokens a second are given: nothing here
knows how they are made.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from stacklib.quantity import Quantity, UnitError, chosen, one_of, quoted

from .spans import Given, Span, span

CAPITAL, POWER, COOLING = "capital", "power", "cooling"
STORAGE, NETWORK, PEOPLE = "storage", "network", "people"
ROWS = (CAPITAL, POWER, COOLING, STORAGE, NETWORK, PEOPLE)
UNIT = "USD/Mtoken"
_HOUR, _BOUGHT, _DRAWN = "USD/h", "USD", "W"


def electricity() -> Span:
    """What industry pays for a kilowatt hour, from Iowa to Rhode Island."""
    ends = quoted("eia.iowa_2025"), quoted("eia.rhode_island_2025")
    return span(*ends).named("price of electricity")


@dataclass(frozen=True, slots=True)
class TokenBill:
    """What a million tokens cost, row by row."""

    hourly: Mapping[str, Span]  # row to dollars an hour; rows of nothing are left out
    tokens_per_s: Span  # while it works
    utilisation: Span  # share of the hours in which it does

    @property
    def hour(self) -> Span:
        """What the machine costs an hour, whatever it does."""
        first, *rest = self.hourly.values()
        return sum(rest, first).named("cost of an hour")

    @property
    def rows(self) -> dict[str, Span]:
        """Dollars a million tokens, row by row."""
        made = self.tokens_per_s * self.utilisation
        return {name: (row / made).to(UNIT) for name, row in self.hourly.items()}

    @property
    def allocation(self) -> Span:
        """A million tokens where every hour is paid for: the sum of the rows."""
        return (self.hour / (self.tokens_per_s * self.utilisation)).to(UNIT)

    @property
    def usage(self) -> Span:
        """A million tokens where only the hours in use are paid for."""
        return (self.hour / self.tokens_per_s).to(UNIT)

    total = allocation

    def implied(self, row: str, price: Quantity) -> Span:
        """Tokens a second at which a row would cost ``price`` a million tokens.

        Rows of one table describe one machine only where they imply one rate.
        """
        return (self.hourly[row] / price).to("token/s")

    def share(self, row: str) -> Span:
        """A row of the total, from cheap among dear ones to dear among cheap ones."""
        own = self.hourly[row]
        others = [s for name, s in self.hourly.items() if name != row]
        if not others:
            return span(own.low / own.low)
        rest = sum(others[1:], others[0])
        return Span(own.low / (own.low + rest.high), own.high / (own.high + rest.low))


@dataclass(frozen=True, slots=True)
class BreakEven:
    """One machine, bought or rented by the hour."""

    own: TokenBill
    rent: Span  # dollars an hour

    @property
    def utilisation(self) -> Span:
        """The share of hours in use above which owning is cheaper than renting.

        Above 1: it never is, as long as rent is paid only for the hours in use.
        """
        return (self.own.hour / self.rent).named("utilisation to break even")

    @property
    def rented(self) -> Span:
        """A million tokens on rented hours, all of them in use."""
        return (self.rent / self.own.tokens_per_s).to(UNIT)


def token(
    tokens_per_s: Given,
    *,
    capital: Given,
    power: Given,
    pue: Given,
    cooling: Given,
    storage: Given,
    network: Given,
    people: Given,
    utilisation: Given,
    years: Given,
    price_of_power: Given | None = None,
) -> TokenBill:
    """What a million tokens cost, in six rows.

    Parameters
    ----------
    tokens_per_s : Span, Range, Quantity or float
        What the machine makes while it works.
    capital, cooling, storage, network, people
        Of that machine: dollars, spread over ``years``, or dollars per time, such as
        the rent of its hours. 0 leaves a row out; ``cooling`` is what its plant costs,
        beside the electricity that ``pue`` adds.
    power
        Watts on average over all hours, or dollars per time.
    pue
        What the building draws over what the machine does, from 1 on.
    utilisation
        Share of the hours in which it works, above 0 and at most 1.
    years
        How long what is bought serves.
    price_of_power : optional
        Dollars per energy; a float is dollars a kilowatt hour. Default: what industry
        pays from Iowa to Rhode Island (EIA, April 2025).

    Raises
    ------
    UnitError
        For another dimension, NaN, infinity or a bool.
    ValueError
        For what is below zero, a utilisation above 1, a PUE below 1, or a machine that
        costs nothing.

    Examples
    --------
    >>> bill = token(1768, capital=40e3, power=700, pue=1.35, cooling=0, storage=0,
    ...              network=0, people=0, utilisation=1, years=4, price_of_power=0.07)
    >>> bill.rows["capital"].text(), bill.total.text()
    ('0.18 to 0.18 USD/Mtoken', '0.19 to 0.19 USD/Mtoken')
    """
    made = _of("tokens_per_s", tokens_per_s, "token/s")
    served = _of("years", years, "year")
    used = _share(utilisation)
    if price_of_power is None:
        price_of_power = electricity()
    each = _of("price_of_power", price_of_power, "USD/kWh")
    building = _of("pue", pue, "")
    if building.low.si < 1:
        raise ValueError(f"pue from {building.low.text()}: a building draws 1 or more")
    drawn = _hourly(POWER, power, served, _DRAWN)
    if drawn is not None and _measures(drawn, _DRAWN):
        drawn = (drawn * each).to(_HOUR)
    plant = _hourly(COOLING, cooling, served, _BOUGHT)
    rows = {
        CAPITAL: _hourly(CAPITAL, capital, served, _BOUGHT),
        POWER: drawn,
        COOLING: _cooled(drawn, building, plant),
        STORAGE: _hourly(STORAGE, storage, served, _BOUGHT),
        NETWORK: _hourly(NETWORK, network, served, _BOUGHT),
        PEOPLE: _hourly(PEOPLE, people, served, _BOUGHT),
    }
    kept = {name: row.named(f"{name} an hour") for name, row in rows.items() if row}
    if not kept:
        raise ValueError("every row is 0: a machine costs something")
    return TokenBill(kept, made.named("tokens a second"), used)


def break_even(
    tokens_per_s: Given,
    *,
    rent: Given,
    capital: Given,
    power: Given,
    pue: Given,
    cooling: Given,
    storage: Given,
    network: Given,
    people: Given,
    utilisation: Given = 1.0,
    years: Given = 5.0,
    price_of_power: Given | None = None,
) -> BreakEven:
    """The same machine bought and rented: from which use on owning is cheaper.

    Parameters
    ----------
    rent : Span, Range, Quantity or float
        Of the whole machine; a float is dollars an hour.
    tokens_per_s, capital, power, pue, cooling, storage, network, people
        As ``token`` takes them.
    utilisation, years, price_of_power
        As there: of the machine that is bought, over five years unless said.

    Raises
    ------
    UnitError, ValueError
        As ``token`` does.

    Examples
    --------
    >>> found = break_even(1768, rent=3.0, capital=40e3, power=700, pue=1.35, cooling=0,
    ...                    storage=0, network=0, people=0, price_of_power=0.07)
    >>> found.utilisation.text()
    '0.33 to 0.33'
    """
    own = token(
        tokens_per_s,
        capital=capital,
        power=power,
        pue=pue,
        cooling=cooling,
        storage=storage,
        network=network,
        people=people,
        utilisation=utilisation,
        years=years,
        price_of_power=price_of_power,
    )
    paid = _of("rent", rent, _HOUR)
    return BreakEven(own, paid.named("rent of an hour"))


def _of(name: str, value: Given, unit: str) -> Span:
    """A given as a span in ``unit``; a float is a number of that unit."""
    try:
        if isinstance(value, (int, float)):
            value = chosen(value, unit, label=name.replace("_", " "))
        return span(value).to(unit or "1")
    except UnitError as wrong:
        raise UnitError(f"{name}: {wrong}") from None
    except ValueError as wrong:
        raise ValueError(f"{name}: {wrong}") from None


def _share(value: Given) -> Span:
    found = _of("utilisation", value, "")
    if found.high.si > 1:
        raise ValueError(f"utilisation {found.high.text()}: a share, at most 1")
    return found.named("utilisation")


def _measures(found: Span, unit: str) -> bool:
    return found.low.shown.dims == one_of(unit).shown.dims


def _hourly(name: str, value: Given, years: Span, unit: str) -> Span | None:
    """Dollars per time, or watts; None where nothing is paid."""
    if isinstance(value, (int, float)):
        if value == 0 and not isinstance(value, bool):
            return None
        value = chosen(value, unit, label=name)
    elif isinstance(value, Quantity) and value.si == 0:
        return None
    found = _of(name, value, _unit_of(name, value, unit))
    if _measures(found, _BOUGHT):
        return (found / years).to(_HOUR)
    return found


def _unit_of(name: str, value: Given, unit: str) -> str:
    """The unit that a given can be: dollars per time, or ``unit``."""
    if isinstance(value, Quantity):
        low = value
    else:
        low = span(value).low
    for one in (unit, _HOUR):
        if low.shown.dims == one_of(one).shown.dims:
            return one
    raise UnitError(f"{name} = {low.text()}: {unit} or {_HOUR} is needed")


def _cooled(drawn: Span | None, pue: Span, plant: Span | None) -> Span | None:
    """What cooling costs: its electricity and its plant."""
    least = most = None
    if drawn is not None and pue.high.si > 1:
        least, most = drawn.low * (pue.low - 1), drawn.high * (pue.high - 1)
    if least is None or most is None:
        return plant
    if plant is not None:
        least, most = least + plant.low, most + plant.high
    if least.si <= 0:
        raise ValueError(
            f"pue from {pue.low.text()} on: with a plant of 0 cooling may cost "
            "nothing at all; begin above 1, or say exactly 1"
        )
    return Span(least.to(_HOUR), most.to(_HOUR))

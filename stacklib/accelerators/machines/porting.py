"""What it costs to leave a platform, and the fleet from which on that pays.

Effort is paid once and again every year, whatever the fleet; what the other chip saves
is paid for every hour of every chip. So it is two lines, one flat and one through the
origin, and they meet:

    chips = (effort / years + upkeep) / (saved an hour x hours in use a year)
"""

from __future__ import annotations

from dataclasses import dataclass

from stacklib.quantity import Quantity, chosen, one_of
from stacklib.quantity.bounds import above_zero, at_least, share

MONTHS = 12


@dataclass(frozen=True, slots=True)
class Port:
    """The price of moving to another platform.

    - ``once``, ``yearly``: dollars until it runs, and of each year to keep it running
    - ``years``: for which the fleet will be used
    """

    once: Quantity
    yearly: Quantity
    years: float

    @property
    def a_year(self) -> Quantity:
        """Dollars of a year, the effort spread over all of them."""
        life = chosen(self.years, label="years of use") * one_of("year")
        found = self.once / life + self.yearly
        return found.to("USD/year").named("a year of the port")

    def fleet(self, saved: Quantity, used: Quantity | float = 1.0) -> Quantity:
        """Chips from which on the port pays.

        - ``saved``: dollars an hour that the other chip saves for each of yours in use
        - ``used``: share of the hours in which a chip works
        - raises ``ValueError`` where nothing is saved: no fleet is large enough
        """
        share(used=used)
        above_zero(saved=saved, used=used)
        each = saved * _busy(used)
        return (self.a_year / each).to("1").named("chips from which on a port pays")

    def worth(
        self, chips: float, saved: Quantity, used: Quantity | float = 1.0
    ) -> Quantity:
        """Dollars of a year that a fleet gains, below zero where it loses.

        - ``chips``, ``saved``, ``used``: as of ``fleet``
        """
        share(used=used)
        above_zero(chips=chips)
        many = chosen(chips, label="chips")
        found = many * saved * _busy(used) - self.a_year
        return found.to("USD/year").named("gain of a year")


def _busy(used: Quantity | float) -> Quantity:
    """The share of the hours in which a chip works."""
    if isinstance(used, Quantity):
        return used
    return chosen(used, label="share of the hours in use")


def porting_cost(
    *,
    engineers: float,
    months: float,
    wage: Quantity,
    years: float,
    keeping: float = 0.0,
) -> Port:
    """What a port costs: engineers x months x wage, and those who keep it running.

    Parameters
    ----------
    engineers, months : float
        Who ports, and how long.
    wage : Quantity
        Of an engineer, dollars a year, all costs of the employer in it.
    years : float
        That the fleet will be used after it.
    keeping : float
        Engineers who stay on it.

    Raises
    ------
    ValueError
        For people or times below zero, no time to use it in, or a wage without unit.

    Examples
    --------
    >>> wage = chosen(300_000, "USD/year", label="wage")
    >>> port = porting_cost(engineers=10, months=12, wage=wage, years=3)
    >>> port.once.text("USD")
    '3,000,000 USD'
    """
    above_zero(engineers=engineers, months=months, wage=wage, years=years)
    at_least(0, keeping=keeping)
    if not isinstance(wage, Quantity):
        raise ValueError(f"wage = {wage!r}: dollars a year, chosen(x, 'USD/year')")
    people = chosen(engineers, label="engineers")
    effort = people * (chosen(months, label="months") / MONTHS) * one_of("year")
    kept = chosen(keeping, label="engineers who stay")
    return Port(
        (effort * wage).named("effort"),
        (kept * wage).to("USD/year").named("upkeep"),
        years,
    )

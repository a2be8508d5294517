"""How many dies have no defect: four closed forms, and defects thrown on wafers.

Defects that fall independently give Poisson's law. They do not: some wafers have many,
most have few, and a second defect on a dead die harms nobody. Each further law is
Poisson's, averaged over how the density varies from wafer to wafer: Murphy's over a
triangle, Seeds' over an exponential, Stapper's over a gamma distribution, whose
``alpha`` says how even it is.

All take the mean number of defects on a die: area times density.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from decimal import Decimal, localcontext
from typing import Any

from stacklib.quantity import resolve
from stacklib.quantity.bounds import above_zero, at_least, is_whole, whole
from stacklib.quantity.helpers import exp


def poisson(defects: Any) -> Any:
    """Share of dies without a defect when defects know nothing of each other.

    Parameters
    ----------
    defects : float, Quantity or array
        Mean number on a die.

    Raises
    ------
    ValueError
        For a number below zero.
    """
    at_least(0, defects=defects)
    return exp(-1 * defects)


def murphy(defects: Any) -> Any:
    """Murphy's law: densities spread as a triangle from zero to twice the mean.

    Proc. IEEE 52 (1964).
    """
    above_zero(defects=defects)
    return ((1 - exp(-1 * defects)) / defects) ** 2


def seeds(defects: Any) -> Any:
    """Seeds' law: densities spread exponentially. Stapper's with ``alpha`` of one.

    IEEE International Convention Record (1967).
    """
    at_least(0, defects=defects)
    return 1 / (1 + defects)


def negative_binomial(defects: Any, alpha: float) -> Any:
    """Stapper's law: densities spread as a gamma distribution of shape ``alpha``.

    Proc. IEEE 71 (1983). A large ``alpha`` gives Poisson's law, one gives Seeds'.
    """
    at_least(0, defects=defects)
    above_zero(alpha=alpha)
    return (1 + defects / alpha) ** -alpha


def check_shares(**values: Any) -> None:
    """Refuse what is no share above 0 and up to 1."""
    for name, value in values.items():
        plain = getattr(value, "si", value)
        number = isinstance(plain, float) or is_whole(plain)
        if not number or not 0 < plain <= 1:
            raise ValueError(f"{name} = {value!r}: a share above 0 and up to 1")


# Law -> the density of one wafer over the mean, drawn at random.
DENSITIES: dict[str, Callable[[random.Random, float], float]] = {
    "poisson": lambda draw, alpha: 1.0,
    "murphy": lambda draw, alpha: draw.triangular(0.0, 2.0, 1.0),
    "seeds": lambda draw, alpha: draw.expovariate(1.0),
    "negative binomial": lambda draw, alpha: draw.gammavariate(alpha, 1 / alpha),
}


def _poisson_count(draw: random.Random, mean: float) -> int:
    """A Poisson number: how many waits of mean one fit into ``mean``."""
    count, waited = 0, draw.expovariate(1.0)
    while waited < mean:
        count += 1
        waited += draw.expovariate(1.0)
    return count


def thrown(
    law: str,
    defects: float,
    *,
    dies: int = 60,
    wafers: int = 2000,
    alpha: float = 2.0,
    seed: int = 0,
) -> float:
    """Share of good dies after defects have been thrown on many wafers.

    Each wafer draws its own density. Its defects fall anywhere on its dies, several on
    one die included.
    """
    whole(dies=dies, wafers=wafers)
    at_least(0, defects=defects)
    above_zero(alpha=alpha)
    density = DENSITIES[resolve(law, DENSITIES, "yield law")]
    draw, good = random.Random(seed), 0
    for _ in range(wafers):
        many = _poisson_count(draw, defects * dies * density(draw, alpha))
        good += dies - len({draw.randrange(dies) for _ in range(many)})
    return good / (dies * wafers)


def _units(units: int, needed: int) -> None:
    whole(units=units, needed=needed)
    if needed > units:
        raise ValueError(f"needed = {needed}, of {units} units: more than there are")


def harvested(
    defects: float, *, units: int, needed: int, share: float = 1.0, alpha: float = 2.0
) -> float:
    """Share of dies that can be sold when some equal units may be dead.

    A die is sold when at least ``needed`` of its ``units`` have no defect and the rest
    of it has none either. Given the density, that is a binomial sum; averaged over a
    gamma distribution it is a sum of Stapper's law, by inclusion and exclusion::

        sum over t from k to n of (-1)^(t-k) C(t-1, k-1) C(n, t) Y(rest + t units)

    whose terms cancel so far that it is added up in decimals of enough digits.
    """
    at_least(0, defects=defects)
    _units(units, needed)
    above_zero(alpha=alpha)
    check_shares(share=share)
    with localcontext() as exact:
        exact.prec = 40 + units  # the binomials grow as 4^units
        each = Decimal(defects) * Decimal(share) / units
        # What is no unit must be whole: a defect there kills the die.
        rest = Decimal(defects) * (1 - Decimal(share))
        shape = Decimal(alpha)
        total = Decimal(0)
        for t in range(needed, units + 1):
            alive = (1 + (rest + t * each) / shape) ** -shape
            ways = math.comb(t - 1, needed - 1) * math.comb(units, t)
            total += (-1) ** (t - needed) * ways * alive
    return float(total)


def thrown_harvest(
    defects: float,
    *,
    units: int,
    needed: int,
    share: float = 1.0,
    alpha: float = 2.0,
    dies: int = 20000,
    seed: int = 0,
) -> float:
    """``harvested``, by throwing defects at dies and counting units that live."""
    _units(units, needed)
    draw, sold = random.Random(seed), 0
    for _ in range(dies):
        many = _poisson_count(draw, defects * draw.gammavariate(alpha, 1 / alpha))
        dead: set[int] = set()
        for _ in range(many):
            at = draw.random()
            dead.add(int(at / share * units) if at < share else -1)
        sold += -1 not in dead and units - len(dead) >= needed
    return sold / dies

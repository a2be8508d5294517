"""From wafers to GPUs a year: packages, and the stacks that go on them.

    wafers a month = (end of the year before + end of the year) / 2
    GPUs = wafers a month x 12 x share x packages a wafer x those that work
    stacks = HBM wafers x 12 x good dies a wafer x stacks that work / dies a stack

Nobody publishes either, so each input is a span of what is said, and the answer is one.
What is scarcer decides.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from stacklib.cost.making import fact
from stacklib.cost.memory import hbm_die
from stacklib.cost.spans import Given, Span, least, span
from stacklib.cost.wafers import grid_dies
from stacklib.quantity import Quantity, chosen, counted, quoted, resolve
from stacklib.quantity.bounds import at_least, whole

YEARS = ("2024", "2025", "2026")
MONTHS = 12


@dataclass(frozen=True)
class Supply:
    """What can be made in a year.

    - ``wafers``: that packaging hands out a month over the year, of all customers
    - ``packages``: GPUs a year by packaging
    - ``stacks``: GPUs a year by memory, or nothing where no memory was asked for
    """

    wafers: Span
    packages: Span
    stacks: Span | None

    @property
    def gpus(self) -> Span:
        """What the scarcer of both allows."""
        if self.stacks is None:
            return self.packages
        low = least(self.packages, self.stacks)
        high = min(self.packages.high, self.stacks.high, key=lambda end: end.si)
        return Span(low, high).named("GPUs of a year")


def supply(
    year: str | int = "2026",
    *,
    share: Given | None = None,
    a_wafer: Given | None = None,
    works: Given | None = None,
    hbm_wafers: Given | None = None,
    stacks_each: int = 8,
    height: int = 12,
) -> Supply:
    """GPUs of one maker in a year, by packaging and by memory.

    Parameters
    ----------
    year : str or int, optional
        2024, 2025 or 2026: CoWoS wafers a month as said of its end and of the end
        before, since capacity climbs; of 2024 its own alone.
    share : Span, Range, Quantity or float, optional
        Of the wafers that the maker gets; NVIDIA's as said.
    a_wafer : Span, Range, Quantity or float, optional
        Packages on a wafer; of 2026 Rubin's, of other years to be told.
    works : Span, Range, Quantity or float, optional
        Packages that work, a judgement of 90 to 98 % without one.
    hbm_wafers : Span, Range, Quantity or float, optional
        Wafers of HBM a month for this maker; packaging alone without them.
    stacks_each, height : int, optional
        Stacks of a GPU and dies of a stack; a base die comes on top.

    Returns
    -------
    Supply
        Spans of GPUs a year.

    Raises
    ------
    UnknownName
        For a year of which nothing is said.
    ValueError
        For an input that is not above zero, shares above one, or a year other than 2026
        without ``a_wafer``.

    Examples
    --------
    >>> supply(2026).packages.text(digits=2)
    '4.7 to 7.5 million'
    """
    whole(stacks_each=stacks_each, height=height)
    year = resolve(str(year), YEARS, "year")
    wafers = _a_month(YEARS.index(year))
    part = span(fact("capacity", "nvidia_share") if share is None else share)
    if works is None:
        works = span(quoted("cowos.works_low"), quoted("cowos.works_high"))
    told = span(works)
    for name, value in (("share", part), ("works", told)):
        if value.to("").high.si > 1:
            raise ValueError(f"{name} {value.text()}: no more than all")
    if a_wafer is None and year != YEARS[-1]:
        raise ValueError(f"a_wafer of {year}: packages were smaller; say how many fit")
    each = span(fact("capacity", "rubin_a_wafer") if a_wafer is None else a_wafer)
    each.to("")  # a count, or refused
    months = chosen(MONTHS, label="months")
    packages = wafers * months * part * each * told
    stacks = None
    if hbm_wafers is not None:
        stacks = _stacks(span(hbm_wafers).to(""), int(height)) / chosen(
            stacks_each, label="stacks of a GPU"
        )
        stacks = stacks.named("GPUs of a year by memory")
    return Supply(wafers, packages.named("GPUs of a year by packaging"), stacks)


def _a_month(year: int) -> Span:
    """CoWoS wafers a month, between what is said of both ends of the year."""
    ends = [fact("capacity", f"cowos_{YEARS[at]}") for at in (max(year - 1, 0), year)]
    mean = (span(ends[0]) + span(ends[1])) / chosen(2, label="ends of the year")
    return mean.named("CoWoS wafers a month")


def _stacks(wafers: Span, height: int) -> Span:
    """Stacks of a year from wafers a month."""
    small, large = hbm_die()
    dies = Span(large.good.low, small.good.high)
    stacking = span(fact("works", "stacking"))
    months = chosen(MONTHS, label="months")
    per_stack = chosen(int(height) + 1, label="dies of a stack, with its base")
    return wafers * months * dies * stacking / per_stack


def a_wafer(area: float) -> Quantity:
    """Square packages of an area in mm2 that fit on a wafer of 300 mm."""
    at_least(1, area=area)
    side = math.sqrt(area) / 1e3
    return counted(grid_dies, side, side, label="interposers on a wafer")


def told() -> Quantity:
    """Chips a wafer that a published count of both implies."""
    pair = quoted("cowos.nvidia_chips_2026") / quoted("cowos.nvidia_2026")
    return pair.named("chips a wafer, as told")

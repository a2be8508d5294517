"""A mistake at tape-out: what it costs, and how often it happens.

A design has ``bugs`` mistakes when verification begins, each found with a chance; what
is left after tape-out is found in silicon, and each new set of masks brings the product
later. The number of sets follows in closed form where mistakes are many and rare
(Poisson), and by drawing them.

Seven stages lead there, each with its tool, and what its maker says of it: claims.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from typing import NamedTuple

from stacklib.cost.making import fact
from stacklib.cost.spans import Given, Span, span
from stacklib.quantity import Quantity, chosen
from stacklib.quantity.bounds import at_least, share, whole

CAUGHT_LATE = 0.9  # of what is left, silicon shows so much to one round of tests


class Tooled(NamedTuple):
    """A step from text to masks: its tools, and what is said of one of them."""

    name: str
    tools: str
    here: str  # the small model of it in this book
    claim: str  # key of the ledger, or nothing


STAGES = (
    Tooled("architecture", "models as in this book", "accelerators.cycles", ""),
    Tooled("logic", "Xcelium, VCS", "accelerators.rtl", "chipstack-speedup"),
    Tooled(
        "formal, emulation",
        "Palladium, ZeBu",
        "accelerators.rtl.tools.proves",
        "eda-verification-share",
    ),
    Tooled("synthesis", "Genus, Design Compiler", "accelerators.rtl.yosys", ""),
    Tooled("place and route", "Innovus, IC Compiler II", "route", "dsoai-speedup"),
    Tooled(
        "timing, rules, supply",
        "Tempus, PrimeTime, Pegasus, IC Validator, PrimeSim",
        "timing, rules, ir_drop",
        "primesim-speedup",
    ),
    Tooled("masks", "cuLitho", "cost.fact", "culitho-speedup"),
)


@dataclass(frozen=True)
class Respin:
    """What is to be expected of a tape-out.

    - ``first``: chance that the first silicon can be sold
    - ``sets``: sets of masks until it can, the first included
    - ``months``: lost on the way
    - ``cost``: masks of the sets after the first, and what the delay loses; nothing
      where none is to be expected
    """

    first: float
    sets: float
    months: float
    cost: Span | None


def respin(
    bugs: float,
    caught: float,
    *,
    months: float = 6.0,
    lost_a_month: Given | None = None,
) -> Respin:
    """Expected sets of masks, months and dollars, in closed form.

    Parameters
    ----------
    bugs : float
        Mistakes in the design, on average, before it is verified.
    caught : float
        Share of them that verification finds.
    months : float, optional
        That a new set of masks takes; the source document's figure.
    lost_a_month : Span, Range or Quantity, optional
        Dollars that a month of delay loses; without it, masks alone.

    Returns
    -------
    Respin
        Chance of a first success, sets, months, dollars.

    Raises
    ------
    ValueError
        For negative bugs, or a share outside 0 to 1.

    Notes
    -----
    What escapes is Poisson with mean m = bugs (1 - caught). Each round of silicon shows
    a share c of what is left, and a round that shows nothing is the last, so round k
    happens with 1 - exp(-m c (1 - c)^(k-1)), up to what rounds before it showed.

    Examples
    --------
    >>> respin(1000, 0.999).first > 0.3
    True
    """
    at_least(0, bugs=bugs)
    share(caught=caught)
    at_least(0, months=months)
    each, delay = span(fact("masks", "leading")), chosen(months, label="months")
    left = chosen(bugs).si * (1 - chosen(caught).si)
    first = math.exp(-left * CAUGHT_LATE)
    more, alive, k = 0.0, 1.0, 0
    while alive > 1e-15 and k < 10_000:
        alive *= -math.expm1(-left * CAUGHT_LATE * (1 - CAUGHT_LATE) ** k)
        more += alive
        k += 1
    if lost_a_month is not None and months:
        each = each + span(lost_a_month) * delay
    cost = each * chosen(more, label="sets") if more > 0 else None
    return Respin(first, 1 + more, more * delay.si, cost)


def drawn(
    bugs: float, caught: float, *, draws: int = 4000, seed: int = 0
) -> tuple[float, float]:
    """Chance of a first success, and sets, by drawing mistakes one by one."""
    whole(draws=draws)
    at_least(0, bugs=bugs)
    share(caught=caught)
    pick = random.Random(seed)
    firsts = total = 0
    for _ in range(draws):
        left = _poisson(bugs * (1 - caught), pick)
        sets = 1
        while True:
            shown = sum(pick.random() < CAUGHT_LATE for _ in range(left))
            if not shown:
                break
            left -= shown
            sets += 1
        firsts += sets == 1
        total += sets
    return firsts / draws, total / draws


def _poisson(mean: float, pick: random.Random) -> int:
    if mean > 500:  # exp(-mean) would be nothing
        return _poisson(mean / 2, pick) + _poisson(mean / 2, pick)
    count, product, floor = 0, pick.random(), math.exp(-mean)
    while product > floor:
        count += 1
        product *= pick.random()
    return count


def caught_for(first: float, bugs: float) -> float:
    """The share that verification must find for such a chance of a first success."""
    share(first=first)
    at_least(0, bugs=bugs)
    if first <= 0 or bugs <= 0:
        raise ValueError(f"first={first!r}, bugs={bugs!r}: both above zero")
    return max(0.0, 1 + math.log(first) / (CAUGHT_LATE * bugs))


def implied(total: Quantity) -> Span:
    """What a delay must lose a month for a respin to cost so much: masks taken off."""
    masks = span(fact("masks", "leading"))
    rest = Span(total - masks.high, total - masks.low)
    return (rest / chosen(6, label="months")).named("lost a month")

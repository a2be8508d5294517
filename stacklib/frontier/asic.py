"""A chip for one family of models: from how many on is it cheaper than GPUs?

    volume = cost before the first chip / (what a GPU costs per unit of work - its own)

What is spent once is a design and a mask set. Every chip then saves the difference to
the GPUs that do its work. Inputs are spans, so the answer is one, and where a chip may
cost as much as what it replaces there is no volume at all.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from stacklib.cost.making import fact
from stacklib.cost.spans import Given, Span, span
from stacklib.quantity import Quantity, one_of
from stacklib.quantity.bounds import above_zero, whole
from stacklib.quantity.bounds import share as in_range
from stacklib.roofline.work.fit import Infeasible


@dataclass(frozen=True)
class OwnChip:
    """Volumes from which an own chip is cheaper.

    - ``once``: dollars before the first chip
    - ``saves``: dollars that each chip saves
    - ``volume``: chips, least and most
    - ``certain``: whether every value of the inputs has a volume
    """

    once: Span
    saves: Span
    volume: Span
    certain: bool


def own_once(design: Given) -> Span:
    """Design and one mask set."""
    return (span(design) + fact("masks", "leading")).named("before the first chip")


def asic_break_even(
    design: Given, chip: Given, gpu: Given, *, work: float = 1.0
) -> OwnChip:
    """The number of chips that pays for a design.

    Parameters
    ----------
    design : Span, Range or Quantity
        Dollars until the design is handed in; a mask set comes on top.
    chip : Span, Range or Quantity
        Dollars a chip, with what it needs to run.
    gpu : Span, Range or Quantity
        Dollars a GPU.
    work : float, optional
        GPUs that one chip replaces.

    Returns
    -------
    OwnChip
        Volumes as a span. Where ``certain`` is false there is no most: its upper end
        is then that of the largest saving.

    Raises
    ------
    ValueError
        For prices that are not above zero, or ``work`` that is not.
    Infeasible
        When even the cheapest chip costs as much as what it replaces.

    Examples
    --------
    >>> from stacklib.quantity import Quantity
    >>> usd = lambda n: Quantity(n, "USD")
    >>> round(asic_break_even(usd(100e6), usd(10_000), usd(30_000)).volume.low.si)
    5750
    """
    above_zero(work=work)
    once, own, theirs = own_once(design), span(chip), span(gpu) * work
    most = theirs.high - own.low
    if most.si <= 0:
        raise Infeasible(
            f"a chip of {own.low.text()} replaces {theirs.high.text()} of GPUs: no "
            "volume pays for its design"
        )
    least = theirs.low - own.high
    certain = least.si > 0
    saves = Span(least if certain else most, most)
    volume = Span(once.low / saves.high, once.high / saves.low)
    return OwnChip(once, saves, volume.named("chips that pay for a design"), certain)


def drawn(
    design: Given,
    chip: Given,
    gpu: Given,
    *,
    work: float = 1.0,
    draws: int = 2000,
    seed: int = 0,
) -> list[float]:
    """Volumes by drawing every input between its ends; infinite without a saving."""
    whole(draws=draws)
    above_zero(work=work)
    pick = random.Random(seed)
    masks = fact("masks", "leading")

    def one(of: Given) -> float:
        return pick.uniform(span(of).low.si, span(of).high.si)

    found = []
    for _ in range(draws):
        once, saved = one(design) + one(masks), one(gpu) * work - one(chip)
        found.append(once / saved if saved > 0 else float("inf"))
    return sorted(found)


def of_share(volumes: list[float], share: float) -> Quantity:
    """The volume that so large a share of the draws stays below."""
    in_range(share=share)
    whole(volumes=len(volumes))
    found = volumes[min(len(volumes) - 1, int(float(share) * len(volumes)))]
    if found == float("inf"):
        raise Infeasible(f"share = {share}: so many of the draws never pay")
    return found * one_of("", "chips")

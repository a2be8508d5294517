"""A stack of dies: how many work, what one costs, and when testing pays.

A stack works when every die in it and every bond between them does, so losses multiply.
Three ways to go about it: stack whatever comes (all that is possible when whole wafers
are bonded), stack only dies that were tested, or test after every bond as well and stop
at the first failure. Closed forms, and a workshop that builds stacks die by die.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from typing import Any

from stacklib.quantity import resolve
from stacklib.quantity.bounds import whole

from .making import fact
from .memory import hbm_die, sold
from .spans import Span, span
from .yields import check_shares

FLOWS = ("blind", "known good dies", "tested bonds")


def _flow(flow: str) -> str:
    return resolve(flow, FLOWS, "way of stacking")


def stack_yield(
    height: int, *, die: Any, bond: Any, flow: str = "known good dies"
) -> Any:
    """Share of the stacks that work, of those begun.

    ``y_die^n y_bond^n`` when dies are stacked blind, ``y_bond^n`` when only good ones
    are. The base die takes the first bond, so there are as many bonds as dies.
    """
    whole(height=height)
    check_shares(die=die, bond=bond)
    bonds = bond**height
    return bonds * die**height if _flow(flow) == "blind" else bonds


@dataclass(frozen=True, slots=True)
class Costs:
    """Dollars that go into a stack."""

    die: Any  # one DRAM die as it comes, good or not
    layer: Any  # stacking one die
    base: Any  # the base die, tested
    test: Any  # assembly and test of what was stacked to the end


def stack_cost(
    height: int, costs: Costs, *, die: Any, bond: Any, flow: str = "known good dies"
) -> Any:
    """What one working stack costs: all that is spent over the stacks that work."""
    works = stack_yield(height, die=die, bond=bond, flow=flow)
    each = (costs.die if _flow(flow) == "blind" else costs.die / die) + costs.layer
    if _flow(flow) != "tested bonds":
        return (costs.base + height * each + costs.test) / works
    # A failed bond ends the stack: the k-th die is only spent on what got that far.
    reached = sum(bond**k for k in range(1, height)) + 1
    return (costs.base + each * reached) / works + costs.test


@dataclass(frozen=True, slots=True)
class Workshop:
    """What building stacks came to."""

    begun: int  # stacks begun
    good: int  # those that work
    dies: int  # DRAM dies used up, dead ones that a test threw out included
    spent: float  # dollars

    @property
    def works(self) -> float:
        """Good stacks of those begun."""
        return self.good / self.begun

    @property
    def each(self) -> float:
        """Dollars a good stack; infinite when none is."""
        return self.spent / self.good if self.good else math.inf


def build(
    height: int,
    costs: Costs,
    *,
    die: float,
    bond: float,
    flow: str = "known good dies",
    stacks: int = 5000,
    seed: int = 0,
) -> Workshop:
    """Build stacks die by die, drawing each die and each bond."""
    stack_yield(height, die=die, bond=bond, flow=flow)  # refuses what is no share
    way, draw = _flow(flow), random.Random(seed)
    good, dies, spent = 0, 0, 0.0
    for _ in range(stacks):
        spent += costs.base
        alive, finished = True, True
        for _ in range(height):
            fine = draw.random() < die
            used = 1
            while way != "blind" and not fine:  # the test throws it out; take another
                fine = draw.random() < die
                used += 1
            dies += used
            spent += used * costs.die + costs.layer
            alive = alive and fine and draw.random() < bond
            if way == "tested bonds" and not alive:
                finished = False
                break
        spent += costs.test if finished else 0.0
        good += alive
    return Workshop(stacks, good, dies, spent)


def layer_yield() -> Span:
    """Share of layers that survive stacking, from the yields makers let out.

    The root of a stack's yield: of eight for HBM3E, of twelve for HBM4. What a maker
    counts as yield is not said, so this is a range, not a fact.
    """
    eight, twelve = fact("works", "hbm3e"), fact("works", "hbm4")
    ends = [
        q ** (1 / n)
        for n, stack in ((8, eight), (12, twelve))
        for q in (stack.low, stack.high)
    ]
    values = sorted(ends, key=lambda q: q.si)
    return Span(values[0], values[-1]).named("layers that survive")


def hbm_costs(gbit: float = 24, process: str = "d1a", *, plain: bool = False) -> Costs:
    """What goes into a stack of HBM, each from the middle of what is published."""
    small, large = hbm_die(gbit, process)
    die = Span(small.raw.low, large.raw.high).middle
    extra = [fact("dollars", key).low for key in ("layer", "base_die", "test")]
    found = [die.named("a die of HBM"), *extra]
    return Costs(*(q.to("USD").value for q in found) if plain else found)


def hbm(
    height: int,
    *,
    flow: str = "known good dies",
    gbit: float = 24,
    process: str = "d1a",
    bond: Span | None = None,
) -> Span:
    """Dollars a gigabyte of HBM to its maker, from the wafer up.

    Parameters
    ----------
    height : int
        DRAM dies of the stack.
    flow : str
        One of ``FLOWS``.
    gbit : float
        Gibibits of a die, sold as an eighth of that in GB.
    process : str
        DRAM process, ``"d1z"`` or ``"d1a"``.
    bond : Span, optional
        Share of layers that survive; the published range without it.

    Raises
    ------
    ValueError, UnknownName
        As ``stack_cost`` and ``hbm_die`` raise them.

    Examples
    --------
    >>> hbm(8).text("USD/GB")
    '4.8 to 10 USD/GB'
    """
    small, large = hbm_die(gbit, process)
    layers = layer_yield() if bond is None else span(bond)
    works = span(fact("works", "dram"))
    extra = [fact("dollars", key).low for key in ("layer", "base_die", "test")]
    least = Costs(small.raw.low, *extra)
    most = Costs(large.raw.high, *extra)
    whole = Span(
        stack_cost(height, least, die=works.high, bond=layers.high, flow=flow),
        stack_cost(height, most, die=works.low, bond=layers.low, flow=flow),
    )
    return (whole / (height * sold(gbit))).to("USD/GB").named(f"HBM, {height} high")

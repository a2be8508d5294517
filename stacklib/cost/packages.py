"""Several dies in one package: what carries them, how many work, what is lost.

Dies and stacks of memory lie side by side on an interposer. It must be at least as
large as they are together, so their area over a scanner's field decides which kind
can carry them. All of them must work, so losses multiply, and a package that fails
takes good parts with it. Closed forms, and a workshop that assembles one by one.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from stacklib.quantity import Quantity, resolve
from stacklib.quantity.bounds import above_zero, at_least, whole

from .data import packaging_price
from .dies import die as price_die
from .making import fact, keys
from .spans import Given, Span, span
from .yields import check_shares

ORDERS = ("blind", "known good dies", "memory last")


def reticle() -> Quantity:
    """Area a scanner exposes at once: the largest die, and the unit of interposers."""
    width, height = fact("field", "width").low, fact("field", "height").low
    return (width * height).named("a scanner's field").to("mm2")


def bumps(pitch: Any) -> Any:
    """Connections an area on a square grid: one over the square of the pitch.

    Parameters
    ----------
    pitch : float, Quantity or array
        Distance between neighbours.

    Raises
    ------
    ValueError
        For one that is not above zero.
    """
    above_zero(pitch=pitch)
    return 1 / pitch**2


def link_rate(edge: Any, depth: Any, pitch: Any, rate: Any, share: Any) -> Any:
    """Bits a second over the edge between two dies, by area: bumps times their rate."""
    above_zero(edge=edge, depth=depth, rate=rate, share=share)
    at_least(0, rest=1 - share)
    # Bumps that carry no signals are power, ground and spare.
    return edge * depth * bumps(pitch) * share * rate


def count_link(
    edge: float, depth: float, pitch: float, rate: float, share: float
) -> float:
    """``link_rate``, by laying whole bumps on the strip row by row.

    ``edge``, ``depth``, ``pitch``: metres.
    """
    above_zero(edge=edge, depth=depth, pitch=pitch, rate=rate)
    check_shares(share=share)
    signals, row, due = 0, 0, 0.0
    while (row + 1) * pitch <= depth * (1 + 1e-9):
        due += math.floor(edge / pitch + 1e-9) * share
        signals += math.floor(due + 1e-9)
        due -= math.floor(due + 1e-9)
        row += 1
    return signals * rate


def carriers(area: Quantity, year: str = "9999") -> tuple[str, ...]:
    """Interposers that can carry an area of dies, the smallest sort first."""
    if not isinstance(area, Quantity):
        raise TypeError(f"area = {area!r}: write Quantity({area!r}, 'mm2')")
    if area.to("mm2").si <= 0:
        raise ValueError(f"area = {area.text()}: it must be above zero")
    most = {
        key: max(
            (q.value.si for q in fact("carries", key).quotes if q.date <= year),
            default=0.0,
        )
        for key in keys("carries")
    }
    needed = (area / reticle()).si
    return tuple(sorted((k for k in most if most[k] >= needed), key=most.__getitem__))


def package_yield(
    dies: int,
    stacks: int,
    *,
    die: Any,
    bond: Any,
    stack: Any = 1.0,
    assembly: Any = 1.0,
    order: str = "known good dies",
) -> Any:
    """Share of packages that work, of those begun.

    ``bond^(dies + stacks) stack^stacks assembly``, times ``die^dies`` where dies are
    placed untested.
    """
    whole(dies=dies)
    whole(0, stacks=stacks)
    check_shares(die=die, bond=bond, stack=stack, assembly=assembly)
    works = bond ** (dies + stacks) * stack**stacks * assembly
    return works * die**dies if resolve(order, ORDERS, "order") == "blind" else works


@dataclass(frozen=True, slots=True)
class Parts:
    """Dollars that go into a package."""

    die: Any  # one die as it comes from the wafer, good or not
    stack: Any  # one stack of memory, as bought
    interposer: Any  # interposer, substrate and the work of joining


def package_cost(
    dies: int,
    stacks: int,
    bill: Parts,
    *,
    die: Any,
    bond: Any,
    stack: Any = 1.0,
    assembly: Any = 1.0,
    order: str = "known good dies",
) -> Any:
    """What one working package costs: all that is spent, over what works.

    ``"memory last"`` tests the dies on their interposer before the first stack goes
    on, so a failed die takes no memory with it.
    """
    shares = {"die": die, "bond": bond, "stack": stack, "assembly": assembly}
    works = package_yield(dies, stacks, **shares, order=order)
    each = bill.die if order == "blind" else bill.die / die
    base, memory = bill.interposer + dies * each, stacks * bill.stack
    if order == "memory last":
        memory = memory * bond**dies
    return (base + memory) / works


@dataclass(frozen=True, slots=True)
class Assembled:
    """What a workshop did."""

    works: float  # share of the packages begun that work
    each: float  # dollars spent on a working one; infinite when none works
    scrapped: float  # stacks thrown away with a failed package, for each package begun


def assemble_packages(
    dies: int,
    stacks: int,
    bill: Parts,
    *,
    die: float,
    bond: float,
    stack: float = 1.0,
    assembly: float = 1.0,
    order: str = "known good dies",
    packages: int = 4000,
    seed: int = 0,
) -> Assembled:
    """``package_cost``, by assembling packages part by part."""
    shares = {"die": die, "bond": bond, "stack": stack, "assembly": assembly}
    package_yield(dies, stacks, **shares, order=order)  # refuses what is wrong
    whole(packages=packages)
    draw = random.Random(seed)
    spent, good, scrapped = 0.0, 0, 0
    for _ in range(packages):
        paid, placed, alive = _one(draw.random, dies, stacks, bill, shares, order)
        spent += paid
        good += alive
        scrapped += 0 if alive else placed
    each = spent / good if good else math.inf
    return Assembled(good / packages, each, scrapped / packages)


def _one(
    chance: Callable[[], float],
    dies: int,
    stacks: int,
    bill: Parts,
    shares: dict[str, float],
    order: str,
) -> tuple[float, int, bool]:
    """Dollars spent on one package, stacks placed on it, and whether it works."""
    spent, alive = float(bill.interposer), True
    for _ in range(dies):
        fine = chance() < shares["die"]
        spent += bill.die
        while order != "blind" and not fine:  # the test throws it away, paid for
            fine = chance() < shares["die"]
            spent += bill.die
        held = chance() < shares["bond"]
        alive = alive and fine and held
    if order == "memory last" and not alive:
        return spent, 0, False
    for _ in range(stacks):
        fine = chance() < shares["stack"]
        held = chance() < shares["bond"]
        alive = alive and fine and held
        spent += bill.stack
    return spent, stacks, chance() < shares["assembly"] and alive


def implied_bond(parts: Any, lost: Any, placements: int) -> Any:
    """Share of placements that survive, from what a bill says is lost.

    When ``parts`` dollars of good parts go into each package begun and a working one
    bears ``lost`` dollars of failed ones, ``parts / (parts + lost)`` of them work.
    """
    above_zero(parts=parts)
    at_least(0, lost=lost)
    whole(placements=placements)
    return (parts / (parts + lost)) ** (1 / placements)


@dataclass(frozen=True, slots=True)
class Package:
    """Dies and stacks side by side on an interposer."""

    silicon: Quantity  # area of all of them, the least an interposer covers
    reticles: Quantity  # that over a scanner's field
    interposer: str  # which kind carries it
    works: Span  # share of packages that work
    parts: Span  # dollars of good parts in one package, interposer included
    cost: Span  # dollars of a working package

    @property
    def lost(self) -> Quantity:
        """Dollars of failed packages that a working one bears, dearest case."""
        return (self.cost.high - self.parts.high).named("lost with failed packages")


def package(
    area: Quantity,
    *,
    dies: int = 1,
    stacks: int = 0,
    stack: Given | None = None,
    node: str = "n5",
    interposer: str = "",
    bond: Given,
    units: int = 1,
    needed: int = 1,
    share: float = 1.0,
) -> Package:
    """A package of equal tested dies and bought stacks, as ranges of cost and yield.

    Parameters
    ----------
    area : Quantity
        Of one die.
    dies, stacks : int
        How many of each.
    stack : Span, Range or Quantity, optional
        Dollars of one stack; needed where there are stacks.
    node : str
        Process of the dies.
    interposer : str
        Kind of interposer; by default the smallest sort that can carry it.
    bond : Span or Quantity
        Share of placements that survive.
    units, needed, share
        Spare units of a die, as ``cost.die`` takes them.

    Returns
    -------
    Package

    Raises
    ------
    ValueError
        For dies that no interposer carries, with their area and the limit, and all
        that ``cost.die`` and ``package_yield`` refuse.
    UnknownName
        For another interposer or process.

    Examples
    --------
    >>> two = package(Quantity(800, "mm2"), dies=2, bond=Quantity(0.99))
    >>> two.reticles.text(digits=3), two.interposer, two.works.text("%")
    ('1.86', 'cowos_s', '98 to 98 %')
    """
    whole(dies=dies)
    whole(0, stacks=stacks)
    if stacks and stack is None:
        raise ValueError(f"stacks = {stacks}: what does one cost? give stack=")
    made = price_die(area, node=node, units=units, needed=needed, share=share)
    silicon = area * dies
    if stacks:
        silicon = silicon + fact("footprint", "hbm").low * stacks
    kind = _carrier(silicon.to("mm2"), interposer)
    survive = span(bond)
    works = Span(
        *(
            package_yield(dies, stacks, die=1.0, bond=b)
            for b in (survive.low, survive.high)
        )
    ).named("packages that work")
    parts = made.cost * dies + span(packaging_price(kind))
    if stack is not None and stacks:
        parts = parts + span(stack) * stacks
    parts = parts.named("good parts of a package")
    return Package(
        silicon.to("mm2"),
        (silicon / reticle()).named("reticles"),
        kind,
        works,
        parts,
        (parts / works).named("a working package"),
    )


def _carrier(silicon: Quantity, interposer: str) -> str:
    able = carriers(silicon)
    if not interposer:
        if able:
            return able[0]
        interposer = max(keys("carries"), key=lambda key: fact("carries", key).high.si)
    kind = resolve(interposer, keys("carries"), "interposer")
    if kind not in able:
        needed, most = (silicon / reticle()).si, fact("carries", kind).high.si
        raise ValueError(
            f"{silicon.text()} of dies is {needed:.2f} reticles; {kind} carries "
            f"{most:g}"
        )
    return kind

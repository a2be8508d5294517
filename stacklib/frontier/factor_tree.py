"""Gains as a tree of factors, each an interval, and what their product counts twice.

A factor is a number, a pair of ends, or factors below it. Ends are multiplied as if no
factor had to do with another, so that the product holds every value they could give.
Where two of them name one cause, the product is of more than there is.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from numbers import Real
from operator import mul
from typing import Any

from stacklib import hardware
from stacklib.cost.data import Range
from stacklib.cost.spans import Span, span
from stacklib.quantity import Quantity, UnitError, chosen, quoted
from stacklib.quantity.bounds import above_zero

DEEPEST, MOST = 50, 300  # levels, factors: a tree that holds itself has no end
Tree = Any  # what ``factors`` describes


@dataclass(frozen=True, slots=True)
class Factor:
    """A gain with the causes that it counts.

    - ``gain``: anything that ``factors`` takes
    - ``of``: causes, such as ``("fp4",)``, or the only one by its name: no two factors
      of a product should share one
    """

    gain: Tree
    of: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """One name is one cause, not its letters."""
        if isinstance(self.of, str):
            object.__setattr__(self, "of", (self.of,))


def factors(tree: Tree) -> Span:
    """The product of a tree of factors, from its least to its most.

    Parameters
    ----------
    tree : mapping, sequence, Factor, Span, Quantity or number
        A mapping or a list multiplies what is in it; two numbers in a pair are the ends
        of one factor.

    Raises
    ------
    ValueError
        For a tree, or a part of one, without factors, for one too deep, too large or
        beyond a float, for ends that run downwards, and for what is not a number above
        zero; the message has the way to it.

    Examples
    --------
    >>> thirty = {"chip": (3, 5), "link": (2, 3), "fp4": (2, 3)}
    >>> factors(thirty).text()
    '12 to 45'
    >>> factors({"a": 2, "b": [(1, 3), {"c": 0.5, "d": 4}]}).text()
    '4 to 12'
    """
    found = _ends(tree)
    try:
        return reduce(mul, found)
    except ValueError:
        says = f"tree: {len(found)} factors multiply beyond every float's reach"
        raise ValueError(says) from None


def twice(tree: Tree) -> dict[str, list[str]]:
    """Causes that more than one factor of a tree counts: cause to factors.

    A factor that names a cause of one below it says whose it is, and counts nothing.
    """
    _ends(tree)
    found: dict[str, list[str]] = {}
    for cause, way in _causes(tree, ""):
        found.setdefault(cause, []).append(way)
    return {cause: ways for cause, ways in found.items() if len(ways) > 1}


def drawn(tree: Tree, random: Any) -> float:
    """One value of the product: each factor drawn evenly on a log scale."""
    ends = [(math.log(each.low.si), math.log(each.high.si)) for each in _ends(tree)]
    return math.exp(sum(random.uniform(low, high) for low, high in ends))


def _ends(node: Tree) -> list[Span]:
    """All that is multiplied, factor by factor; refuses a tree without an end."""
    found: list[Span] = []

    def gather(node: Tree, way: str, name: str, level: int) -> None:
        if level > DEEPEST:
            raise ValueError(f"{way[:40]}...: a tree is {DEEPEST} levels deep at most")
        if len(found) == MOST:
            raise ValueError(f"{way[:40]}: a tree has {MOST} factors at most")
        if isinstance(node, Factor):
            gather(node.gain, way, name, level + 1)
        elif (below := _below(node)) is None:
            found.append(_leaf(node, way, name))
        elif not below:
            raise ValueError(f"{way} = {node!r}: no factor in it, nothing to multiply")
        else:
            for under, part in below:
                gather(part, f"{way}.{under}", under, level + 1)

    gather(node, "tree", "tree", 0)
    return found


def _causes(node: Tree, way: str) -> list[tuple[str, str]]:
    """Every cause with the lowest factors that name it."""
    if isinstance(node, Factor):
        below = _causes(node.gain, way)
        told = [cause for cause, _ in below]
        return below + [(c, way) for c in dict.fromkeys(node.of) if c not in told]
    under = [(f"{way}.{name}" if way else name, p) for name, p in _below(node) or ()]
    return [pair for name, part in under for pair in _causes(part, name)]


def _below(node: Tree) -> list[tuple[str, Tree]] | None:
    """The parts of what is multiplied, by name; none of what is one factor."""
    if isinstance(node, Mapping):
        return [(str(name), part) for name, part in node.items()]
    if not isinstance(node, list | tuple):
        return None
    ends = len(node) == 2 and all(isinstance(end, Real | Quantity) for end in node)
    return None if ends else [(str(at), part) for at, part in enumerate(node)]


def _leaf(node: Any, way: str, name: str) -> Span:
    """One factor: a span of a plain number, or the two ends of one."""
    found = []
    pair = node if isinstance(node, list | tuple) else [node]
    for end in () if isinstance(node, Span | Range) else pair:
        try:
            if isinstance(end, Real) and not isinstance(end, bool):
                end = float(end)
            above_zero(**{way: end})
            plain = isinstance(end, Quantity)
            found.append(end if plain else chosen(float(end), label=name))
        except (OverflowError, TypeError):
            says = f"{way} = {str(end)[:40]}: one number, within every float's reach"
            raise ValueError(says) from None
    if found and found[0] > found[-1]:
        least, most = (end.text() for end in found)
        raise ValueError(f"{way} = ({least}, {most}): ends run from least to most")
    ends = Span(found[0], found[-1]) if found else span(node)
    try:
        return ends.to("1")
    except UnitError:
        says = f"{way} = {ends.text()}: a factor is a ratio, without a unit"
        raise UnitError(says) from None


# -- thirty times, and what it is made of ----------------------------------------------


def thirty(once: bool = False) -> dict[str, Factor]:
    """Hopper to Blackwell as told: chip, NVLink and FP4, each a few times.

    The chip's own factor is of its rate with FP4 in it, which is then a factor again.
    ``once`` takes the chip's rate in the format that both generations have.
    """
    chip: Tree = span(quoted("leapfrog.chip_low"), quoted("leapfrog.chip_high"))
    causes: tuple[str, ...] = ("silicon", "fp4")
    if once:
        old, new = (hardware.get(key) for key in ("h100_sxm", "b200_sxm"))
        chip, causes = new.peak("bf16") / old.peak("bf16"), ("silicon",)
    link = span(quoted("leapfrog.link_low"), quoted("leapfrog.link_high"))
    fp4 = span(quoted("leapfrog.fp4_low"), quoted("leapfrog.fp4_high"))
    return {
        "chip": Factor(chip, causes),
        "NVLink": Factor(link, ("links",)),
        "FP4": Factor(fp4, ("fp4",)),
    }


def generation(new: str = "rubin", old: str = "b200_sxm") -> dict[str, Span]:
    """What the rows of two devices say: memory, arithmetic, links, ratio by ratio.

    Rates are dense. A figure of an announcement that holds for adaptive or structured
    sparsity is no ratio of two dense rates, and stands in no row here.
    """
    after, before = (hardware.get(key) for key in (new, old))
    found = {"HBM": span(after.memory_bandwidth / before.memory_bandwidth)}
    for fmt in ("bf16", "fp8", "fp4"):
        if fmt in after.peaks and fmt in before.peaks:
            found[fmt] = span(after.peak(fmt) / before.peak(fmt))
    for name, field in (("capacity", "memory_capacity"), ("link", "link")):
        ends = after.fields[field], before.fields[field]
        if ends[0] is not None and ends[1] is not None:
            found[name] = span(ends[0] / ends[1])
    return {name: each.to("1").named(f"{name}, times") for name, each in found.items()}

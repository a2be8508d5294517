"""Gains as a tree of factors, each an interval, and what their product counts twice.

A factor is a number, a pair of ends, or factors below it. Ends are multiplied as if no
factor had to do with another, so that the product holds every value they could give.
Where two of them name one cause, the product is of more than there is.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any

from stacklib import hardware
from stacklib.cost.data import Range
from stacklib.cost.spans import Span, span
from stacklib.quantity import Quantity, UnitError, chosen, quoted
from stacklib.quantity.bounds import above_zero

DEEPEST = 50  # levels: one that holds itself has no end
Tree = Any  # what ``factors`` describes


@dataclass(frozen=True, slots=True)
class Factor:
    """A gain with the causes that it counts.

    - ``gain``: anything that ``factors`` takes
    - ``of``: causes, such as ``"fp4"``: no two factors of a product should share one
    """

    gain: Tree
    of: tuple[str, ...] = ()


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
        For a tree, or a part of one, without factors, for ends that run downwards, and
        for what is not a number above zero; the message has the way to it.

    Examples
    --------
    >>> thirty = {"chip": (3, 5), "link": (2, 3), "fp4": (2, 3)}
    >>> factors(thirty).text()
    '12 to 45'
    >>> factors({"a": 2, "b": [(1, 3), {"c": 0.5, "d": 4}]}).text()
    '4 to 12'
    """
    return _product(tree, "tree")


def twice(tree: Tree) -> dict[str, list[str]]:
    """Causes that more than one factor of a tree counts: cause to factors."""
    found: dict[str, list[str]] = {}
    for name, factor in _leaves(tree, ""):
        for cause in factor.of:
            found.setdefault(cause, []).append(name)
    return {cause: names for cause, names in found.items() if len(names) > 1}


def _product(node: Tree, way: str) -> Span:
    if way.count(".") > DEEPEST:
        raise ValueError(f"{way[:40]}...: a tree is {DEEPEST} levels deep at most")
    if isinstance(node, Factor):
        return _product(node.gain, way)
    if isinstance(node, Mapping | list | tuple) and not _pair(node):
        parts = [_product(below, f"{way}.{name}") for name, below in _below(node, way)]
        found = parts[0]
        for part in parts[1:]:
            found = found * part
        return found
    return _leaf(node, way)


def _below(node: Any, way: str) -> list[tuple[str, Tree]]:
    named = node.items() if isinstance(node, Mapping) else enumerate(node)
    below = [(str(name), part) for name, part in named]
    if not below:
        raise ValueError(f"{way} = {node!r}: no factor in it, and nothing to multiply")
    return below


def _pair(node: Any) -> bool:
    """Whether it is the two ends of one factor."""
    return (
        isinstance(node, list | tuple)
        and len(node) == 2
        and all(isinstance(end, Real | Quantity) for end in node)
    )


def _leaf(node: Any, way: str) -> Span:
    """One factor: a span of a plain number."""
    if isinstance(node, Span | Range):
        return _plain(span(node), way)
    ends = list(node) if _pair(node) else [node]
    name, found = way.rpartition(".")[2], []
    for end in ends:
        above_zero(**{way: end})
        if not isinstance(end, Quantity):
            try:
                end = chosen(float(end), label=name)
            except (OverflowError, TypeError):
                says = (
                    f"{way} = {str(end)[:40]}: one number, within every float's reach"
                )
                raise ValueError(says) from None
        found.append(end)
    ends = found
    if ends[0] > ends[-1]:
        least, most = (end.text() for end in ends)
        raise ValueError(f"{way} = ({least}, {most}): ends run from least to most")
    return _plain(Span(ends[0], ends[-1]), way)


def _plain(found: Span, way: str) -> Span:
    try:
        return found.to("1")
    except UnitError:
        raise UnitError(
            f"{way} = {found.text()}: a factor is a ratio, without a unit"
        ) from None


def _leaves(node: Tree, way: str) -> Iterator[tuple[str, Factor]]:
    if isinstance(node, Factor):
        yield way, node
        node = node.gain
    if isinstance(node, Mapping | list | tuple) and not _pair(node):
        for name, below in _below(node, way or "tree"):
            yield from _leaves(below, f"{way}.{name}" if way else name)


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


def drawn(tree: Tree, random: Any) -> float:
    """One value of the product: each factor drawn evenly on a log scale."""
    if isinstance(tree, Factor):
        return drawn(tree.gain, random)
    if isinstance(tree, Mapping | list | tuple) and not _pair(tree):
        return math.prod(drawn(below, random) for _, below in _below(tree, "tree"))
    ends = _leaf(tree, "tree")
    low, high = math.log(ends.low.si), math.log(ends.high.si)
    return math.exp(random.uniform(low, high))

"""From one process to another: what density, power and speed are said to gain.

A foundry states one process against another, so a factor between any two is a product
along the path that leads from one to the other. Where only the density of a whole chip
is stated, ``density="logic"`` takes it in place of logic's, and says so by its leaves.
Speed and power are alternatives: a chip takes one or the other.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from functools import cache
from itertools import pairwise
from typing import Any

from stacklib.quantity import one_of, resolve
from stacklib.quantity.bounds import above_zero, at_least, whole

from .making import fact, keys
from .spans import Span, span

GAINS = ("logic", "chip", "sram", "power", "speed")
NODES = ("n7", "n5", "n4", "n3e", "n3p", "n2")
# Process of the fact that knows the SRAM cell.
CELLS = {"n7": "n7", "n5": "n5", "n4": "n5", "n3e": "n3", "n3p": "n3", "n2": "n2"}


@cache
def _steps(what: str) -> dict[tuple[str, str], Span]:
    """Stated steps of one gain, in the direction that is stated."""
    found = {}
    tables = ("chip", "logic") if what == "logic" else (what,)
    for table in tables:  # where logic is stated, it overrides the chip's
        for key in keys(table):
            old, new = key.split("_")
            found[old, new] = span(fact(table, key))
    return found


def path(old: str, new: str, what: str = "logic") -> tuple[str, ...]:
    """Processes through which the stated steps lead from one to another."""
    old, new = resolve(old, NODES, "process"), resolve(new, NODES, "process")
    if resolve(what, GAINS, "gain") == "sram":
        return (old, new) if old != new else (old,)
    ways: list[tuple[str, ...]] = [(old,)]
    seen = {old}
    while ways:  # breadth first: the fewest steps
        way = ways.pop(0)
        if way[-1] == new:
            return way
        for ends in _steps(what):
            for here, there in (ends, ends[::-1]):
                if here == way[-1] and there not in seen:
                    seen.add(there)
                    ways.append((*way, there))
    raise ValueError(f"no stated steps of {what} lead from {old} to {new}")


def gain(old: str, new: str, what: str = "logic") -> Span:
    """Factor from one process to another, the product along the path of stated steps.

    Parameters
    ----------
    old, new : str
        Of ``NODES``.
    what : str
        ``"logic"``, ``"chip"`` or ``"sram"`` for density, ``"power"`` at one speed,
        ``"speed"`` at one power.

    Returns
    -------
    Span
        New over old.

    Raises
    ------
    UnknownName, ValueError
        As ``path``.

    Examples
    --------
    >>> gain("n4", "n2").text(digits=3)
    '1.74 to 1.74'
    """
    way = path(old, new, what)
    total = span(one_of("1", "the process itself"))
    if what == "sram" and len(way) == 2:
        before, after = (span(fact("cell", CELLS[node])) for node in way)
        total = before / after
    elif what != "sram":
        steps = _steps(what)
        for here, there in pairwise(way):
            forward = (here, there) in steps
            step = steps[here, there] if forward else 1 / steps[there, here]
            total = total * step
    return total.named(f"{what}, {way[-1].upper()} over {way[0].upper()}")


def _parts(shares: Mapping[str, Any], gains: Mapping[str, Any]) -> None:
    if not shares or shares.keys() != gains.keys():
        raise ValueError(
            f"shares of {sorted(shares)} and gains of {sorted(gains)}: each part of "
            "the die needs both"
        )
    for name in shares:
        at_least(0, **{f"share of {name}": shares[name]})
        above_zero(**{f"gain of {name}": gains[name]})
    together = float(sum(shares.values()))
    if abs(together - 1) > 1e-9:
        raise ValueError(f"shares add up to {together:g}, not to one")


def mixed_density(shares: Mapping[str, Any], gains: Mapping[str, Any]) -> Any:
    """Gain of a die whose parts do not gain alike: ``1 / sum(share / gain)``.

    What does not shrink keeps its area, so it bounds the whole, as in Amdahl's law.
    """
    _parts(shares, gains)
    return 1 / sum(shares[part] / gains[part] for part in shares)


def shrink_blocks(
    shares: Mapping[str, float],
    gains: Mapping[str, float],
    blocks: int = 20000,
    seed: int = 0,
) -> float:
    """``mixed_density``, by drawing a die's blocks and shrinking them one by one."""
    _parts(shares, gains)
    whole(blocks=blocks)
    draw = random.Random(seed)
    names, weights = list(shares), list(shares.values())
    old = new = 0.0
    for part in draw.choices(names, weights, k=blocks):
        area = draw.uniform(0.5, 1.5)
        old += area
        new += area / gains[part]
    return old / new

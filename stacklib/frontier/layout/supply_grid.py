"""IR drop: the supply as a grid of resistors, and currents that wires bear.

Every tile is a node, joined to its four neighbours; the rim is held at the supply. What
a node draws must flow in: Kirchhoff's law at each gives one equation, all of them a
symmetric system that conjugate gradients solve. Where a current is more than a wire of
that width bears for years, electromigration carries its metal away.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from stacklib.quantity.bounds import above_zero, at_least, whole
from stacklib.roofline.work.fit import Infeasible

from .placing import Placement

LARGEST = 65_536  # nodes that are solved for

Node: TypeAlias = tuple[int, int]


@dataclass(frozen=True)
class Drop:
    """A supply grid under load.

    - ``volts``: at each node
    - ``worst``: the largest drop below the supply, in volts
    - ``where``: at which node
    - ``unbalanced``: the most that flows into a node and not out, in amperes
    - ``supplied``: what the supply gives, in amperes
    - ``overloaded``: wires that carry more than the limit, in amperes
    """

    volts: dict[Node, float]
    worst: float
    where: Node
    unbalanced: float
    supplied: float
    overloaded: dict[tuple[Node, Node], float]


def ir_drop(
    load: Placement | Mapping[Node, float],
    *,
    volts: float,
    ohm: float,
    amps: float | None = None,
    supply: Iterable[Node] | None = None,
    limit: float | None = None,
) -> Drop:
    """How far the supply drops at each tile, and which wires carry too much.

    Parameters
    ----------
    load : Placement or mapping
        What each node draws in amperes; of a placement, ``amps`` for each cell.
    volts : float
        Of the supply.
    ohm : float
        Of the wire between two neighbours.
    amps : float, optional
        What a placed cell draws.
    supply : iterable of nodes, optional
        Nodes held at the supply; by default the rim.
    limit : float, optional
        Amperes that a wire bears, see ``bears``; by default none is asked for.

    Returns
    -------
    Drop
        Voltages that fulfil Kirchhoff's law at every node, to ``unbalanced``.

    Raises
    ------
    Infeasible
        When a node would fall below zero: the wires cannot carry so much.
    ValueError
        For a load that is negative or no number, a placement without ``amps``, no node
        that draws, no supply, or a grid of more than 65,536 nodes.

    Examples
    --------
    >>> drop = ir_drop({(1, 1): 0.004}, volts=1.2, ohm=1.0)
    >>> round(drop.worst, 6)
    0.001
    """
    above_zero(volts=volts, ohm=ohm)
    if limit is not None:
        above_zero(limit=limit)
    drawn = _drawn(load, amps)
    wide = max(x for x, _ in drawn) + 1
    tall = max(y for _, y in drawn) + 1
    if isinstance(load, Placement):
        wide, tall = load.grid.columns + 1, load.grid.rows + 1
    if (wide + 1) * (tall + 1) > LARGEST:
        raise ValueError(f"a grid of {wide + 1} x {tall + 1} nodes; {LARGEST} at most")
    nodes = [(x, y) for x in range(wide + 1) for y in range(tall + 1)]
    rim = [(x, y) for x, y in nodes if x in (0, wide) or y in (0, tall)]
    held = set(rim if supply is None else supply)
    if not held or not held <= set(nodes):
        grid = f"nodes of {wide + 1} x {tall + 1}, one at least"
        raise ValueError(f"supply {sorted(held)[:3]}: {grid}")
    beside = {
        n: [m for m in _around(n) if 0 <= m[0] <= wide and 0 <= m[1] <= tall]
        for n in nodes
    }
    lost = _solve([n for n in nodes if n not in held], beside, held, drawn, ohm)
    level = {n: volts - lost.get(n, 0.0) for n in nodes}
    flows = {
        (a, b): (level[a] - level[b]) / ohm for a in nodes for b in beside[a] if a < b
    }
    into = dict.fromkeys(nodes, 0.0)
    for (a, b), flow in flows.items():
        into[a] -= flow
        into[b] += flow
    free = [n for n in nodes if n not in held]
    where = min(nodes, key=lambda n: (level[n], n))
    if level[where] < 0:
        raise Infeasible(f"{lost[where]:.3g} of {volts:g} V lost on the way to {where}")
    return Drop(
        level,
        volts - level[where],
        where,
        max((abs(into[n] - drawn.get(n, 0.0)) for n in free), default=0.0),
        sum(drawn.get(n, 0.0) - into[n] for n in held),
        {e: abs(f) for e, f in flows.items() if limit is not None and abs(f) > limit},
    )


def bears(width: float, density: float) -> float:
    """Amperes that a wire of a width in um bears, at so many mA/um of it."""
    above_zero(width=width, density=density)
    return width * density / 1e3


def _drawn(
    load: Placement | Mapping[Node, float], amps: float | None
) -> dict[Node, float]:
    drawn: dict[Node, float] = {}
    if isinstance(load, Placement):
        if amps is None:
            raise ValueError("amps: what each cell of the placement draws is needed")
        above_zero(amps=amps)
        for block, (x, y, _) in zip(load.packed.blocks, load.sites, strict=True):
            if not block.pad:
                drawn[x, y] = drawn.get((x, y), 0.0) + amps
        load = {}
    for node, amount in load.items():
        if not isinstance(node, tuple) or len(node) != 2:
            raise ValueError(f"node {node!r}: a column and a row, (x, y), are needed")
        x, y = node
        whole(0, x=x, y=y)
        at_least(0, amps=amount)
        drawn[x, y] = float(amount)
    if not any(drawn.values()):
        raise ValueError("no node draws a current: there is no drop to be found")
    return drawn


def _around(node: Node) -> tuple[Node, ...]:
    x, y = node
    return (x - 1, y), (x + 1, y), (x, y - 1), (x, y + 1)


def _solve(
    free: list[Node],
    beside: Mapping[Node, list[Node]],
    held: set[Node],
    drawn: Mapping[Node, float],
    ohm: float,
) -> dict[Node, float]:
    """Drops at the free nodes by conjugate gradients."""
    drop = dict.fromkeys(free, 0.0)
    rest = {n: drawn.get(n, 0.0) * ohm for n in free}
    way, square = dict(rest), sum(r * r for r in rest.values())
    aim = square * 1e-28
    for _ in range(4 * len(free) + 10):
        if square <= aim:
            break
        pulled = {
            n: len(beside[n]) * way[n] - sum(way[m] for m in beside[n] if m not in held)
            for n in free
        }
        step = square / sum(way[n] * pulled[n] for n in free)
        for n in free:
            drop[n] += step * way[n]
            rest[n] -= step * pulled[n]
        before, square = square, sum(r * r for r in rest.values())
        for n in free:
            way[n] = rest[n] + square / before * way[n]
    return drop

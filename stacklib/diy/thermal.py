"""Where heat goes: die, sink, case and room as a chain of resistances.

Each part stores heat (joules a kelvin) and hands it to the next through a resistance
(kelvins a watt), the last to what is outside. Such a chain is linear: over a time in
which watts stay the same its step is exact,

    T(t + h) = Phi T(t) + Gamma (watts, outside),

with the matrices of one exponential. A die that would pass its limit is held there: the
watts that end the step just at the limit come from one division.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from operator import add, mul

from stacklib.quantity.bounds import above_zero, at_least, whole
from stacklib.roofline.work.fit import Infeasible

HOUR = 3600.0
COLDEST = -273.15  # degrees Celsius
STEPS = 480  # of a curve: a minute each over eight hours
_TERMS = 12  # of the exponential's series, after halving
Matrix = list[list[float]]


@dataclass(frozen=True, slots=True)
class Heat:
    """Temperatures over time."""

    times: tuple[float, ...]  # seconds, from 0
    parts: tuple[tuple[float, ...], ...]  # degrees Celsius of each part at each time
    watts: tuple[float, ...]  # into the first part, over the step that ends there
    held: float  # seconds in which the first part was held at its limit


def heat(
    resistances: Sequence[float],
    capacities: Sequence[float],
    power: float | Sequence[float],
    hours: float,
    ambient: float,
    *,
    most: float | None = None,
    steps: int = STEPS,
) -> Heat:
    """Temperatures of a chain of parts that is heated.

    Parameters
    ----------
    resistances, capacities : sequence of float
        K/W from each part to the next, from the last to what is outside; J/K of each.
    power : float or sequence of float
        Watts into the first part, or into each.
    hours, ambient : float
        How long, and degrees Celsius outside and of all parts at the start.
    most : float, optional
        Degrees at which the first part's watts are cut, as firmware does.
    steps : int
        Into how many equal times the hours are cut. Each is exact; a limit begins to
        hold at the start of one.

    Raises
    ------
    ValueError
        For lengths that differ, values that are not above zero, and a limit at or below
        ``ambient``; ``Infeasible`` for one that the other parts' heat alone passes.

    Examples
    --------
    >>> alone = heat([0.08], [1000], 500, 1, 20)
    >>> round(alone.parts[-1][0], 2)
    60.0
    """
    many, others = len(resistances), len(capacities)
    if not many or others != many:
        says = f"{many} resistances and {others} capacities"
        raise ValueError(f"{says}: one each a part")
    for i, (each, stored) in enumerate(zip(resistances, capacities, strict=True)):
        above_zero(**{f"resistances[{i}]": each, f"capacities[{i}]": stored})
        above_zero(**{f"resistances[{i}] x capacities[{i}]": each * stored})
    watts = _watts(power, many)
    above_zero(hours=hours)
    whole(steps=steps)
    at_least(COLDEST, ambient=ambient)
    if most is not None and not ambient < most < math.inf:
        raise ValueError(f"most = {most!r}: degrees above ambient = {ambient} needed")
    step = hours * HOUR / steps
    kept, gained = _propagate(resistances, capacities, step)
    # Over the ambient all is linear: it drops out.
    now, parts, spent, held = [0.0] * many, [(float(ambient),) * many], [watts[0]], 0.0
    for _ in range(steps):
        now = [
            sum(map(mul, keeps, now)) + sum(map(mul, gains, watts))
            for keeps, gains in zip(kept, gained, strict=True)
        ]
        cut = 0.0 if most is None else (now[0] - (most - ambient)) / gained[0][0]
        if cut > watts[0]:
            raise Infeasible(f"most = {most:g} C: the other parts alone pass it")
        if cut > 0:
            now = [t - gains[0] * cut for t, gains in zip(now, gained, strict=True)]
            held += step
        parts.append(tuple(ambient + t for t in now))
        spent.append(watts[0] - max(cut, 0.0))
    times = tuple(i * step for i in range(steps + 1))
    return Heat(times, tuple(parts), tuple(spent), held)


def _watts(power: float | Sequence[float], many: int) -> list[float]:
    """Watts into each part."""
    if not isinstance(power, Sequence) or isinstance(power, str):
        power = [power] + [0.0] * (many - 1)
    for value in power:
        at_least(0, power=value)
    if len(power) != many:
        raise ValueError(f"power of {len(power)} parts: there are {many}")
    return [*power]


def _propagate(
    resistances: Sequence[float], capacities: Sequence[float], step: float
) -> tuple[Matrix, Matrix]:
    """What a step keeps of temperatures, and gains a watt into each part.

    Of one exponential, of the chain with its watts beside it: halved until small,
    summed as a series, squared back.
    """
    n = len(resistances)
    chain = [[0.0] * (2 * n) for _ in range(2 * n)]
    for i, across in enumerate(resistances):
        chain[i][n + i] = 1.0 / capacities[i]
        chain[i][i] -= 1.0 / (across * capacities[i])
        if i + 1 < n:
            chain[i][i + 1] = 1.0 / (across * capacities[i])
            chain[i + 1][i] = 1.0 / (across * capacities[i + 1])
            chain[i + 1][i + 1] = -chain[i + 1][i]
    widest = max(sum(map(abs, row)) for row in chain) * step
    halved = max(0, math.frexp(widest)[1] + 1)  # until a half is left, or less
    small = [[value * step / 2**halved for value in row] for row in chain]
    found = term = [[float(i == j) for j in range(2 * n)] for i in range(2 * n)]
    for k in range(1, _TERMS):
        term = [[value / k for value in row] for row in _times(term, small)]
        found = [list(map(add, *rows)) for rows in zip(found, term, strict=True)]
    for _ in range(halved):
        found = _times(found, found)
    return [row[:n] for row in found[:n]], [row[n:] for row in found[:n]]


def _times(left: Matrix, right: Matrix) -> Matrix:
    columns = list(zip(*right, strict=True))
    return [[sum(map(mul, row, column)) for column in columns] for row in left]

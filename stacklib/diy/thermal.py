"""Where heat goes: die, sink, case and room as a chain of resistances.

Each part stores heat (joules a kelvin) and hands it to the next through a resistance
(kelvins a watt), the last to what is outside. Such a chain is linear: over a time in
which watts stay the same its step is exact,

    T(t + h) = Phi T(t) + Gamma (watts, outside),

with the matrices of one exponential. A die that would pass its limit is held there: the
watts that end the step just at the limit come from one division.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from stacklib.quantity.bounds import above_zero

HOUR = 3600.0
COLDEST = -273.15  # degrees Celsius
STEPS = 480  # of a curve: a minute each over eight hours
_TERMS = 12  # of the exponential's series, after halving
Matrix = list[list[float]]


@dataclass(frozen=True, slots=True)
class Heat:
    """Temperatures over time, in degrees Celsius.

    - ``times``: seconds, from 0
    - ``parts``: for each time the temperature of each part, the first one first
    - ``watts``: into the first part, over each step that ends at that time
    - ``held``: seconds in which the first part was held at its limit
    """

    times: tuple[float, ...]
    parts: tuple[tuple[float, ...], ...]
    watts: tuple[float, ...]
    held: float

    @property
    def last(self) -> tuple[float, ...]:
        """Temperatures at the end."""
        return self.parts[-1]


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
    resistances : sequence of float
        K/W from each part to the next, from the last to what is outside.
    capacities : sequence of float
        J/K of each part.
    power : float or sequence of float
        Watts into the first part, or into each.
    hours : float
        How long.
    ambient : float
        Degrees Celsius outside, and of all parts at the start.
    most : float, optional
        Degrees at which the first part's watts are cut, as firmware does.
    steps : int
        Into how many equal times the hours are cut. Each is exact; a limit begins to
        hold at the start of one.

    Raises
    ------
    ValueError
        For lengths that differ, values that are not above zero, a limit at or below
        ``ambient``, and a limit that heat from the other parts alone passes.

    Examples
    --------
    >>> alone = heat([0.08], [1000], 500, 1, 20)
    >>> round(alone.last[0], 2)
    60.0
    """
    many = len(resistances)
    if not many or len(capacities) != many:
        raise ValueError(
            f"{many} resistances and {len(capacities)} capacities: one each a part"
        )
    for name, values in (("resistances", resistances), ("capacities", capacities)):
        for place, value in enumerate(values):
            above_zero(**{f"{name}[{place}]": value})
    watts = _watts(power, many)
    above_zero(hours=hours, steps=steps)
    if not COLDEST < ambient < 1e3:
        raise ValueError(f"ambient = {ambient!r}: degrees Celsius are needed")
    if most is not None and not ambient < most < 1e3:
        raise ValueError(f"most = {most!r}: degrees above ambient = {ambient} needed")
    step = hours * HOUR / int(steps)
    kept, gained = _propagate(resistances, capacities, step)
    # Over the ambient all is linear: it drops out.
    now, parts, spent, held = [0.0] * many, [(float(ambient),) * many], [watts[0]], 0.0
    for _ in range(int(steps)):
        rest = [
            sum(kept[i][j] * now[j] + gained[i][j] * watts[j] for j in range(many))
            for i in range(many)
        ]
        given = watts[0]
        if most is not None and rest[0] > most - ambient:
            given -= (rest[0] - (most - ambient)) / gained[0][0]
            if given < 0:
                raise ValueError(
                    f"most = {most:g} C: heat of the other parts alone passes it"
                )
            rest = [r - gained[i][0] * (watts[0] - given) for i, r in enumerate(rest)]
            held += step
        now = rest
        parts.append(tuple(ambient + t for t in now))
        spent.append(given)
    times = tuple(i * step for i in range(int(steps) + 1))
    return Heat(times, tuple(parts), tuple(spent), held)


def settled(
    resistances: Sequence[float], power: float | Sequence[float], ambient: float
) -> tuple[float, ...]:
    """Degrees of each part after any time: what passes each resistance times it.

    >>> settled([0.1, 0.05], [300, 200], 20)
    (75.0, 45.0)
    """
    watts = _watts(power, len(resistances))
    found, at, passing = [], float(ambient), sum(watts)
    for place in reversed(range(len(resistances))):
        at += passing * resistances[place]
        found.append(at)
        passing -= watts[place]
    return tuple(reversed(found))


def _watts(power: float | Sequence[float], many: int) -> list[float]:
    """Watts into each part."""
    if isinstance(power, (int, float)) and not isinstance(power, bool):
        given = [float(power)] + [0.0] * (many - 1)
    elif isinstance(power, Sequence) and not isinstance(power, str):
        given = [float(value) for value in power]
    else:
        raise ValueError(f"power = {power!r}: watts, or watts of each part")
    if len(given) != many:
        raise ValueError(f"power of {len(given)} parts: there are {many}")
    for value in given:
        if not 0 <= value < float("inf"):
            raise ValueError(f"power = {value!r}: watts from 0 up are needed")
    return given


def _propagate(
    resistances: Sequence[float], capacities: Sequence[float], step: float
) -> tuple[Matrix, Matrix]:
    """What a step keeps of temperatures, and gains a watt into each part.

    Of one exponential, of the chain with its watts beside it: halved until small,
    summed as a series, squared back.
    """
    n = len(resistances)
    whole = [[0.0] * (2 * n) for _ in range(2 * n)]
    for i in range(n):
        flow = 1.0 / (resistances[i] * capacities[i])
        whole[i][i] -= flow
        if i + 1 < n:
            whole[i][i + 1] += flow
            back = 1.0 / (resistances[i] * capacities[i + 1])
            whole[i + 1][i] += back
            whole[i + 1][i + 1] -= back
        whole[i][n + i] = 1.0 / capacities[i]
    widest = max(sum(map(abs, row)) for row in whole) * step
    halved = 0
    while widest > 0.5:
        widest, halved = widest / 2, halved + 1
    scale = step / 2**halved
    small = [[value * scale for value in row] for row in whole]
    found = [[float(i == j) for j in range(2 * n)] for i in range(2 * n)]
    term = found
    for k in range(1, _TERMS):
        term = [[value / k for value in row] for row in _times(term, small)]
        found = [
            [a + b for a, b in zip(x, y, strict=True)]
            for x, y in zip(found, term, strict=True)
        ]
    for _ in range(halved):
        found = _times(found, found)
    return [row[:n] for row in found[:n]], [row[n:] for row in found[:n]]


def _times(left: Matrix, right: Matrix) -> Matrix:
    columns = list(zip(*right, strict=True))
    return [
        [sum(a * b for a, b in zip(row, column, strict=True)) for column in columns]
        for row in left
    ]

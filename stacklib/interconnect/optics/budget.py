"""A link's budget: light that is sent, what each part of the way takes, what is left.

Power is in dBm, decibels over a milliwatt; losses in dB add up, because each part
passes a share on. *OMA*, the optical modulation amplitude, is the power of the highest
level less that of the lowest: what a receiver sees of a signal, unlike the mean, is
differences. A modulator whose highest level is r times its lowest (the *extinction
ratio*) makes OMA = 2 P (r - 1) / (r + 1) of a mean power P.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from stacklib.quantity.bounds import above_zero, at_least

MILLIWATT = 1e-3


@dataclass(frozen=True, slots=True)
class Budget:
    """Power along a way, and how much is left over at its end."""

    rows: tuple[tuple[str, float, float], ...]  # part, dB it takes, dBm behind it
    received: float  # dBm
    margin: float  # dB over what the receiver needs; below zero the link fails


def watts(dbm: float) -> float:
    """Power of a level in dBm."""
    return float(MILLIWATT * 10 ** (dbm / 10))


def dbm(power: float) -> float:
    """Level of a power in watts."""
    above_zero(power=power)
    return 10 * math.log10(power / MILLIWATT)


def db(ratio: float) -> float:
    """Decibels of a ratio of powers."""
    above_zero(ratio=ratio)
    return 10 * math.log10(ratio)


def budget(sent: float, losses: Mapping[str, float], needed: float) -> Budget:
    """Follow a signal along its way.

    - ``sent``, ``needed``: dBm at the start, and the least at the end; both mean power
      or both OMA.
    - ``losses``: dB that each part takes, in order.
    """
    _level(sent=sent, needed=needed)
    rows, level = [], sent
    for part, loss in losses.items():
        at_least(0, **{f"loss of {part}": loss})
        level -= loss
        rows.append((part, loss, level))
    return Budget(tuple(rows), level, level - needed)


def modulated(mean: float, extinction: float) -> float:
    """OMA, in dBm, of a modulator's mean power.

    - ``mean``: dBm behind the modulator; ``extinction``: dB from the lowest level to
      the highest.
    """
    _level(mean=mean)
    above_zero(extinction=extinction)
    ratio = 10 ** (extinction / 10)
    return mean + db(2 * (ratio - 1) / (ratio + 1))


def fibre(
    metres: float, per_km: float, connectors: int = 0, each: float = 0.0
) -> float:
    """Decibels that a fibre and its connectors take.

    - ``per_km``: dB of a kilometre; ``each``: dB of a connector.
    """
    at_least(0, metres=metres, per_km=per_km, connectors=connectors, each=each)
    return metres / 1000 * per_km + connectors * each


def farthest(spare: float, per_km: float) -> float:
    """Metres of fibre that take a spare number of dB."""
    at_least(0, spare=spare)
    above_zero(per_km=per_km)
    return 1000 * spare / per_km


def _level(**given: float) -> None:
    for name, value in given.items():
        if not math.isfinite(value):
            raise ValueError(f"{name} = {value!r}: a level in dBm is a finite number")

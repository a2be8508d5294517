"""How fast a chip may be clocked, if a compiler knows what a program will draw."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from stacklib import hardware
from stacklib.quantity import minimum
from stacklib.quantity.bounds import above_zero, share


@dataclass(frozen=True)
class Throttled:
    """A chip under its limit."""

    clock: Any  # over the one at which full activity draws ``full``
    kept: Any  # share of its cycles in which it works; the rest are bubbles
    power: Any  # what it draws, bubbles included
    most: Any  # the clock at which this activity would draw just the limit

    @property
    def rate(self) -> Any:
        """Work a second, over the same program's at the clock of 1."""
        return self.clock * self.kept


def throttle(
    activity: Any,
    tdp: Any,
    *,
    full: Any = None,
    clock: Any = 1.0,
    exponent: float | None = None,
) -> Throttled:
    """Clock and bubbles of a program with ``activity`` under a limit of power.

    Dynamic power goes with activity, clock, and voltage squared. Rate follows power to
    the ``exponent``: 1 where the voltage stays, a third where it follows the clock.

    Parameters
    ----------
    activity : number
        Share of the chip's circuits that switch in a cycle, above 0 to 1.
    tdp : number or Quantity
        Power that may be drawn over longer than the heat needs to spread.
    full : number or Quantity
        Power at activity 1 and clock 1; ``tdp`` if none.
    clock : number
        What the chip is clocked at, over the clock of 1.
    exponent : float
        Of rate in power; the fitted factor ``power_exponent`` if none.

    Examples
    --------
    >>> throttle(1, 100, clock=1.25, exponent=1).kept
    0.8
    >>> throttle(0.5, 100, clock=1.25, exponent=1).rate
    1.25
    """
    share(activity=activity)
    full = tdp if full is None else full
    exponent = hardware.efficiency("power_exponent") if exponent is None else exponent
    above_zero(activity=activity, tdp=tdp, full=full, clock=clock, exponent=exponent)
    wanted = full * activity * clock ** (1 / exponent)
    most = (tdp / (full * activity)) ** exponent
    kept = minimum(1.0, tdp / wanted)
    return Throttled(clock, kept, wanted * kept, most)


def busiest(clock: Any, exponent: float | None = None) -> Any:
    """The most activity at which a clock needs no bubble; all of it up to a clock of 1.

    - ``clock``: over the one that full activity may have; ``exponent`` as above.
    """
    exponent = hardware.efficiency("power_exponent") if exponent is None else exponent
    above_zero(clock=clock, exponent=exponent)
    return minimum(1.0, clock ** (-1 / exponent))

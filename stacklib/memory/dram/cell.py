"""One DRAM cell: a charge that leaks, and the time until it can no longer be told.

A cell is a capacitor behind a transistor. To read it, its charge is shared with a
wire, the bitline, that is held at half the supply and has several times the cell's
capacitance. What the sense amplifier sees is small, and shrinks while the cell waits.
Everything is in SI units; formulas take floats, quantities or arrays.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from stacklib.quantity.bounds import above_zero

__all__ = ["ELECTRON", "Cell"]

ELECTRON = 1.602176634e-19  # C, exact since 2019
DOUBLES = 10.0  # kelvin for which leakage doubles, the usual rule


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell and the wire it is read through."""

    capacitance: float = 10e-15  # Farads of the cell
    bitline: float = 40e-15
    supply: float = 1.1  # volts of a stored one; a bitline rests at half of it
    leakage: float = 30e-15  # Amperes that leave the cell, at ``hot``
    margin: float = 0.07  # volts on the bitline that the sense amplifier needs
    hot: float = 85.0  # degrees Celsius at which the leakage is given

    def __post_init__(self) -> None:
        above_zero(
            capacitance=self.capacitance,
            bitline=self.bitline,
            supply=self.supply,
            leakage=self.leakage,
            margin=self.margin,
        )
        if self.signal(0.0) <= self.margin:
            raise ValueError(
                f"margin = {self.margin}: a full cell moves its bitline by "
                f"{self.signal(0.0):.3g} V only"
            )

    @property
    def ratio(self) -> float:
        """How the charge is shared: cell over cell and bitline."""
        return self.capacitance / (self.capacitance + self.bitline)

    @property
    def electrons(self) -> float:
        """Electrons between a one and a bitline at rest."""
        return self.capacitance * self.supply / 2 / ELECTRON

    def leaks(self, celsius: float) -> float:
        """Amperes at so many degrees ``celsius``: twice as much every ten."""
        return self.leakage * 2 ** ((celsius - self.hot) / DOUBLES)

    def signal(self, seconds: Any, celsius: float | None = None) -> Any:
        """Volts by which a one moves its bitline after ``seconds`` at ``celsius``."""
        current = self.leaks(self.hot if celsius is None else celsius)
        lost = current * seconds / self.capacitance
        return (self.supply / 2 - lost) * self.ratio

    def retention(self, celsius: float | None = None) -> float:
        """Seconds at ``celsius`` until the signal is the margin: charge by current."""
        current = self.leaks(self.hot if celsius is None else celsius)
        spare = self.capacitance * (self.supply / 2 - self.margin / self.ratio)
        return spare / current

    def drained(self, step: float, celsius: float | None = None) -> float:
        """The same by counting: electrons leave, step by step, until it fails.

        ``step``: seconds of a step.
        """
        above_zero(step=step)
        current = self.leaks(self.hot if celsius is None else celsius)
        charge, waited = self.capacitance * self.supply, 0.0
        while True:
            volts = charge / self.capacitance - self.supply / 2
            if volts * self.ratio < self.margin:
                return waited
            charge -= current * step
            waited += step

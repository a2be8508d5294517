"""One DRAM cell: a charge that leaks, and the time until it can no longer be told.

A cell is a capacitor behind a transistor. To read it, its charge is shared with a
wire, the bitline, that is held at half the supply and has several times the cell's
capacitance. What the sense amplifier sees is small, and shrinks while the cell waits.
Cells differ: their leakages spread like a bell curve on a logarithmic axis, and the
leakiest of very many sets the interval for all.

Everything is in SI units; formulas take floats, quantities or arrays.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import NormalDist
from typing import Any

from stacklib.hardware.sourced import read_fields, read_toml
from stacklib.quantity import Quantity
from stacklib.quantity.bounds import above_zero, whole

_DATA = Path(__file__).parent / "data" / "cell.toml"
ELECTRON = 1.602176634e-19  # C, exact since 2019
BITLINE = 3  # times the cell, as we take it; CACTI counts rows, and allows 4.6 at most
DOUBLES = 10.0  # kelvin for which leakage doubles, the usual rule
FIELDS = {
    "capacitance_ff": ("", "capacitance (fF)"),
    "supply_v": ("", "supply (V)"),
    "leakage_fa": ("", "leakage when hot (fA)"),
    "margin_v": ("", "least signal on the bitline (V)"),
    "weak": ("", "cells that are weak"),
    "weak_of": ("", "cells among which they were counted"),
    "weak_ms": ("ms", "time that a weak cell does not last"),
}


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell and the wire it is read through."""

    capacitance: float  # Farads of the cell
    bitline: float
    supply: float  # volts of a stored one; a bitline rests at half of it
    leakage: float  # Amperes that leave the cell, at ``hot``
    margin: float  # volts on the bitline that the sense amplifier needs
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

    def drained(self, seed: int, celsius: float | None = None) -> float:
        """The same for one charge whose electrons leave one by one, at random times.

        A current of so many electrons a second is a Poisson process: the gaps between
        two that leave are exponential. After each, the bitline is asked again.
        """
        whole(0, seed=seed)
        draw = random.Random(seed)
        rate = self.leaks(self.hot if celsius is None else celsius) / ELECTRON
        held, waited = int(self.capacitance * self.supply / ELECTRON), 0.0
        reads = self.supply / 2 + self.margin / self.ratio  # volts still told apart
        while held * ELECTRON / self.capacitance >= reads:
            waited += draw.expovariate(rate)
            held -= 1
        return waited


# -- many cells ------------------------------------------------------------------


def spread(typical: float, weak: float, of: float, within: float) -> float:
    """Width of the bell curve of log retention, from a count of weak cells.

    ``weak`` cells in so many (``of``) last less than ``within`` seconds where the
    ``typical`` one lasts that many.
    """
    above_zero(typical=typical, weak=weak, of=of, within=within)
    if not (weak < of / 2 and within < typical):
        raise ValueError(f"{weak:g} of {of:g} within {within:g} s: no lower tail")
    return math.log(typical / within) / -NormalDist().inv_cdf(weak / of)


def weakest(typical: float, width: float, cells: float) -> float:
    """Seconds that all but one of so many ``cells`` last: a quantile of the curve."""
    above_zero(typical=typical, width=width, cells=cells)
    return typical * math.exp(width * NormalDist().inv_cdf(1 / cells))


# -- what is published -----------------------------------------------------------


@cache
def cell_facts() -> Mapping[str, Quantity]:
    """The cell as a circuit model has it, and a count of weak ones, with sources."""
    raw = read_toml(_DATA)
    read = read_fields(
        raw["cell"], raw["sources"], "cacti", "cell.toml: cell", "DRAM cell,", FIELDS
    )
    return {name: q for name, q in read.values.items() if q is not None}


def typical_cell() -> Cell:
    """The cell of the circuit model."""
    fact = {name: q.si for name, q in cell_facts().items()}
    return Cell(
        fact["capacitance_ff"] * 1e-15,
        fact["capacitance_ff"] * 1e-15 * BITLINE,
        fact["supply_v"],
        fact["leakage_fa"] * 1e-15,
        fact["margin_v"],
    )

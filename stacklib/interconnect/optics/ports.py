"""Ports that turn bits into light: their watts, their products, one direction each.

Figures are those that makers and the press published; each names its source. A rate is
that of one direction, and a port has as much in the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from stacklib.quantity import quoted
from stacklib.quantity.bounds import above_zero, at_least

PRESS = "TechPowerUp, NVIDIA commercializes silicon photonics, 2025"
CPO = "On CPO, part 4: today's major CPO products, 2026"
WEDOANY = "wedoany, Lambda and NVIDIA on the Quantum-X Q3450-LD, 2026"


@dataclass(frozen=True, slots=True)
class Port:
    """What the two ends of a port's bits take: its engine and its laser."""

    rate: float  # bit/s, one direction
    engine: float  # W: modulators, drivers, amplifiers, and a DSP where it has one
    laser: float  # W
    source: str

    @property
    def power(self) -> float:
        """Watts of the port, laser counted."""
        return self.engine + self.laser


@dataclass(frozen=True, slots=True)
class Switch:
    """A switch as sold."""

    name: str
    ports: int
    rate: float  # bit/s of a port, one direction
    source: str


PORTS = {
    way: Port(
        quoted("optics.rate").si,
        quoted(f"optics.{way}_engine").si,
        quoted(f"optics.{way}_laser").si,
        PRESS,
    )
    for way in ("pluggable", "package")
}
SWITCHES = {
    "quantum_x": Switch("Quantum-X Q3450-LD", 144, 800e9, CPO),
    "sn6810": Switch("Spectrum-X SN6810", 128, 800e9, CPO),
    "sn6800": Switch("Spectrum-X SN6800", 512, 800e9, CPO),
}


def energy_per_bit(power: Any, rate: Any) -> Any:
    """Joules of a bit on a port that is always full."""
    at_least(0, power=power)
    above_zero(rate=rate)
    return power / rate


def energy_per_sent(power: Any, time: Any, bits: Any) -> Any:
    """Joules of each bit that is sent, when the port is on all the time."""
    at_least(0, power=power, time=time)
    above_zero(bits=bits)
    return power * time / bits


def ends(hosts: Any, levels: Any) -> Any:
    """Optical ends of a fat tree: a cable a level for each host, two ends each."""
    above_zero(hosts=hosts, levels=levels)
    return 2 * levels * hosts

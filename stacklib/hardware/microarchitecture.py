"""What microbenchmarks found of an architecture: latencies and cache rates.

Vendors do not print how many cycles a load takes. Others have measured it, once an
architecture rather than once a card, and a card that nobody has measured inherits
the constants of its architecture.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from stacklib.quantity import Quantity, Source

from .accelerator import Accelerator, UnknownSpec

PATH = Path(__file__).parent / "data" / "microarchitectures.toml"
LEVELS = ("shared", "l1", "l2", "l2_far", "dram")
_RATES = {
    "l1_bytes_per_cycle": "L1 bytes a unit reads in a cycle",
    "l2_bytes_per_cycle": "L2 bytes a unit reads in a cycle",
}
_LATENCIES = {f"{level}_latency": f"{level} load latency" for level in LEVELS}
_WORDS = {**_RATES, **_LATENCIES}


@dataclass(frozen=True, slots=True)
class Microarchitecture:
    """Constants of one architecture, as measured.

    Parameters
    ----------
    key : str
        Architecture, with the compute capability where it matters.
    tensor_energy : str
        Efficiency factor that holds the energy of its tensor operations; empty
        where none is known.
    constants : dict
        Name to Quantity: ``l1_bytes_per_cycle``, ``dram_latency`` (cycles), ...
    """

    key: str
    tensor_energy: str
    constants: dict[str, Quantity]

    def latency(self, level: str) -> Quantity:
        """Cycles of a dependent load that is served from a level.

        Parameters
        ----------
        level : str
            One of ``LEVELS``.

        Raises
        ------
        UnknownSpec
            When nobody has measured it for this architecture.
        """
        return self._constant(f"{level}_latency")

    def rate(self, level: str) -> Quantity:
        """Bytes one unit reads from a level in a cycle.

        Parameters
        ----------
        level : str
            ``l1`` or ``l2``.

        Raises
        ------
        UnknownSpec
            When nobody has measured it for this architecture.
        """
        return self._constant(f"{level}_bytes_per_cycle")

    def _constant(self, name: str) -> Quantity:
        if name not in _WORDS:
            raise UnknownSpec(f"no such constant {name!r}; known: {', '.join(_WORDS)}")
        if name not in self.constants:
            raise UnknownSpec(f"{self.key}: {_WORDS[name]} is unknown")
        return self.constants[name]


def _quantity(key: str, name: str, entry: Any, sources: dict[str, Any]) -> Quantity:
    raw = sources[entry["source"]]
    source = Source(raw["title"], raw["where"], raw["seen"].isoformat(),
                    raw["confidence"])  # fmt: skip
    unit = "B/cycle" if name in _RATES else "cycle"
    label = f"{key} {_WORDS[name]}"
    return Quantity(entry["value"], unit, label=label, source=source, kind="measured")


@cache
def _table() -> dict[str, Microarchitecture]:
    raw = tomllib.loads(PATH.read_text(encoding="utf-8"))
    sources = raw.pop("sources")
    found = {}
    for key, row in raw.items():
        constants = {
            name: _quantity(key, name, row[name], sources)
            for name in _WORDS
            if name in row
        }
        unknown = set(row) - set(_WORDS) - {"tensor_energy"}
        if unknown:
            raise UnknownSpec(f"{PATH.name}: {key}: unknown {sorted(unknown)[0]!r}")
        found[key] = Microarchitecture(key, row.get("tensor_energy", ""), constants)
    return found


def microarchitecture(device: Accelerator) -> Microarchitecture:
    """The constants of a device's architecture.

    Parameters
    ----------
    device : Accelerator
        Its ``architecture`` and ``compute_capability`` are looked up.

    Returns
    -------
    Microarchitecture
        Without constants where nothing is known of the architecture.
    """
    table = _table()
    exact = f"{device.architecture} {device.compute_capability}"
    for key in (exact, device.architecture):
        if key in table:
            return table[key]
    return Microarchitecture(device.architecture, "", {})

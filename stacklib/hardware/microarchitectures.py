"""Constants of an architecture: latencies and cache rates, and sizes of its parts.

Vendors do not print how many cycles a load takes. Others have measured it, once an
architecture rather than once a card, and a card that nobody has measured inherits
the constants of its architecture. The sizes are the vendor's, and hold for every card
of the architecture.
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
LEVELS = ("register", "shared", "l1", "l2", "l2_far", "dram")
_RATES = {
    "l1_bytes_per_cycle": "L1 bytes a unit reads in a cycle",
    "l2_bytes_per_cycle": "L2 bytes a unit reads in a cycle",
}
_LATENCIES = {f"{level}_latency": f"{level} load latency" for level in LEVELS}
# A register is not loaded: what a program sees is when the next instruction can start.
_LATENCIES["register_latency"] = "latency of an FP32 operation on its own result"
_SIZES = {
    "shared_per_block": "shared memory that one block may ask for",
    "tensor_memory": "tensor memory of a unit, for sums",
    "psum_bank": "PSUM bank of one partition",
}
_COUNTS = {
    "warp_schedulers": "warp schedulers of a unit",
    "partitions": "partitions of the scratchpad",
    "psum_banks": "PSUM banks of a partition",
}
_WORDS = {**_RATES, **_LATENCIES, **_SIZES, **_COUNTS}
_UNITS = {
    **dict.fromkeys(_RATES, "B/cycle"),
    **dict.fromkeys(_LATENCIES, "cycle"),
    **dict.fromkeys(_SIZES, "KiB"),
    **dict.fromkeys(_COUNTS, "1"),
}


@dataclass(frozen=True, slots=True)
class Microarchitecture:
    """Constants of one architecture, as measured."""

    key: str  # architecture, with the compute capability where it matters
    tensor_energy: str
    constants: dict[str, Quantity]

    def latency(self, level: str) -> Quantity:
        """Cycles of a dependent load that a level serves, whatever the clock."""
        return self._constant(f"{level}_latency")

    def size(self, name: str) -> Quantity:
        """Bytes of a part of one unit."""
        return self._constant(name)

    def count(self, name: str) -> Quantity:
        """How many of a part one unit has."""
        return self._constant(name)

    def _constant(self, name: str) -> Quantity:
        if name not in _WORDS:
            raise UnknownSpec(f"no such constant {name!r}; known: {', '.join(_WORDS)}")
        if name not in self.constants:
            raise UnknownSpec(f"{self.key}: {_WORDS[name]} is unknown")
        return self.constants[name]


def _quantity(key: str, name: str, entry: Any, sources: dict[str, Any]) -> Quantity:
    raw = sources[entry["source"]]
    source = Source(
        raw["title"], raw["where"], raw["seen"].isoformat(), raw["confidence"]
    )
    label = f"{key} {_WORDS[name]}"
    kind = "spec" if name in (*_SIZES, *_COUNTS) else "measured"
    return Quantity(
        entry["value"],
        _UNITS[name],
        label=label,
        source=source,
        kind=kind,
        key=f"{PATH.stem}/{key}.{name}",
    )


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

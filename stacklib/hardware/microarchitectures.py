"""Constants of an architecture: latencies and cache rates, and sizes of its parts.

Vendors do not print how long a load takes. Others have measured it, on a card at a
clock, and a card that nobody has measured takes what was measured nearest to it. Up to
the L1 everything runs at the unit's clock, so a latency in cycles holds for every card
of the architecture. Beyond, other clocks take part: such a latency is kept in ns, and a
device at another clock waits as long and counts other cycles. Sizes are the vendor's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from stacklib.quantity import Quantity, Source

from .accelerator import Accelerator, UnknownSpec
from .devices import get
from .sourced import read_source, read_toml

PATH = Path(__file__).parent / "data" / "microarchitectures.toml"
LEVELS = ("register", "shared", "l1", "l2", "l2_far", "dram")
BEYOND = ("l2", "l2_far", "dram")  # levels that do not run at the unit's clock alone
_RATES = {
    "shared_bytes_per_cycle": "bytes of shared memory a unit reads in a cycle",
    "l1_bytes_per_cycle": "L1 bytes a unit reads in a cycle",
    "l2_bytes_per_cycle": "L2 bytes a unit reads in a cycle",
}
_LATENCIES = {f"{level}_latency": f"{level} load latency" for level in LEVELS}
# A register is not loaded: what a program sees is when the next instruction can start.
_LATENCIES["register_latency"] = "latency of an FP32 operation on its own result"
_SIZES = {
    "l1_capacity": "L1 of a unit, with its shared memory where they are one array",
    "shared_per_block": "shared memory that one block may ask for",
    "tensor_memory": "tensor memory of a unit, for sums",
    "psum_bank": "PSUM bank of one partition",
}
_COUNTS = {
    "warp_schedulers": "warp schedulers of a unit",
    "l2_parts": "parts of the L2, each for the units beside it",
    "partitions": "partitions of the scratchpad",
    "psum_banks": "PSUM banks of a partition",
}
_WORDS = {**_RATES, **_LATENCIES, **_SIZES, **_COUNTS}
_UNITS = {
    **dict.fromkeys(_RATES, "B/cycle"),
    **dict.fromkeys(_LATENCIES, "cycle"),
    **{f"{level}_latency": "ns" for level in BEYOND},
    **dict.fromkeys(_SIZES, "KiB"),
    **dict.fromkeys(_COUNTS, "1"),
}
_ENERGY = {"tensor_energy", "tensor_energy_of"}
_KEYS = {
    *("value", "unit", "on", "at", "kib", "cycles", "gb_per_s", "row", "source"),
    *("note", "inherits"),
}


@dataclass(frozen=True, slots=True)
class Constant:
    """One value of the file: a size, a count, or what somebody measured on a card."""

    place: str  # ``hopper.dram_latency``
    quantity: Quantity
    on: str = ""  # the card that was measured
    at: float | None = None  # its clock in Hz; None where the source gives none
    cycles: float | None = None  # what the line of the source prints
    rate: float | None = None  # the same of a bandwidth, B/s of all units
    row: str = ""  # the line in evidence/data/measurements.csv
    inherited: bool = False  # from another architecture

    @property
    def clock(self) -> float:
        """Hz: as the source gives it, else the boost that the card is sold with."""
        return self.at or get(self.on).clock.si


@dataclass(frozen=True, slots=True)
class Microarchitecture:
    """Constants of one architecture, as they hold for one device."""

    key: str  # architecture, with the compute capability where it matters
    tensor_energy: str
    constants: Mapping[str, Quantity]
    tensor_energy_of: str = ""  # the neighbour whose energy a limit may take
    neighbour_energy: str = ""

    def latency(self, level: str) -> Quantity:
        """A dependent load that a level serves: cycles up to the L1, beyond in ns."""
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


def _source(raw: Mapping[str, Any], sources: dict[str, Any], place: str) -> Source:
    """Where a value stands; what its note says goes with it into the hover."""
    found = read_source(sources, raw["source"], place, own=True)
    where = "; ".join(filter(None, [found.where, raw.get("note", "")]))
    return Source(found.title, where, found.seen, found.confidence)


def _measured_on(raw: Mapping[str, Any], unit: str) -> str:
    """The card and its clock, as a label says them."""
    if "on" not in raw:
        return ""
    card = get(raw["on"])
    if "at" in raw:
        return f", measured on {card.name} at {raw['at'] / 1e3:g} GHz"
    if unit == "cycle":  # at any clock
        return f", measured on {card.name}"
    return f", measured on {card.name}, taken at its boost of {card.clock.text()}"


def _constant(
    key: str, name: str, raw: Mapping[str, Any], sources: dict[str, Any], suffix: str
) -> Constant:
    place = f"{key}.{name}{suffix}"
    if set(raw) - _KEYS:
        unknown = sorted(set(raw) - _KEYS)[0]
        raise UnknownSpec(f"{PATH.name}: {place}: unknown key {unknown!r}")
    unit = _UNITS[name]
    if raw.get("unit", unit) != unit or (unit == "ns") != ("unit" in raw):
        raise UnknownSpec(f"{PATH.name}: {place} is kept in {unit}")
    if unit == "ns" and "on" not in raw:
        raise UnknownSpec(f"{PATH.name}: {place} names no card")
    found = Quantity(
        raw["value"],
        unit,
        label=f"{key} {_WORDS[name]}{_measured_on(raw, unit)}",
        source=_source(raw, sources, place),
        kind="spec" if name in (*_SIZES, *_COUNTS) else "measured",
        key=f"{PATH.stem}/{place}",
    )
    at, rate = raw.get("at"), raw.get("gb_per_s")
    return Constant(
        place,
        found,
        raw.get("on", ""),
        None if at is None else at * 1e6,
        raw.get("cycles"),
        None if rate is None else rate * 1e9,
        raw.get("row", ""),
    )


def _inherited(key: str, name: str, other: Constant) -> Constant:
    """A neighbour's value: the same record, marked as nobody's measurement of this."""
    q = other.quantity
    assert q.source is not None  # every constant has one
    s = q.source
    source = Source(s.title, s.where, s.seen, s.confidence, inherited=True)
    label = f"{key} {_WORDS[name]}, taken from {q.label}"
    here = Quantity(
        q.si / q.shown.factor,
        _UNITS[name],
        label=label,
        source=source,
        kind=q.kind,
        key=q.key,
    )
    return Constant(f"{key}.{name}", here, other.on, other.at, inherited=True)


@cache
def _raw() -> dict[str, Any]:
    return read_toml(PATH)


@cache
def _table() -> dict[str, dict[str, tuple[Constant, ...]]]:
    """Every value of the file: architecture -> constant -> one a measured card."""
    sources = _raw()["sources"]
    found: dict[str, dict[str, tuple[Constant, ...]]] = {}
    for key, row in _raw().items():
        if key == "sources":
            continue
        unknown = sorted(set(row) - set(_WORDS) - _ENERGY)
        if unknown:
            raise UnknownSpec(f"{PATH.name}: {key}: unknown {unknown[0]!r}")
        found[key] = {}
        for name in (n for n in _WORDS if n in row):
            entries = row[name] if isinstance(row[name], list) else [row[name]]
            if "inherits" in entries[0]:
                others = found[entries[0]["inherits"]][name]
                found[key][name] = tuple(_inherited(key, name, o) for o in others)
                continue
            found[key][name] = tuple(
                _constant(key, name, raw, sources, f".{raw['on']}" if i else "")
                for i, raw in enumerate(entries)
            )
    return found


def constants() -> Iterator[Constant]:
    """Every value of the file, as it stands there."""
    for row in _table().values():
        for entries in row.values():
            yield from entries


def microarchitecture(on: str | Accelerator) -> Microarchitecture:
    """The constants of a device's architecture.

    Parameters
    ----------
    on : str or Accelerator
        The device. Its ``architecture`` and ``compute_capability`` are looked up. What
        was measured on several cards is taken from the device itself, else from the
        first card with its kind of memory, else from the first.

    Returns
    -------
    Microarchitecture
        Without constants where nothing is known of the architecture.

    Raises
    ------
    UnknownName
        For a name that no device has.
    """
    device = get(on) if isinstance(on, str) else on
    exact = f"{device.architecture} {device.compute_capability}"
    for key in (exact, device.architecture):
        if key in _table():
            return _for(key, device.key, device.memory_type)
    return Microarchitecture(device.architecture, "", {})


@cache
def _for(key: str, device: str, memory: str) -> Microarchitecture:
    row, raw = _table()[key], _raw()[key]
    chosen = {name: _nearest(found, device, memory) for name, found in row.items()}
    energy, donor = raw.get("tensor_energy", ""), raw.get("tensor_energy_of", "")
    lent = _raw()[donor]["tensor_energy"] if donor else ""
    return Microarchitecture(key, energy, chosen, donor, lent)


def _nearest(found: tuple[Constant, ...], device: str, memory: str) -> Quantity:
    def distance(one: Constant) -> int:
        if one.on == device:
            return 0
        return 1 if one.on and get(one.on).memory_type == memory else 2

    return min(found, key=distance).quantity

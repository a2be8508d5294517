"""Lanes and latencies of a multiprocessor's ports, by architecture, each with a source.

What a data sheet prints of a unit stands with the tensor cores (``instructions``), what
was measured of its memories in ``hardware``. Here is the rest. A value that nobody has
published for an architecture is that of the one it names, and says so.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from stacklib import hardware
from stacklib.hardware import Accelerator, UnknownSpec
from stacklib.hardware.sourced import read_source, read_toml
from stacklib.quantity import Quantity, Source

PATH = Path(__file__).parent / "data" / "ports.toml"
# Whose lanes integers have: their own, those of the second half of FP32, all of FP32.
INTEGERS = ("own", "second", "both")
WORDS = {
    "int32_lanes": "integer lanes a unit",
    "special_lanes": "results of special functions a unit and cycle",
    "fp16_lanes": "lanes of packed FP16 a unit",
    "convert_lanes": "conversions a unit and cycle",
    "vote_lanes": "votes a unit and cycle",
    "branch_lanes": "lanes of branches a unit",
    "fp32_latency": "cycles to an operation on an FP32 result",
    "fp16_latency": "cycles to an operation on an FP16 result",
    "fp64_latency": "cycles to an operation on an FP64 result",
    "int_latency": "cycles to an operation on an integer result",
    "special_latency": "cycles to an operation on a special function's result",
    "vote_latency": "cycles to an operation on a vote",
    "branch_latency": "cycles from a branch to the next instruction",
    "shuffle_latency": "cycles to an operation on a shuffled value",
    "barrier_latency": "cycles from the last arrival to the next instruction",
    "constant_latency": "cycles to an operation on a constant that was near",
    "mma_latency": "cycles to an operation on a matrix product",
    "shared_latency": "cycles to an operation on a value of shared memory",
    "atomic_turn": "cycles that an atomic of one lane holds a shared word",
    "queue": "memory instructions that wait in a sub-core",
    "misses": "sectors on their way to one unit",
    "l2_port": "bytes a cycle from the L2 to one unit",
    "pass_bytes": "bytes of a pass that the load/store unit takes in a cycle",
    "block_start": "cycles from the end of a block to the start of the next",
    "written_wait": "cycles a load waits more where memory only takes stores",
}


@cache
def _raw() -> dict[str, Any]:
    return read_toml(PATH)


def architectures() -> tuple[str, ...]:
    """Architectures that the table knows, oldest first."""
    return tuple(key for key in _raw() if key != "sources")


def architecture_of(device: Accelerator) -> str:
    """Row of the table for a device; UnknownSpec where it has none."""
    exact = f"{device.architecture} {device.compute_capability}"
    for key in (exact, device.architecture):
        if key in architectures():
            return key
    raise UnknownSpec(
        f"{device.key}: the ports of {exact} are unknown; known: "
        f"{', '.join(architectures())}"
    )


def _entry(key: str, name: str) -> tuple[str, dict[str, Any], str]:
    """Architecture that the value is of, the value, the name of its source."""
    seen = key
    while True:
        row = _raw()[seen]
        if name not in row:
            raise UnknownSpec(f"{seen}: {name} is unknown")
        if "of" not in row[name]:
            return seen, row[name], row[name]["source"]
        seen = row[name]["of"]


@cache
def constant(key: str, name: str) -> Quantity:
    """One value of an architecture, with the architecture it is taken from."""
    if name not in WORDS:
        raise UnknownSpec(f"no such port constant {name!r}; known: {', '.join(WORDS)}")
    owner, entry, source = _entry(key, name)
    found = _source(source, f"{key}.{name}", owner != key)
    borrowed = "" if owner == key else f", taken from {owner}"
    return Quantity(
        entry["value"],
        "1",
        label=f"{key} {WORDS[name]}{borrowed}",
        source=found,
        kind="spec" if name.endswith("lanes") else "measured",
        key=f"{PATH.stem}/{owner}.{name}",
    )


def _source(name: str, place: str, inherited: bool) -> Source:
    found = read_source(_raw()["sources"], name, place, own=True)
    return Source(found.title, found.where, found.seen, found.confidence, inherited)


def integers(key: str) -> str:
    """Whose lanes integers have, one of ``INTEGERS``."""
    value = str(_entry(key, "integers")[1]["value"])
    if value not in INTEGERS:
        raise UnknownSpec(f"{PATH.name}: {key}.integers = {value!r}")
    return value


def fp64_lanes(device: Accelerator) -> float | None:
    """FP64 lanes a unit: what its peak says, a multiply-add counted as two.

    A peak that is capped for the whole chip is shared by its units.
    """
    peak = device.peaks.get("fp64")
    if peak is None:
        return None
    if peak.per_unit_per_cycle is not None:
        return float(peak.per_unit_per_cycle.si) / 2
    return float((peak.rate / device.compute_units / device.clock).si) / 2


def fp32_lanes(device: Accelerator) -> int:
    """FP32 lanes a unit, from its peak: two operations a lane and cycle."""
    peak = device.peaks.get("fp32")
    if peak is None or peak.per_unit_per_cycle is None:
        raise UnknownSpec(f"{device.key}: the FP32 rate of a unit is unknown")
    return round(peak.per_unit_per_cycle.si / 2)


def latency_of(device: Accelerator, key: str, name: str) -> float:
    """Cycles: as measured in ``hardware`` where it was, else this table's."""
    level = {"fp32_latency": "register", "shared_latency": "shared"}.get(name)
    known = hardware.level(device, level).cycles if level else None
    return float((known or constant(key, name)).si)


def audit() -> dict[str, int]:
    """How many constants there are, by the confidence of their sources."""
    counts: dict[str, int] = {}
    for key in architectures():
        for name in WORDS:
            source = constant(key, name).source
            assert source is not None  # read_source gave it
            said = "inherited" if source.inherited else source.confidence
            counts[said] = counts.get(said, 0) + 1
    return counts

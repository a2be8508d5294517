"""The chip as a tree: GPU, GPC, TPC, unit, partition, lane.

A die is designed with more units than any product of it uses. The designed tree is a
fact of the die; how many units are on is a fact of the product. Which ones are off
differs from chip to chip and is not published: `floor_plan` spreads them.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from stacklib import hardware
from stacklib.hardware import Accelerator, UnknownSpec
from stacklib.quantity import Quantity, Source

from ..issue.instructions import part_count
from ..issue.occupancy import partitions_of

__all__ = ["Chip", "chip", "chips_known", "count_parts", "floor_plan", "part_total"]

_PATH = Path(__file__).parent / "data" / "dies.toml"


@dataclass(frozen=True, slots=True)
class Chip:
    """A product and the die it is made of."""

    device: Accelerator
    die: str  # key of the die; for a chip of two dies, both together
    gpcs: Quantity
    tpcs: Quantity
    units_per_tpc: Quantity
    gpcs_on: Quantity | None  # GPCs with anything on, where it is printed

    @property
    def units(self) -> Quantity:
        """Compute units that are on."""
        return self.device.compute_units

    @property
    def units_designed(self) -> Quantity:
        """Compute units of the die."""
        return (self.tpcs * self.units_per_tpc).named(f"units of {self.die}")

    @property
    def harvested(self) -> Quantity:
        """Compute units that are switched off."""
        return (self.units_designed - self.units).named("units switched off")


@cache
def _raw() -> dict[str, Any]:
    return tomllib.loads(_PATH.read_text(encoding="utf-8"))


def _count(value: int, label: str, source: str, place: str) -> Quantity:
    raw = _raw()["sources"][source]
    told = Source(
        raw["title"], raw["where"], raw["seen"].isoformat(), raw["confidence"]
    )
    key = f"rows/gpu/chip/data/dies.toml/{place}"
    return Quantity(value, label=label, source=told, kind="spec", key=key)


def chips_known() -> tuple[str, ...]:
    """Keys of the devices whose die is known."""
    return tuple(_raw()["devices"])


def chip(on: str | Accelerator) -> Chip:
    """The tree of a device."""
    device = hardware.get(on) if isinstance(on, str) else on
    row = _raw()["devices"].get(device.key)
    if row is None:
        known = ", ".join(chips_known())
        raise UnknownSpec(f"{device.key}: its die is unknown; known: {known}")
    key = row["die"]
    die = _raw()["dies"][key]
    named = {"gpcs": "GPCs", "tpcs": "TPCs", "units_per_tpc": "units a TPC"}
    made = [
        _count(
            die[field], f"{key.upper()} {word}", die["source"], f"dies/{key}/{field}"
        )
        for field, word in named.items()
    ]
    on_ = None
    if "gpcs" in row:
        place = f"devices/{device.key}/gpcs"
        on_ = _count(row["gpcs"], f"{device.short} GPCs", row["source"], place)
    return Chip(device, key.upper(), made[0], made[1], made[2], on_)


def part_total(on: str | Accelerator, part: str) -> Quantity:
    """How many of a part the whole chip has: units times those of a unit.

    Parameters
    ----------
    part : str
        As in `part_count`; or ``partitions``.

    Raises
    ------
    UnknownSpec
        When the table does not know that of the device's architecture.
    UnknownName
        For an unknown device or part.

    Examples
    --------
    >>> part_total("h100-sxm", "fp32_lanes").si
    16896.0
    """
    device = hardware.get(on) if isinstance(on, str) else on
    if part == "partitions":
        each = hardware.microarchitecture(device).count("warp_schedulers")
    else:
        each = part_count(device, part)
    words = part.replace("_", " ")
    return (device.compute_units * each).named(f"{device.short} {words}")


def floor_plan(on: str | Accelerator) -> list[list[list[bool]]]:
    """Which units are on: GPCs, in each its TPCs, in each its units.

    Whole GPCs are off where fewer are printed than designed; the other units that are
    off are spread over dies and remaining GPCs, a TPC at a time. That spread is ours.
    """
    found = chip(on)
    gpcs, tpcs = int(found.gpcs.si), int(found.tpcs.si)
    each = int(found.units_per_tpc.si)
    device = found.device
    alive = int(found.gpcs_on.si) if found.gpcs_on is not None else gpcs
    plan = [[[g < alive] * each for _ in range(tpcs // gpcs)] for g in range(gpcs)]
    dies = int(device.dies.si) if device.fields.get("dies") is not None else 1
    order = sorted(range(alive), key=lambda g: (g % (gpcs // dies), g))
    off = sum(map(sum, (t for g in plan for t in g))) - int(found.units.si)
    at = 0
    while off > 0:
        gpc, back = plan[order[at % alive]], at // alive
        cut = min(off, each)
        gpc[-1 - back] = [False] * cut + [True] * (each - cut)
        off, at = off - cut, at + 1
    return plan


def count_parts(on: str | Accelerator, part: str) -> int:
    """The same as `part_total`, counted: the tree is walked unit by unit."""
    each, found = int(part_count(on, part).si), 0
    parts = partitions_of(on)
    for gpc in floor_plan(on):
        for tpc in gpc:
            for unit in tpc:
                if unit:
                    for partition in range(parts):
                        found += len(range(partition, each, parts))
    return found

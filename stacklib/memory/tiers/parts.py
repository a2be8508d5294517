"""Drives, modules and energies as others published them, each with its source.

``drive("micron-9550")`` finds a drive, ``constant("sram_8kb")`` a number that several
models here share: what a bit costs, how large a module is.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

from stacklib.hardware import SpecError
from stacklib.hardware.accelerator import Known
from stacklib.hardware.sourced import read_fields, read_toml, read_value
from stacklib.quantity import Quantity, assumed, resolve

DATA = Path(__file__).parent / "data"
DRIVE_FIELDS: dict[str, tuple[str, str]] = {
    "capacity": ("B", "capacity"),
    "read": ("B/s", "sequential read"),
    "write": ("B/s", "sequential write"),
    "reads": ("1/s", "random reads of 4 KiB"),
    "writes": ("1/s", "random writes of 4 KiB"),
    "latency": ("s", "read latency"),
    "power": ("W", "power"),
    "writes_per_day": ("1/s", "full writes that the warranty allows"),
}


@dataclass(frozen=True, slots=True, repr=False)
class Drive(Known):
    """A flash drive; fields are attributes and raise where the value is unknown."""

    _known: ClassVar = DRIVE_FIELDS
    key: str
    name: str
    fields: dict[str, Quantity | None]  # field of ``DRIVE_FIELDS`` to quantity or None

    @property
    def page(self) -> Quantity:
        """Bytes that one of the random reads brings."""
        return assumed(
            4,
            "KiB",
            "flash page read",
            why="Data sheets state random reads of that size.",
        )

    @property
    def energy(self) -> Quantity:
        """Joules a bit at full read speed: all of the drive's power over its rate."""
        return (self.power / self.read.to("bit/s")).named(f"{self.name}, energy a bit")


def read_drives(raw: dict[str, Any], where: str) -> dict[str, Drive]:
    """The drives of a parsed file."""
    found = {}
    for key, entry in raw["drives"].items():
        entry = dict(entry)
        try:
            name, source = entry.pop("name"), entry.pop("source")
        except KeyError as missing:
            raise SpecError(f"{where}: {key}: {missing} is missing") from None
        values = read_fields(
            entry, raw["sources"], source, f"{where}: {key}", name, DRIVE_FIELDS
        )
        found[key] = Drive(key, name, dict(values.values))
    return found


def read_constants(
    raw: dict[str, Any], sources: dict[str, Any], where: str
) -> dict[str, Quantity]:
    """Labelled numbers of a parsed file, by name."""
    found = {}
    for name, entry in raw.items():
        place = f"{where}: {name}"
        entry = dict(entry)
        if "label" not in entry or "source" not in entry:
            raise SpecError(f"{place}: a label and a source are needed")
        label = entry.pop("label")
        unit = entry.get("unit", "1")
        found[name] = read_value(entry, sources, "", place, label, unit)
    return found


@cache
def _drives() -> dict[str, Drive]:
    return read_drives(read_toml(DATA / "parts.toml"), "parts.toml")


@cache
def _constants() -> dict[str, Quantity]:
    parts, energy = read_toml(DATA / "parts.toml"), read_toml(DATA / "energy.toml")
    sources = energy.pop("sources")
    return {
        **read_constants(energy, sources, "energy.toml"),
        **read_constants(parts["constants"], parts["sources"], "parts.toml"),
    }


def drive_names() -> tuple[str, ...]:
    """Keys of all drives."""
    return tuple(_drives())


def drive(name: str) -> Drive:
    """The drive of this name; case, hyphens and underscores do not matter.

    Raises
    ------
    UnknownName
        When none or several answer to it; the last line lists the candidates.

    Examples
    --------
    >>> drive("micron-9550").read.text()
    '14 GB/s'
    """
    return _drives()[resolve(name, _drives(), "drive")]


def constant_names() -> tuple[str, ...]:
    """Names of all constants."""
    return tuple(_constants())


def constant(name: str) -> Quantity:
    """The published number of this name."""
    return _constants()[resolve(name, _constants(), "constant")]

"""Moore's clock: transistors an area of every chip in the database, and the years.

A chip counts once, in the year it was first sold, under whatever names it is sold.
Chips whose stated transistors cover dies that the stated area leaves out are left out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from stacklib import hardware
from stacklib.hardware import Accelerator
from stacklib.quantity import Quantity, assumed, log2
from stacklib.roofline.bound.trend import Trend, fit_trend

from .making import fact

PERIOD = 1.0  # years over which the fit states growth


@dataclass(frozen=True, slots=True)
class Chip:
    """One piece of silicon, or one package of equal pieces."""

    keys: tuple[str, ...]  # devices it is sold as
    name: str  # of the first of them
    year: int  # first sold
    transistors: Quantity
    area: Quantity  # the silicon they lie on

    @property
    def density(self) -> Quantity:
        """Transistors an area."""
        return self.transistors / self.area


def _area(device: Accelerator) -> Quantity | None:
    """Of all its compute dies; a B200's from what the press says of one."""
    found = device.fields["die_area"]
    if found is None and device.key == "b200_sxm":
        count = device.fields["dies"]
        assert count is not None
        return (fact("area", "b200_die").low * count).named("both dies of a B200")
    return found


FAMILIES: dict[str, Callable[[Accelerator], bool]] = {
    "data centre": lambda device: (
        device.vendor == "NVIDIA" and device.memory_type.startswith("HBM")
    ),
    "nvidia": lambda device: device.vendor == "NVIDIA" and device.kind == "gpu",
    "all": lambda device: device.kind in ("gpu", "asic"),
}


def chips(family: str = "data centre", first: int = 0, last: int = 9999) -> list[Chip]:
    """Chips of the database with transistors and area, the oldest first."""
    if family not in FAMILIES:
        raise ValueError(f"no family {family!r}: one of {', '.join(FAMILIES)}")
    found: dict[tuple[float, float], list[Accelerator]] = {}
    for key in hardware.names():
        device = hardware.get(key)
        area, many = _area(device), device.fields["transistors"]
        if area is None or many is None or not FAMILIES[family](device):
            continue
        if "," in device.process:  # several processes: the area is of the compute dies
            continue
        found.setdefault((many.si, area.si), []).append(device)
    made = []
    for devices in found.values():
        devices.sort(key=lambda device: (device.year, device.key))
        area, many = _area(devices[0]), devices[0].transistors
        assert area is not None
        keys = tuple(device.key for device in devices)
        made.append(Chip(keys, devices[0].name, devices[0].year, many, area))
    made = [chip for chip in made if first <= chip.year <= last]
    return sorted(made, key=lambda chip: (chip.year, chip.name))


def clock(of: list[Chip] | None = None) -> Trend:
    """The line through density against year; ``doubling`` is years to twice as dense.

    Parameters
    ----------
    of : list of Chip, optional
        Default: ``chips()``.

    Raises
    ------
    ValueError
        For fewer than three chips, or all of one year.
    """
    chosen = chips() if of is None else of
    densities = [chip.density.to("1/mm2").value for chip in chosen]
    years = [float(chip.year) for chip in chosen]
    return fit_trend(years, densities, PERIOD, [chip.name for chip in chosen])


def fixed_doubling(old: Chip, new: Chip) -> Quantity:
    """Years in which density doubles when it grows evenly from one chip to another."""
    if not (new.year > old.year and new.density > old.density):
        raise ValueError(f"{new.name} is not both later and denser than {old.name}")
    first, last = (
        assumed(
            chip.year, "year", f"year of {chip.name}", why="It was first sold then."
        )
        for chip in (old, new)
    )
    return (last - first) / log2(new.density / old.density)

"""HBM from its parts: stacks, dies, pins and rates to gigabytes and bytes a second."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from stacklib.quantity import Quantity, chosen
from stacklib.quantity.bounds import above_zero, is_whole, whole

HEIGHTS = (4, 8, 12, 16)  # dies of a stack that JEDEC's HBM standards name


@dataclass(frozen=True, slots=True)
class HbmStack:
    """One stack of DRAM dies on a base die."""

    dies: Quantity  # DRAM dies on top of each other
    die: Quantity  # bits of one
    pins: Quantity  # data pins of the stack
    pin_rate: Quantity  # bits a second of one

    @property
    def capacity(self) -> Quantity:
        """Bytes of all dies."""
        return (self.dies * self.die).to("B").named("capacity of a stack")

    @property
    def bandwidth(self) -> Quantity:
        """Bytes a second through all pins, one direction at a time."""
        return (self.pins * self.pin_rate).to("B/s").named("bandwidth of a stack")


def hbm_stack(
    height: int, *, die_gbit: float, pins: int = 1024, gbit_per_pin: float
) -> HbmStack:
    """A stack of so many dies.

    Parameters
    ----------
    height : int
        DRAM dies: 4, 8, 12 or 16.
    die_gbit : float
        Gibibits of one die, as data sheets say *16 Gb* (2 GiB).
    pins : int
        Data pins: 1,024 up to HBM3E, 2,048 from HBM4 on.
    gbit_per_pin : float
        10^9 bits a second of each pin.

    Raises
    ------
    ValueError
        For a height that no standard names, or a size or rate that is not positive
        and finite.

    Examples
    --------
    >>> stack = hbm_stack(8, die_gbit=16, gbit_per_pin=5.2)
    >>> stack.capacity.text(), stack.bandwidth.text()
    ('17.2 GB', '666 GB/s')
    """
    if not is_whole(height) or height not in HEIGHTS:
        raise ValueError(f"height = {height!r}: one of {HEIGHTS} is needed")
    whole(pins=pins)
    above_zero(die_gbit=die_gbit, gbit_per_pin=gbit_per_pin)
    return HbmStack(
        chosen(height, label="dies"),
        chosen(die_gbit * 2**30, "bit", label="bits of a die"),
        chosen(pins, label="pins"),
        chosen(gbit_per_pin * 1e9, "bit/s", label="rate of a pin"),
    )


def _printed(capacity: Quantity) -> float:
    """Bytes as the trade prints them: 16 GiB of dies are 16 GB on the box."""
    size = capacity.to("B").si
    binary = capacity.unit.split()[0].endswith("iB") if capacity.unit else False
    return size / 2**30 * 1e9 if binary else size


@dataclass(frozen=True, slots=True)
class Build:
    """A way to build a capacity: stacks, dies of each, Gb of a die, and the rest."""

    stacks: int
    height: int
    die_gbit: int
    spare: float  # share of the built capacity that is not sold


def built_from(
    capacity: Quantity | float,  # published; a float in bytes with 1 GB = 10^9 B
    *,
    die_gbit: int,
    most_spare: float = 0.07,
    stacks: Any = range(1, 17),
) -> Iterator[Build]:
    """Every count of stacks and height that gives a published capacity.

    Vendors print a *16 Gb* die as 2 GB, so a capacity built here is in those GB; a part
    of it may be kept back for repair. A capacity given in GiB is taken as it stands.
    """
    # A bare number is bytes with 1 GB = 10^9 B; dies are 8 or 16 Gb (HBM2, HBM2E), 16
    # (HBM3), 24 (HBM3E).
    size = _printed(capacity) if isinstance(capacity, Quantity) else float(capacity)
    if not 0 < size < float("inf"):
        raise ValueError(f"capacity = {capacity}: it must be positive")
    for count in stacks:
        for height in HEIGHTS:
            built = count * height * die_gbit / 8 * 1e9
            spare = 1 - size / built
            if -1e-9 <= spare <= most_spare:
                yield Build(count, height, die_gbit, max(0.0, spare))

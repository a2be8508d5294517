"""From one device to a later one: by what each of its rates grew."""

from __future__ import annotations

from dataclasses import dataclass

from stacklib.hardware import Accelerator
from stacklib.quantity import Quantity

from ..work.bounds import device_of, ridge_point


@dataclass(frozen=True, slots=True)
class Growth:
    """Ratios of the later device's rates to the earlier one's."""

    old: Accelerator
    new: Accelerator
    arithmetic: Quantity  # growth of the dense peak
    bandwidth: Quantity  # of memory bandwidth
    link: Quantity  # of the link to other chips one way
    ridge: Quantity  # of peak over bandwidth


def growth(
    old: str | Accelerator,
    new: str | Accelerator,
    dtype: str = "bf16",
    bandwidth: Quantity | None = None,
) -> Growth:
    """How the rates grew from one device to another."""
    a, b = device_of(old), device_of(new)
    memory = b.memory_bandwidth if bandwidth is None else bandwidth
    words = f"from {a.short} to {b.short}"
    ridges = [
        ridge_point(device.peak(dtype), rate)
        for device, rate in ((a, a.memory_bandwidth), (b, memory))
    ]
    return Growth(
        a,
        b,
        (b.peak(dtype) / a.peak(dtype)).named(f"arithmetic {words}"),
        (memory / a.memory_bandwidth).named(f"bandwidth {words}"),
        (b.link / a.link).named(f"link {words}"),
        (ridges[1] / ridges[0]).named(f"ridge {words}"),
    )

"""The roofline: what peak and bandwidth allow.

The scalar models take floats (fast), quantities (traced) or arrays (swept).
Source: S. Williams, A. Waterman, D. Patterson, *Roofline: an insightful visual
performance model*, CACM 52(4), 2009.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from stacklib import hardware
from stacklib.hardware import Accelerator
from stacklib.quantity import Quantity, maximum, minimum

from .work import Work, sized


def ridge_point(peak: Any, bandwidth: Any) -> Any:
    """Intensity at which both limits meet, operations a byte."""
    return peak / bandwidth


def attainable(intensity: Any, peak: Any, bandwidth: Any) -> Any:
    """Operations a second allowed at an intensity: min(peak, intensity x bandwidth).

    Parameters
    ----------
    intensity, peak, bandwidth : float, Quantity or array
        Operations a byte; operations a second; bytes a second.
    """
    return minimum(peak, intensity * bandwidth)


def bound_time(operations: Any, moved: Any, peak: Any, bandwidth: Any) -> Any:
    """Least seconds for some work: the longer of computing and moving.

    Parameters
    ----------
    operations, moved : float, Quantity or array
        Work, in operations and in bytes.
    """
    return maximum(operations / peak, moved / bandwidth)


def device_of(on: str | Accelerator) -> Accelerator:
    """The device, given itself or its name."""
    return on if isinstance(on, Accelerator) else hardware.get(on)


def ridge(on: str | Accelerator, dtype: str = "bf16") -> Quantity:
    """Ridge point of a device for one format.

    Raises
    ------
    UnknownName, UnknownSpec
        For an unknown device, or one without a rate for this format.

    Examples
    --------
    >>> ridge("h100-sxm", "bf16").text()
    '295 FLOP/B'
    """
    device = device_of(on)
    point = ridge_point(device.peak(dtype), device.memory_bandwidth)
    return point.named(f"{device.short} {dtype} ridge")


@dataclass(frozen=True, slots=True)
class Bound:
    """Times and limit of some work on a device; a lower bound, not a forecast."""

    t_compute: Quantity
    t_memory: Quantity
    time: Quantity
    bound: str  # "memory" or "compute"
    rate: Quantity  # operations a second when the bound is met

    @property
    def share_of_peak(self) -> Quantity:
        """Fraction of the arithmetic peak in use when the bound is met."""
        return (self.t_compute / self.time).named("share of peak")


def bound(
    operations: Quantity, moved: Quantity, peak: Quantity, bandwidth: Quantity
) -> Bound:
    """Both times of some work, the longer of them, and which it is."""
    t_compute = (operations / peak).named("time to compute")
    t_memory = (moved / bandwidth).named("time to move bytes")
    time = maximum(t_compute, t_memory).named("time")
    limit = "memory" if t_memory > t_compute else "compute"
    return Bound(t_compute, t_memory, time, limit, operations / time)


def bound_on(work: Work, on: str | Accelerator, chips: int = 1) -> Bound:
    """The bound of some work on a device, spread evenly over several of them.

    Parameters
    ----------
    work : Work
        Operations and bytes, in all.

    Raises
    ------
    UnknownName, UnknownSpec, ValueError
        For an unknown device, no rate for the work's format, or ``chips`` below 1.
    """
    device = device_of(on)
    n = sized(chips, "chips")
    peak = device.peak(work.dtype).across(n).named("peak of all chips")
    bandwidth = device.memory_bandwidth.across(n).named("bandwidth of all chips")
    return bound(work.operations, work.bytes, peak, bandwidth)

"""Where a printed peak comes from: units, multiply-adds, two, a clock.

``peak_by_hand`` is the product, ``count_peak`` runs matrix instructions through every
core of every unit and divides. ``peaks`` builds the rate of every device that has the
fields and sets the printed one beside it; ``matching_bases`` says what a number from a
table can have meant.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from stacklib import hardware
from stacklib.hardware import Accelerator, UnknownSpec
from stacklib.quantity import DTYPES, Quantity
from stacklib.quantity import dtype as find_dtype
from stacklib.quantity.bounds import above_zero, whole
from stacklib.quantity.core import _make

from .tile_waves import run_blocks

__all__ = [
    "Basis",
    "PeakBuilt",
    "count_peak",
    "matching_bases",
    "peak_by_hand",
    "peak_of",
    "per_mac",
    "peaks",
]

WITHIN = 0.02  # between a printed peak and one computed or named


def peak_by_hand(
    units: Any, macs: Any, clock: Any, *, each: Any = 2, gain: Any = None
) -> Any:
    """Operations a second of a chip. ``clock``: cycles a second."""
    factor = 1 if gain is None else gain
    above_zero(units=units, macs=macs, clock=clock, each=each, gain=factor)
    dense = units * macs * each * clock
    return dense if gain is None else dense * gain


def per_mac(dtype: str) -> Quantity:
    """Operations of a multiply-add of a format, in its own unit."""
    unit = f"{find_dtype(dtype).operation}/MAC"
    made = Quantity(2, unit, label="operations of a multiply-add")
    return _make(made, kind="constant")


def count_peak(
    *, units: int, cores: int, macs_per_core: int, clock: float, each: int, count: int
) -> float:
    """Operations a second of ``count`` matrix instructions, run core by core.

    ``clock``: cycles a second.
    """
    whole(cores=cores, macs_per_core=macs_per_core, each=each, count=count)
    if each % macs_per_core:
        raise ValueError(
            f"{each} multiply-adds take no whole cycles at {macs_per_core}"
        )
    above_zero(clock=clock)
    # A count that does not share out evenly leaves cores idle at the end.
    done = run_blocks([each / macs_per_core] * count, units * cores)
    multiplied = sum(done.by_unit) * each
    return 2 * multiplied / (done.time / clock)


@dataclass(frozen=True, slots=True)
class PeakBuilt:
    """A device's rate for one format, computed and printed."""

    device: Accelerator
    name: str  # key of the peak, such as ``"fp16/fp16"``
    units: Quantity
    macs: Quantity
    clock: Quantity
    built: Quantity  # their product, dense
    printed: Quantity  # what the vendor prints, dense
    # Whether the clock follows from a printed peak, of BF16 where there is one: then
    # that row says nothing.
    implied: bool

    @property
    def gap(self) -> float:
        """Built over printed, less one."""
        return self.built.si / self.printed.si - 1


def _clock(device: Accelerator, field: str) -> tuple[Quantity, bool]:
    known = device.fields[field]
    if known is not None:
        return known, False
    for name in ("bf16", "fp16", "fp8"):
        peak = device.peaks.get(name)
        if peak is not None and peak.per_unit_per_cycle is not None:
            each = device.compute_units * peak.per_unit_per_cycle
            clock = peak.rate / each
            return clock.named(f"{device.short} clock implied by {name}"), True
    raise UnknownSpec(f"{device.key}: {field} is unknown, and no peak implies it")


def peak_of(
    on: str | Accelerator, dtype: str, accumulate: str | None = None
) -> PeakBuilt:
    """The dense rate of a format, built from its factors.

    Parameters
    ----------
    accumulate : str, optional
        Another accumulator, as for ``Accelerator.peak``.

    Raises
    ------
    UnknownSpec
        When a factor is not known.
    UnknownName
        For an unknown device or format.

    Examples
    --------
    >>> peak_of("h100-sxm", "bf16").built.text()
    '989 TFLOP/s'
    """
    device = hardware.get(on) if isinstance(on, str) else on
    printed = device.peak(dtype, accumulate=accumulate)
    name = next(key for key, peak in device.peaks.items() if peak.rate is printed)
    return _built(device, name)


def _built(device: Accelerator, name: str) -> PeakBuilt:
    peak = device.peaks[name]
    if peak.per_unit_per_cycle is None:
        raise UnknownSpec(
            f"{device.key}: operations a unit and cycle of {name} unknown"
        )
    clock, implied = _clock(device, peak.clock)
    each = per_mac(name.split("/")[0])
    macs = (peak.per_unit_per_cycle / each).named(f"{device.short} {name} MAC a unit")
    built = peak_by_hand(device.compute_units, macs, clock, each=each)
    return PeakBuilt(
        device,
        name,
        device.compute_units,
        macs,
        clock,
        built.named(f"{device.short} {name}, built"),
        peak.rate,
        implied,
    )


def peaks(kinds: tuple[str, ...] = ("gpu",)) -> Iterator[PeakBuilt]:
    """Every rate of the database that can be built, device by device.

    Parameters
    ----------
    kinds : tuple of str
        Kinds of device, as in ``Accelerator.kind``.
    """
    for key in hardware.names():
        device = hardware.get(key)
        if key == hardware.THIS_MACHINE or device.kind not in kinds:
            continue
        for name in device.peaks:
            try:
                yield _built(device, name)
            except UnknownSpec:
                continue


@dataclass(frozen=True, slots=True)
class Basis:
    """What a printed rate can mean: format, accumulator, dense or sparse."""

    dtype: str
    accumulate: str
    sparse: bool

    @property
    def text(self) -> str:
        """In words, such as ``fp16, fp32 sums, sparse``."""
        sums = f", {self.accumulate} sums" if self.accumulate else ""
        return f"{self.dtype}{sums}, {'sparse' if self.sparse else 'dense'}"


def matching_bases(
    on: str | Accelerator, rate: Any, dtypes: tuple[str, ...] = tuple(DTYPES)
) -> list[Basis]:
    """The bases on which a device reaches a rate, within two in a hundred.

    ``rate``: operations a second, from a table.
    """
    above_zero(rate=rate)
    wanted = getattr(rate, "si", rate)
    device = hardware.get(on) if isinstance(on, str) else on
    found = []
    for name, peak in device.peaks.items():
        dtype = name.split("/")[0]
        if dtype not in dtypes:
            continue
        for sparse in (False, True):
            if sparse and peak.sparse_factor == 1:
                continue
            gain = peak.sparse_factor if sparse else 1.0
            if abs(peak.rate.si * gain / wanted - 1) <= WITHIN:
                found.append(Basis(dtype, peak.accumulate, sparse))
    return found

"""From nvidia-smi to a spec sheet: what the card in the slot can do, now and at best.

nvidia-smi prints clocks, limits and a link; the database has units, pins and peaks. A
rate needs both. Memory clocks are printed at half the transfers of a pin, whatever the
kind of memory; sizes are printed in MiB.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from stacklib import hardware
from stacklib.hardware import Accelerator, UnknownSpec
from stacklib.hardware.nvidia_smi import SmiReading
from stacklib.quantity import Quantity, assumed
from stacklib.quantity import dtype as find_dtype
from stacklib.quantity.bounds import above_zero
from stacklib.roofline import ridge_point

__all__ = ["SpecSheet", "busy_share", "device_of_reading", "pcie_rate", "spec_sheet"]

TRANSFERS = 2.0  # a pin, in a cycle of the memory clock that nvidia-smi prints
_BRANDS = ("NVIDIA ", "GeForce ", "Tesla ", "Quadro ")
_SLOT = 16.0  # lanes of the links in the database


@dataclass(frozen=True, slots=True)
class SpecSheet:
    """What a reading means for the device it names."""

    device: Accelerator  # from the database
    reading: SmiReading  # what was read
    dtype: str  # format of the peaks
    memory: Quantity  # bytes the driver offers
    peak: Quantity  # dense rate as printed
    peak_now: Quantity  # at the clock that was read
    bandwidth: Quantity
    bandwidth_now: Quantity
    link: Quantity  # PCI Express, one direction: the most, and as it is
    link_now: Quantity
    findings: tuple[str, ...]  # what a careful reader would notice

    @property
    def ridge(self) -> Quantity:
        """Operations a byte at which printed peak and full bandwidth meet."""
        return ridge_point(self.peak, self.bandwidth).named("ridge, by the data sheet")

    @property
    def ridge_now(self) -> Quantity:
        """The same at the clocks that were read."""
        return ridge_point(self.peak_now, self.bandwidth_now).named("ridge, as it runs")


def device_of_reading(reading: SmiReading) -> Accelerator:
    """The device of the database that a reading names."""
    if reading.name is None:
        raise UnknownSpec("the reading has no product name: query `name` as well")
    short = reading.name
    for brand in _BRANDS:
        short = short.removeprefix(brand)
    return hardware.get(short)


def pcie_rate(generation: Quantity, lanes: Quantity) -> Quantity:
    """Bytes a second of a PCI Express link, one direction, after the line coding."""
    link = hardware.link(f"pcie{generation.si:.0f}_x16")
    slot = assumed(
        _SLOT,
        label="lanes of the full link",
        why="The slot of a card has all lanes, even where a link uses fewer.",
    )
    return (link.per_direction * (lanes / slot)).named("PCI Express, one direction")


def busy_share(kernels: Iterable[tuple[float, float]], period: float) -> float:
    """What nvidia-smi calls utilization: the share of a period with a kernel running.

    NVML API reference, nvmlUtilization_t: percent of time over the past sample period
    during which one or more kernels was executing. How much of the chip they use does
    not enter.

    ``period``: seconds that are looked at.
    """
    above_zero(period=period)
    busy, reached = 0.0, 0.0
    for begin, end in sorted(kernels):
        if not begin <= end:
            raise ValueError(f"a kernel from {begin!r} s to {end!r} s")
        begin, end = max(begin, reached), min(end, period)
        busy += max(0.0, end - begin)
        reached = max(reached, end)
    return busy / period


def _need(reading: SmiReading, *names: str) -> list[Quantity]:
    missing = [name for name in names if getattr(reading, name) is None]
    if missing:
        raise UnknownSpec(f"the reading lacks {', '.join(missing)}: query them as well")
    return [getattr(reading, name) for name in names]


def spec_sheet(reading: SmiReading, dtype: str = "bf16") -> SpecSheet:
    """What nvidia-smi's numbers mean for one device.

    Parameters
    ----------
    reading : SmiReading
        With name, memory, clocks and link.
    dtype : str
        Format of the peaks, dense.

    Raises
    ------
    UnknownName
        For a device or format that the database does not have.
    UnknownSpec
        When the reading or the database lacks what is needed.

    Examples
    --------
    >>> from stacklib.hardware import read_smi, smi_sample
    >>> sheet = spec_sheet(read_smi(smi_sample("h100_busy"))[0])
    >>> sheet.bandwidth.text("TB/s"), sheet.peak_now.text("TFLOP/s")
    ('3.35 TB/s', '754 TFLOP/s')
    """
    device = device_of_reading(reading)
    memory, clock, now, most = _need(
        reading, "memory", "clock", "memory_clock", "memory_clock_max"
    )
    generation, generation_max, lanes, lanes_max = _need(
        reading, "generation", "generation_max", "lanes", "lanes_max"
    )
    peak = device.peak(dtype)
    at = getattr(device, device.peaks[find_dtype(dtype).name].clock)
    edges = assumed(
        TRANSFERS,
        "bit/cycle",
        "transfers a pin",
        why="Data move on both edges of the clock, as in every GDDR and HBM.",
    )

    def bandwidth(memory_clock: Quantity, label: str) -> Quantity:
        cycles = memory_clock.to("cycle/s")
        return (device.memory_pins * edges * cycles).to("GB/s").named(label)

    return SpecSheet(
        device,
        reading,
        dtype,
        memory,
        peak,
        (peak * (clock / at)).named("peak at this clock"),
        bandwidth(most, "bandwidth, highest memory clock"),
        bandwidth(now, "bandwidth at this memory clock"),
        pcie_rate(generation_max, lanes_max),
        pcie_rate(generation, lanes),
        tuple(_findings(reading, device)),
    )


def _findings(reading: SmiReading, device: Accelerator) -> Iterator[str]:
    """Sentences for what differs from the data sheet, and for what misleads."""
    idle = reading.state not in (None, "P0", "P1", "P2") or "Idle" in (
        reading.reasons or ()
    )
    if reading.memory is not None:
        yield (
            f"{reading.memory.value:,.0f} MiB are {reading.memory.text('GB')}; the "
            f"data sheet says {device.memory_capacity.text('GB')}."
        )
    for lanes, most in _less(reading.lanes, reading.lanes_max):
        yield (
            f"The link has {lanes.value:.0f} of {most.value:.0f} lanes: a narrow slot, "
            "a riser, or a slot that shares lanes."
        )
    for now, most in _less(reading.generation, reading.generation_max):
        why = (
            "it is idle; look again under load" if idle else "under load it should not"
        )
        yield (
            f"The link runs at generation {now.value:.0f} of {most.value:.0f}: {why}."
        )
    held = [reason for reason in reading.reasons or () if reason != "Idle"]
    if held:
        yield f"The clock is held down by: {', '.join(held)}."
    if idle and _less(reading.clock, reading.clock_max):
        yield "Clocks are those of an idle chip and say nothing of its speed."
    for limit, most in _less(reading.power_limit, reading.power_max):
        yield (
            f"The power limit is {limit.text('W')}; up to {most.text('W')} may be set."
        )
    if reading.ecc is False:
        yield "Error correction is off."
    if reading.mig:
        yield "MIG is on: an instance has a part of the units and of the memory."
    if reading.busy is not None and reading.busy.si >= 0.95:
        yield "The GPU is never without a kernel. How many lanes work is not said."
    if reading.unknown:
        yield f"Not in the text: {', '.join(reading.unknown)}."


def _less(
    now: Quantity | None, most: Quantity | None
) -> list[tuple[Quantity, Quantity]]:
    """Both, where both are known and the first is below the second."""
    if now is None or most is None or now.si >= most.si:
        return []
    return [(now, most)]

"""The bandwidth column of the database, explained row by row or left with its gap.

A printed bandwidth is pins times the rate of a pin. Where both are printed the product
is held against it. Where only one is, the other follows, and is held against what the
kind of memory can do.
"""

from __future__ import annotations

from dataclasses import dataclass

from stacklib.hardware import (
    THIS_MACHINE,
    Accelerator,
    get,
    memory,
    memory_names,
    names,
)
from stacklib.hardware.crosscheck import TOLERANCE
from stacklib.hardware.memories import Memory
from stacklib.quantity import Quantity

from .builds import builds_of, generations_of

WAYS = ("pins x rate", "stacks", "pins", "no DRAM", "open")


@dataclass(frozen=True, slots=True)
class Explained:
    """How a device's printed bandwidth comes about."""

    device: Accelerator
    way: str
    computed: Quantity | None  # bandwidth from the parts
    pin_rate: Quantity | None
    gap: float | None
    note: str  # the build, or what is missing

    @property
    def settled(self) -> bool:
        """Whether the parts give the printed figure, within the rounding of print."""
        return self.gap is not None and abs(self.gap) <= TOLERANCE


def _fastest(device: Accelerator) -> Memory | None:
    """The fastest memory of the kind a device names; None where none is known."""
    word = device.memory_type.lower().split("-")[0]
    known = (memory(name) for name in memory_names())
    alike = [m for m in known if m.short.lower().split("-")[0].split()[0] == word]
    return max(alike, key=lambda m: m.pin_rate.si, default=None)


def explain(device: str | Accelerator) -> Explained:
    """The printed bandwidth of a device from pins and rates."""
    chip = get(device) if isinstance(device, str) else device
    pins, rate, printed = (
        chip.fields[f"memory_{name}"] for name in ("pins", "pin_rate", "bandwidth")
    )
    if printed is None:
        note = f"{chip.memory_type}: no bandwidth is printed"
        return Explained(chip, "open", None, rate, None, note)
    if "SRAM" in chip.memory_type:
        return Explained(chip, "no DRAM", None, None, None, chip.memory_type)
    if pins is not None and rate is not None:
        built = (pins * rate).to("B/s").named("pins x rate")
        why = chip.inconsistent.get("memory_bandwidth", "")
        return Explained(chip, "pins x rate", built, rate, _gap(built, printed), why)
    if generations_of(chip):
        return _by_stacks(chip)
    return _by_kind(chip, pins, printed)


def _gap(built: Quantity, printed: Quantity) -> float:
    return built.si / printed.si - 1


def _by_stacks(chip: Accelerator) -> Explained:
    """Stacks fix the pins; the rate that follows must be one that is made."""
    found = builds_of(chip)
    if not found.found:
        return Explained(chip, "open", None, None, None, "; ".join(found.refused[:2]))
    best = found.found[0]
    pins = best.generation.memory.pins * best.stacks
    built = (pins * best.pin_rate).to("B/s").named("pins of the stacks x rate")
    gap = _gap(built, chip.memory_bandwidth)
    more = len(found.found) - 1
    note = best.text + (f"; {more} more would do" if more else "")
    return Explained(chip, "stacks", built, best.pin_rate, gap, note)


def _by_kind(chip: Accelerator, pins: Quantity | None, printed: Quantity) -> Explained:
    """Pins or rate follow from the other, and from the fastest memory of its kind."""
    top = _fastest(chip)
    if top is None:
        note = f"{chip.memory_type}: neither pins nor rate are known"
        return Explained(chip, "open", None, None, None, note)
    if pins is None:
        least = (printed.to("bit/s") / top.pin_rate).si
        note = f"at least {least:.0f} pins of {top.short}"
        return Explained(chip, "open", None, top.pin_rate, None, note)
    implied = (printed / pins).to("Gbit/s").named("rate of a pin")
    fits = implied.si <= top.pin_rate.si * (1 + TOLERANCE)
    note = f"of {top.pin_rate:Gbit/s} that {top.short} reaches"
    built = (pins * implied).to("B/s").named("pins x rate")
    if not fits:
        return Explained(chip, "open", None, implied, None, note)
    return Explained(chip, "pins", built, implied, _gap(built, printed), note)


def column() -> tuple[Explained, ...]:
    """Every device of the database but this machine, whose memory was measured."""
    return tuple(explain(key) for key in names() if key != THIS_MACHINE)

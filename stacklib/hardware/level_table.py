"""The levels of a device, from its registers to its memory: size, rate, latency.

One table for whoever asks. Sizes are printed: they are fields of the device. How many
bytes a unit draws in a cycle and how long a load takes were measured
(``microarchitectures``); a rate is bytes a cycle x units x clock. Up to the L1 a
latency is cycles / clock; beyond it is a time, whatever the unit's clock, and the
cycles are time x clock. What is not known is None, never a guess.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from stacklib.quantity import Quantity, assumed, constant, one_of, resolve

from .accelerator import Accelerator, UnknownSpec
from .devices import get, names
from .microarchitectures import BEYOND, LEVELS, microarchitecture
from .warp_rules import rule

# level -> the field that holds its size, and how many there are of it
_SIZES = {
    "register": ("registers_per_unit", "unit"),
    "shared": ("shared_per_unit", "unit"),
    "l1": ("", "unit"),
    "l2": ("l2_capacity", "chip"),
    "l2_far": ("", "chip"),
    "dram": ("memory_capacity", "chip"),
}
_CACHES = ("l1", "l2", "l2_far")


@dataclass(frozen=True, slots=True, repr=False)
class Level:
    """One level of a device; a field is None where nobody has published a figure.

    Rate and cycles are marked with their clock: two devices' cannot be mixed up.
    """

    name: str
    device: str  # its key
    shared_by: str  # ``unit`` where every unit has one of its own, else ``chip``
    units: Quantity | None = None  # that have one of their own, or share one
    capacity: Quantity | None = None  # bytes of one
    width: Quantity | None = None  # bytes a unit draws in a cycle
    rate: Quantity | None = None  # bytes a second of all units together
    cycles: Quantity | None = None  # until a dependent load is answered
    latency: Quantity | None = None  # the same in seconds
    line: Quantity | None = None  # bytes under one tag
    sector: Quantity | None = None  # bytes that a miss brings in

    def __repr__(self) -> str:
        facts = (self.capacity, self.rate, self.latency)
        said = ", ".join(q.text() for q in facts if q is not None)
        return f"<Level {self.name} of {self.device}: {said or 'nothing known'}>"

    def known(self, field: str) -> Quantity:
        """A field that the caller needs; UnknownSpec where it is None."""
        value: Quantity | None = getattr(self, field)
        if value is None:
            raise UnknownSpec(f"{self.device}: {self.name} {field} is unknown")
        return value

    @property
    def total(self) -> Quantity:
        """Bytes of the level in the whole chip; UnknownSpec where they are unknown."""
        one = self.known("capacity")
        return one if self.shared_by == "chip" else one * self.known("units")


def levels(on: str | Accelerator) -> tuple[Level, ...]:
    """Every level of a device of which anything is known, nearest first.

    Parameters
    ----------
    on : str or Accelerator
        The device.

    Returns
    -------
    tuple of Level
        Among ``register``, ``shared``, ``l1``, ``l2`` (the last cache before the
        memory), ``l2_far`` (the side of an L2 that is farther from a unit, where it was
        measured) and ``dram``.

    Examples
    --------
    >>> [(x.name, x.latency.text()) for x in levels("h100-sxm")[2:4]]
    [('l1', '17.3 ns'), ('l2', '142 ns')]
    """
    every = (level(on, name) for name in LEVELS)
    return tuple(x for x in every if x.capacity or x.rate or x.cycles)


def level(on: str | Accelerator, name: str, clock: Quantity | None = None) -> Level:
    """One level of a device; without figures where it has none of that name.

    Parameters
    ----------
    on : str or Accelerator
        The device.
    name : str
        One of ``levels``.
    clock : Quantity, optional
        The clock that its units run at. Without it the boost that is printed.

    Raises
    ------
    UnknownName
        For a name that no device has.

    Examples
    --------
    >>> level("h100-sxm", "dram").known("latency").text()
    '344 ns'
    """
    name = name if name in LEVELS else resolve(name, LEVELS, "level")
    device = on if isinstance(on, Accelerator) else get(on)
    if clock is not None:
        return _made(device, name, clock)
    # A fit asks for the same few levels many thousand times.
    kept = device.key in names() and device is get(device.key)
    return _kept(device.key, name) if kept else _made(device, name, None)


@cache
def _kept(key: str, name: str) -> Level:
    return _made(get(key), name, None)


def _made(device: Accelerator, name: str, clock: Quantity | None) -> Level:
    clock = device.fields["clock"] if clock is None else clock
    size, shared_by = _SIZES[name]
    nvidia = device.vendor == "NVIDIA" and device.kind == "gpu"
    capacity = device.fields.get(size)
    # Since Volta a unit's L1 and its shared memory are one array, of which shared
    # memory can have the most part, never all: two fields, two sizes.
    if name == "l1":
        capacity = _array(device)
    cycles, latency = _waits(device, name, clock)
    width = _width(device, name)
    return Level(
        name,
        device.key,
        shared_by,
        units=device.fields["compute_units"],
        capacity=capacity,
        width=width,
        rate=_rate(device, name, width, clock),
        cycles=cycles,
        latency=latency,
        line=rule("line") if nvidia and name in _CACHES else None,
        sector=rule("sector") if nvidia and name in _CACHES else None,
    )


def _array(device: Accelerator) -> Quantity | None:
    """L1 of a unit; None for a chip that is not built like the others of its name."""
    array = microarchitecture(device).constants.get("l1_capacity")
    shared = device.fields["shared_per_unit"]
    if device.vendor != "NVIDIA" or shared is None or array is None:
        return array
    return None if array.si < shared.si else array


def _waits(
    device: Accelerator, name: str, clock: Quantity | None
) -> tuple[Quantity | None, Quantity | None]:
    """Cycles of the clock, marked with it, and seconds: the one from the other."""
    found = microarchitecture(device).constants.get(f"{name}_latency")
    if found is None or clock is None:
        return (None, found) if name in BEYOND else (found, None)
    if name in BEYOND:
        words = f"{device.short} {name} load latency in cycles"
        return (found * clock).at_clock(clock).named(words), found
    cycles = found.at_clock(clock)
    return cycles, cycles / clock


def _width(device: Accelerator, name: str) -> Quantity | None:
    """Bytes a unit draws in a cycle, at any clock."""
    if name == "shared" and device.vendor == "NVIDIA" and device.kind == "gpu":
        return rule("banks") * (rule("word") / one_of("cycle"))
    if name == "register" and device.kind == "gpu":
        return _operands(device)
    return microarchitecture(device).constants.get(f"{name}_bytes_per_cycle")


def _operands(device: Accelerator) -> Quantity | None:
    """Lanes x three operands of a fused multiply-add x four bytes."""
    peak = device.peaks.get("fp32")
    if peak is None or peak.per_unit_per_cycle is None:
        return None
    reads = constant("fma_operands")
    why = "The loads that were measured read fp32 numbers."
    word = assumed(4, "B", "bytes of an operand", why=why)
    lanes = peak.per_unit_per_cycle / constant("multiply_add")
    return (lanes * reads * word).named("operand bytes")


def _rate(
    device: Accelerator, name: str, width: Quantity | None, clock: Quantity | None
) -> Quantity | None:
    """What all units draw; of a memory, what its pins carry, at no clock of a unit."""
    if name == "dram":
        return device.fields["memory_bandwidth"]
    units = device.fields["compute_units"]
    if width is None or units is None or clock is None:
        return None
    return (width * units * clock).at_clock(clock)

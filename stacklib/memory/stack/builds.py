"""Which stacks a device is built from: capacity and bandwidth back to dies and pins.

A data sheet prints gigabytes and terabytes a second. Dies come in whole numbers, stacks
in four heights, and a pin has a top speed, so few builds give both figures. Often one
does; sometimes none, and then a figure is wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from stacklib.hardware import Accelerator, get, stack_generation, stack_generations
from stacklib.hardware.crosscheck import TOLERANCE
from stacklib.hardware.stacks import StackGeneration
from stacklib.quantity import Quantity, chosen, one_of
from stacklib.quantity.bounds import whole

from .hbm import built_from

MOST_SPARE = 1 / 8  # the largest share of built memory that a device was sold without
SLOWEST = 1 / 2  # of a generation's top rate; the slowest device runs at 0.59
COUNTS = range(1, 17)


@dataclass(frozen=True, slots=True)
class PackageBuild:
    """Stacks of one kind around a processor."""

    generation: StackGeneration  # pins, top rate and heights of a stack
    stacks: int
    height: int  # DRAM dies in each
    die_gbit: int
    spare: float  # share of the built capacity that is not sold
    pin_rate: Quantity  # what each pin must run at for the printed bandwidth

    @property
    def of_document(self) -> float:
        """The rate of a pin, as a share of what the generation's document allows."""
        return self.pin_rate.si / self.generation.memory.pin_rate.si

    @property
    def text(self) -> str:
        """In words, such as ``5 x 8-high x 16 Gb HBM3``."""
        return (
            f"{self.stacks} x {self.height}-high x {self.die_gbit} Gb "
            f"{self.generation.name}"
        )


@dataclass(frozen=True, slots=True)
class Builds:
    """What can give a capacity and a bandwidth, and why other counts cannot."""

    found: tuple[PackageBuild, ...]
    refused: tuple[str, ...]


def needed_rate(
    bandwidth: Quantity, stacks: int, generation: StackGeneration
) -> Quantity:
    """Bits a second of each pin so that all stacks together give a bandwidth."""
    count = chosen(stacks, label="stacks")
    pins = (count * generation.memory.pins).named("pins of all stacks")
    whole = bandwidth.across(one_of("1", "chip"))  # a pin has no scope
    return (whole / pins).to("Gbit/s").named("rate that a pin needs")


def package_builds(
    capacity: Quantity,
    bandwidth: Quantity,
    generation: str | StackGeneration,
    *,
    stacks: int | Iterable[int] | None = None,
) -> Builds:
    """Every package of one generation that gives a printed capacity and bandwidth.

    Parameters
    ----------
    capacity : Quantity
        As printed. In GB it is read as the trade writes it, a 16 Gb die as 2 GB; in
        GiB as it stands.
    bandwidth : Quantity
        As printed, in bytes a second.
    generation : str or StackGeneration
        Which dies, heights, pins and rates there are.
    stacks : int or iterable of int, optional
        Counts to try; 1 to 16 without it.

    Returns
    -------
    Builds
        Those within the top rate of a pin (and the rounding of print), fewest stacks
        first, and one sentence for each count that fails.

    Raises
    ------
    TypeError
        For a capacity or bandwidth without a unit.
    ValueError
        For a capacity or bandwidth that is not positive, or a count below one.
    UnknownName
        When there is no such generation.

    Examples
    --------
    >>> from stacklib import hardware
    >>> h100 = hardware.get("h100-sxm")
    >>> size, rate = h100.memory_capacity, h100.memory_bandwidth
    >>> [b.text for b in package_builds(size, rate, "hbm3").found]
    ['5 x 8-high x 16 Gb HBM3']
    """
    made = stack_generation(generation) if isinstance(generation, str) else generation
    for words, figure in (("capacity", capacity), ("bandwidth", bandwidth)):
        if not isinstance(figure, Quantity):
            raise TypeError(f"{words} = {figure!r}: a Quantity is needed, with a unit")
        if not 0 < figure.si < float("inf"):
            raise ValueError(f"{words} = {figure}: it must be positive")
    found, refused = [], []
    for count in _counts(stacks):
        rate = needed_rate(bandwidth, count, made)
        some = list(_of_size(capacity, rate, made, count))
        why = _refusal(rate, made, count, bool(some))
        if why:
            refused.append(why)
        else:
            found += some
    return Builds(tuple(found), tuple(refused))


def _counts(stacks: int | Iterable[int] | None) -> Iterable[int]:
    if stacks is None:
        return COUNTS
    chosen = (stacks,) if isinstance(stacks, int) else tuple(stacks)
    for count in chosen:
        whole(stacks=count)
    return chosen


def _of_size(
    capacity: Quantity, rate: Quantity, made: StackGeneration, count: int
) -> Iterator[PackageBuild]:
    for gbit in made.dies:
        for one in built_from(
            capacity, die_gbit=gbit, most_spare=MOST_SPARE, stacks=(count,)
        ):
            if one.height in made.memory.heights:
                yield PackageBuild(made, count, one.height, gbit, one.spare, rate)


def _refusal(rate: Quantity, made: StackGeneration, count: int, sized: bool) -> str:
    top = made.top_rate
    if rate.si > top.si * (1 + TOLERANCE):
        return f"{count} x {made.name}: {rate:Gbit/s} a pin, above {top:Gbit/s}"
    if not sized:
        return f"{count} x {made.name}: no height of stack gives the capacity"
    if rate.si < top.si * SLOWEST:
        return f"{count} x {made.name}: {rate:Gbit/s} a pin, below any device"
    return ""


def generations_of(device: Accelerator) -> tuple[str, ...]:
    """Keys of the HBM generations that a device's memory may be; empty for others.

    A device that says only *HBM* may carry any that was on sale in its year.
    """
    name, known = device.memory_type.lower(), stack_generations()
    if name == "hbm":
        made = (stack_generation(key) for key in known)
        return tuple(g.key for g in made if g.memory.year <= device.year)
    return (name,) if name in known else ()


def builds_of(device: str | Accelerator) -> Builds:
    """The builds of a device of the database.

    The stacks are those of the database where it knows them. A device without HBM has
    no builds.

    Raises
    ------
    UnknownName
        When there is no such device.
    UnknownSpec
        When its capacity or bandwidth is unknown.
    """
    chip = get(device) if isinstance(device, str) else device
    known = chip.fields["memory_stacks"]
    stacks = None if known is None else int(known.si)
    found: list[PackageBuild] = []
    refused: list[str] = []
    for key in generations_of(chip):
        some = package_builds(
            chip.memory_capacity, chip.memory_bandwidth, key, stacks=stacks
        )
        found += some.found
        refused += some.refused
    # Least kept back, then fewest stacks, then the faster pin.
    found.sort(key=lambda b: (round(b.spare, 6), b.stacks, -b.pin_rate.si))
    return Builds(tuple(found), tuple(refused))

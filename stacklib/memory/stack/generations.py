"""HBM by generation: what a stack's parts give beside what is printed, and the growth.

Bandwidth is pins times rate, capacity is dies times bits. From one generation to the
next either the pins double or the rate grows; the smallest access stays as it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from stacklib.hardware import stack_generation, stack_generations
from stacklib.hardware.stacks import StackGeneration
from stacklib.quantity import Quantity, one_of

from .hbm import HbmStack


@dataclass(frozen=True, slots=True)
class GenerationRow:
    """One generation, its parts put together."""

    generation: StackGeneration
    stack: HbmStack
    access: Quantity  # bytes of the smallest access
    parts: Quantity  # Pseudo-channels of a stack

    @property
    def bandwidth_gap(self) -> float:
        """Pins times rate over the printed bandwidth, less one."""
        return self.stack.bandwidth.si / self.generation.memory.bandwidth.si - 1

    @property
    def capacity_gap(self) -> float:
        """Dies times bits over the printed capacity, less one."""
        return self.stack.capacity.si / self.generation.memory.capacity.si - 1


@dataclass(frozen=True, slots=True)
class Growth:
    """From one generation to the next, as factors.

    ``bandwidth`` is ``pins`` times ``rate``; ``capacity`` is ``height`` times ``die``.
    """

    name: str
    years: float
    pins: float
    rate: float
    bandwidth: float
    height: float
    die: float
    capacity: float
    parts: float
    access: float


def generation_rows() -> tuple[GenerationRow, ...]:
    """All generations, oldest first."""
    return tuple(_row(stack_generation(key)) for key in stack_generations())


def _row(made: StackGeneration) -> GenerationRow:
    one = made.memory
    parts = one.channels * made.pseudo_channels
    width = (one.pins / parts).named("pins of a part")
    beat = one_of("bit", "bits a pin moves in a beat")
    return GenerationRow(
        made,
        HbmStack(one.height, one.die_capacity, one.pins, one.pin_rate),
        (width * made.burst * beat).to("B").named("bytes of an access"),
        parts.named(f"pseudo-channels of a stack of {made.name}"),
    )


def growth() -> tuple[Growth, ...]:
    """Each generation over the one before, in the order of time."""
    rows = generation_rows()
    return tuple(_between(old, new) for old, new in pairwise(rows))


def _between(old: GenerationRow, new: GenerationRow) -> Growth:
    a, b = old.generation.memory, new.generation.memory
    return Growth(
        f"{old.generation.name} to {new.generation.name}",
        new.generation.published.si - old.generation.published.si,
        b.pins.si / a.pins.si,
        b.pin_rate.si / a.pin_rate.si,
        new.stack.bandwidth.si / old.stack.bandwidth.si,
        b.height.si / a.height.si,
        b.die_capacity.si / a.die_capacity.si,
        new.stack.capacity.si / old.stack.capacity.si,
        new.parts.si / old.parts.si,
        new.access.si / old.access.si,
    )

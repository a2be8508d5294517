"""One decode step, seen by the units: issue slots, lanes and tensor cores it fills.

A step of batch one multiplies every weight once. Whether ordinary lanes do that or
tensor cores, the same bytes come from memory; what differs is how busy the rest is.
``matvec_instructions`` is the closed form of the kernel ``kernels.matvec``, which
`gpu.launch` counts; ``decode_slots`` scales it to a whole model. Left out: attention,
norms, and what chips tell one another.
"""

from __future__ import annotations

from dataclasses import dataclass

from stacklib import models
from stacklib.hardware import Accelerator, microarchitecture
from stacklib.memory.ladder.descent import descent
from stacklib.quantity import Quantity, assumed, chosen, constant, counted, one_of
from stacklib.quantity.bounds import whole
from stacklib.roofline.work.bounds import device_of

from .instructions import instruction, part_count

# Warp instructions of `kernels.matvec`: for each 64 weights four loads and two
# multiply-adds (places are within the addresses); then those of a row: the row and its
# address (2), ten of the shuffled sum, compare, branch, store and the end.
STEP, ROW, WEIGHTS = 6, 16, 64


def matvec_instructions(rows: int, k: int) -> int:
    """Warp instructions of ``kernels.matvec``."""
    whole(rows=rows, k=k)
    if k % WEIGHTS:
        raise ValueError(f"k = {k}: a multiple of {WEIGHTS}")
    return rows * (STEP * (k // WEIGHTS) + ROW)


def round_instructions() -> Quantity:
    """Warp instructions of 64 weights more of a row."""
    two, one = (counted(matvec_instructions, 1, k * WEIGHTS) for k in (2, 1))
    return (two - one).named("warp instructions a round, by matvec")


@dataclass(frozen=True, slots=True)
class Slots:
    """A part of the chip during the step."""

    part: str  # ``memory``, ``issue slots``, ``fp32 lanes`` or ``tensor cores``
    work: Quantity  # what it has to do on one chip: bytes
    rate: Quantity  # what it can do in a second, all units together

    @property
    def time(self) -> Quantity:
        """Seconds it is busy at that rate."""
        return (self.work / self.rate).named(f"{self.part}: busy")


def fewest_columns(device: str | Accelerator) -> Quantity:
    """Columns of the smallest shape that multiplies at a device's matrix rate."""
    found = instruction(device)
    why = f"The narrowest shape of {found.name} has so many."
    return assumed(
        found.columns[0],
        label="columns of an mma, one used",
        why=why,
        source=found.source,
    )


def decode_slots(
    model: str = "llama-3-70b", *, on: str | Accelerator = "h100-sxm", tp: int = 8
) -> tuple[Slots, ...]:
    """How busy each part of one chip is for one token at batch one.

    Memory first, then ordinary lanes as ``kernels.matvec`` uses them, then the tensor
    cores if they do it instead: an ``mma`` has at least eight columns, of which one
    token fills one.
    """
    device, found = device_of(on), models.get(model)
    moved = descent(found, on=device, tp=tp)[0]
    units, clock = device.compute_units, device.clock
    chips = chosen(tp, label="chips that share it")
    kept = found.streamed_parameters / chips
    schedulers = microarchitecture(device).count("warp_schedulers")
    slots = schedulers * one_of("1/cycle", "issued by a scheduler")
    each = (round_instructions() / WEIGHTS).named("warp instructions a weight")
    lanes = part_count(device, "fp32_lanes")
    one = one_of("1/cycle", "multiply-adds of a lane")
    tensor = device.peak("bf16") / constant("multiply_add")
    return (
        Slots("memory", moved.bytes, moved.rate.retag("per_direction")),
        Slots("issue slots", kept * each, slots * units * clock),
        Slots("fp32 lanes", kept, lanes * one * units * clock),
        Slots("tensor cores", kept * fewest_columns(device), tensor),
    )

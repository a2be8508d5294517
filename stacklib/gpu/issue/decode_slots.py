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
from stacklib.hardware import Accelerator
from stacklib.memory.ladder.descent import COLUMNS, descent
from stacklib.quantity import Quantity, chosen
from stacklib.roofline.work.bounds import device_of

from .instructions import part_count
from .occupancy import PARTITIONS

WARP = 32
# Warp instructions of `kernels.matvec`: for each 64 weights two places (2), two
# addresses (2), four loads, two products and two sums; then those of a row: the row
# (2), ten of the shuffled sum, compare, branch and store of the result.
STEP, ROW = 12, 15


def matvec_instructions(rows: int, k: int) -> int:
    """Warp instructions of ``kernels.matvec``."""
    for name, value in (("rows", rows), ("k", k)):
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise ValueError(f"{name} = {value!r}: a whole number from 1 is needed")
    if k % 64:
        raise ValueError(f"k = {k}: a multiple of 64")
    return rows * (STEP * (k // 64) + ROW)


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
    slots = Quantity(PARTITIONS, "1/cycle", label="issued by a unit", kind="constant")
    one = Quantity(1, "1/cycle", label="multiply-adds of a lane", kind="constant")
    each = Quantity(STEP / 64, label="warp instructions a weight, by matvec",
                    kind="constant")  # fmt: skip
    lanes = part_count(device, "fp32_lanes")
    columns = Quantity(COLUMNS, label="columns of an mma, one used", kind="constant")
    two = Quantity(2, "FLOP", label="operations of a multiply-add", kind="constant")
    tensor = device.peak("bf16") / two
    return (
        Slots("memory", moved.bytes, moved.rate.retag("per_direction")),
        Slots("issue slots", kept * each, slots * units * clock),
        Slots("fp32 lanes", kept, lanes * one * units * clock),
        Slots("tensor cores", kept * columns, tensor),
    )

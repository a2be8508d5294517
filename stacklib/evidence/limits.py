"""Which limit, asked of everything we know: every ridge, a whole block, best products.

The roofline room answers for one device and one piece of work. These go through the
database, the operations of a model, and the published measurements.
"""

from __future__ import annotations

from dataclasses import dataclass

from stacklib import hardware, roofline
from stacklib.hardware import Accelerator
from stacklib.models import LanguageModel
from stacklib.quantity import Quantity, Source
from stacklib.roofline.count.operations import block_operations
from stacklib.roofline.work.bounds import Bound

from . import measurements

CLAIMED = (300.0, 500.0)  # FLOP/B: where document 003 puts the ridge of high-end GPUs
SWEEP = "MAMF best of sweep"


def ridges(dtype: str) -> list[tuple[Accelerator, Quantity]]:
    """Every device of the database that exists and has a dense rate, with its ridge."""
    found = []
    for key in hardware.names():
        device = hardware.get(key)
        known = dtype in device.formats and device.fields["memory_bandwidth"]
        if key == hardware.THIS_MACHINE or not known:
            continue
        source = device.peak(dtype).source
        if source is None or source.confidence != "announced":
            found.append((device, roofline.ridge(device, dtype)))
    return found


def sides(
    model: str | LanguageModel, tokens: int, on: str, context: int = 4096
) -> list[tuple[roofline.Work, Bound]]:
    """Operations of one block that move bytes, and what each waits for."""
    listed = block_operations(model, tokens=tokens, context=context)
    return [(op, roofline.bound_on(op, on)) for op in listed if op.bytes.si > 0]


@dataclass(frozen=True, slots=True)
class BestProduct:
    """The fastest bf16 product of a device among those published in our evidence."""

    device: Accelerator  # on which it ran
    published: Quantity  # its rate, the best of a sweep of shapes

    @property
    def share(self) -> Quantity:
        """Of the dense bf16 peak."""
        return (self.published / self.device.peak("bf16")).named("share of peak")


def best_products() -> list[BestProduct]:
    """Best published bf16 products, one a device, from sweeps of shapes."""
    rows = [m for m in measurements.public() if SWEEP in m.subject]
    found = []
    for row in rows:
        if row.text("dtype") != "bf16":
            continue
        vendor, _, name = row.system.partition(" ")
        if vendor not in ("NVIDIA", "AMD", "Intel"):
            name = row.system
        device = hardware.get(name.removesuffix(" SXM"))
        rate = Quantity(
            row.value,
            "TFLOP/s dense per_chip",
            label=f"best published product, {device.short}",
            source=Source(row.source, row.id, row.date, "measured"),
            kind="measured",
        )
        found.append(BestProduct(device, rate))
    return found

"""Which chip decodes cheapest: dollars a million tokens at a batch, device by device.

In 16 bits a step does two operations a weight and sequence and reads two bytes: as many
operations a byte as it has sequences. A chip whose arithmetic and memory are in that
ratio wastes neither, so one with ten or twenty operations a byte is made for batches of
ten or twenty; a chip with three hundred pays for arithmetic that a small batch leaves
idle.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from stacklib import hardware
from stacklib.cost.spans import Span
from stacklib.hardware import UnknownSpec
from stacklib.models import LanguageModel
from stacklib.quantity import Quantity
from stacklib.quantity.bounds import whole
from stacklib.roofline.work.fit import model_of

from ..estimates.estimate import estimate
from ..token.account import CONTEXT
from .machine import machine, priced

CHIPS = (1, 2, 4, 8)  # of a machine; the fewest that hold model and batch are taken


@dataclass(frozen=True, slots=True)
class Silicon:
    """One kind of chip at one batch, or why it is not ranked."""

    device: str
    chips: int = 0
    tokens_per_s: Quantity | None = None
    cost: Span | None = None  # dollars a million tokens, always in use
    flop_per_byte: Quantity | None = None  # of its sheet, 16 bits, dense
    why: str = ""  # it is not ranked


def decode_silicon(
    model: str | LanguageModel, batch: int, devices: Iterable[str] | None = None
) -> list[Silicon]:
    """Chips by what a million tokens cost at their cheapest quotes, cheapest first.

    - ``devices``: names; default all that somebody quotes a price of, to buy new
    - chips without a price, a rate, or room come last, each with its reason
    """
    whole(batch=batch)
    held = model_of(model)
    names = priced() if devices is None else [hardware.get(d).key for d in devices]
    found = [_rank(held, name, batch) for name in names]
    return sorted(found, key=lambda row: row.cost.low.si if row.cost else math.inf)


def _rank(model: LanguageModel, name: str, batch: int) -> Silicon:
    device, why = hardware.get(name), ""
    for chips in CHIPS:
        try:
            found = estimate(model, name, tp=chips, batch=batch, context=CONTEXT)
            if not found.fits:
                why = found.why
                continue
            rate = found.tokens_per_s
            bill = machine(device, chips).bill(rate)
            balance = device.peak("bf16") / device.memory_bandwidth
        except (UnknownSpec, ValueError) as unknown:
            return Silicon(name, why=str(unknown).splitlines()[0])
        return Silicon(name, chips, rate, bill.total, balance)
    return Silicon(name, why=why)

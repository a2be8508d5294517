"""A kernel on a card of tiles: a reader, the arithmetic and a writer on each core.

A core reads its tiles out of the card's memory, keeps them in circular buffers of its
own SRAM, and multiplies them. Tiles that a row or a column of cores needs are read once
and passed along.
"""

from __future__ import annotations

from stacklib import hardware
from stacklib.kernels.schedule.pipeline import Stage, pipeline
from stacklib.quantity import Quantity, chosen

SIDE, WIDE = 32, 2  # numbers of a tile's side, bytes of each


def computing(card: str) -> Quantity:
    """Cycles in which a core multiplies two tiles."""
    rate = hardware.get(card).peaks["bf16"].per_unit_per_cycle
    work = chosen(2 * SIDE**3, "FLOP dense", label="operations of a product of tiles")
    return (work / rate).to("cycle").named("cycles of a product of tiles")


def reading(card: str, grid: tuple[int, int] = (1, 1), kept: int = 1) -> Quantity:
    """Cycles in which a core gets the two tiles of a product.

    - ``grid``: cores across and down that share what they read.
    - ``kept``: side of the square of sums that a core keeps, in tiles: each tile that
      it reads serves as many products.
    """
    device, (across, down) = hardware.get(card), grid
    tile = chosen(SIDE * SIDE * WIDE, "B", label="bytes of a tile")
    ways = chosen(1 / across + 1 / down, label="tiles read a product")
    each = device.memory_bandwidth / device.compute_units / device.clock
    side = chosen(kept, label="products of each tile read")
    return (tile * ways / each / side).to("cycle").named("cycles of reading")


def stepped(read: float, work: float, products: int, slots: int) -> float:
    """Cycles of a core's reader and arithmetic over buffers of ``slots`` tiles."""
    stages = [Stage("reader", read, "reader"), Stage("compute", work, "compute")]
    return float(pipeline(stages, products, buffers=slots).time)


def by_hand(read: float, work: float, products: int, slots: int) -> float:
    """The same: one place, in turn; two, the slower of both and the other once."""
    if slots == 1:
        return products * (read + work)
    return products * max(read, work) + min(read, work)

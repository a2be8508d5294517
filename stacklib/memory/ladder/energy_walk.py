"""The energy of a decode step counted, sector by sector along the token's path.

The closed form in ``energy`` is held to this.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import accumulate

from stacklib import hardware
from stacklib.models import LanguageModel, Matrix
from stacklib.models.weights.kept import one_format
from stacklib.roofline.count.matrices import Tally
from stacklib.roofline.work.fit import copies_of, model_of

from .energy import ACCOUNTS, PATHS, die_area, operation_energy, wire_energy

SECTOR = 32  # bytes that move together
TILE = 128  # sectors that one SM reads before the next SM's turn comes
PERIOD = 1 << 16  # sectors after which the walk is taken as repeating


def ways_across(grid: int, sectors: int = PERIOD) -> list[float]:
    """Wire that each of so many neighbouring sectors takes, in sides of the die.

    The controller is the address, folded by exclusive or; the SM is the one whose turn
    the tile is. Controllers stand along the left and right side, ``grid`` on each; SMs
    in the middle of the cells of a square of ``grid`` by ``grid``. Wires run along rows
    and columns. ``grid``: a power of two, as the hash needs.
    """
    if grid < 1 or grid & (grid - 1):
        raise ValueError(f"grid {grid!r}: a hash folds onto a power of two")
    width = (2 * grid).bit_length() - 1  # bits that name a controller
    ways = []
    for sector in range(sectors):
        controller, rest = 0, sector
        while rest:
            controller ^= rest & (2 * grid - 1)
            rest >>= width
        side, row = divmod(controller, grid)
        column, line = divmod(sector // TILE % grid**2, grid)
        x, y = (column + 0.5) / grid, (line + 0.5) / grid
        ways.append(abs(x - side) + abs(y - (row + 0.5) / grid))
    return ways


@dataclass(slots=True)
class EventCount:
    """Events so far: sectors through every stage, sides of the die crossed, FLOP."""

    ways: list[float]
    sectors: int = 0
    crossed: float = 0.0
    flops: int = 0
    _upto: list[float] = field(init=False)

    def __post_init__(self) -> None:
        self._upto = [0.0, *accumulate(self.ways)]

    def read(self, numbers: float, bits: float) -> None:
        """One array of numbers is read; its last sector may be part empty."""
        sectors = -int(-numbers * bits // (8 * SECTOR))
        rounds, rest = divmod(sectors, len(self.ways))
        self.sectors += sectors
        self.crossed += rounds * self._upto[-1] + self._upto[rest]

    def matrix(self, m: Matrix, batch: int, bits: float) -> None:
        """Every sequence's vector by one matrix, which is read once."""
        tally = Tally()
        tally.matrix(m, batch)
        self.flops += 2 * tally.macs
        self.read(tally.numbers, bits)


def count_energy(
    model: str | LanguageModel,
    *,
    on: str,
    account: str = "circuit",
    dtype: str = "bf16",
    tp: int = 1,
    batch: int = 1,
    context: int = 4096,  # tokens cached in each
    grid: int = 16,
) -> dict[str, float]:
    """Joules of one decode step by stage, without the constant power."""
    if account not in ACCOUNTS:
        raise ValueError(f"account {account!r}: {', '.join(ACCOUNTS)}")
    shape, device = model_of(model), hardware.get(on)
    bits = one_format(shape, dtype).bits
    count = EventCount(ways_across(grid))
    for block in shape.blocks:
        for m in block.matrices(shape.hidden):
            count.matrix(m, batch, bits)
        count.matrix(Matrix("norms", block.vectors(shape.hidden), 1), batch, bits)
        cache = Tally()
        cache.cache(block.attention, context + 1)
        for _ in range(batch):  # each sequence reads its own
            for _ in range(int(copies_of(block.attention, tp))):  # chips read the same
                count.read(cache.numbers, bits)
            count.flops += 2 * cache.macs
    norms = (shape.final_norm + shape.embedding_norm) * shape.hidden
    count.matrix(Matrix("norms", norms, 1), batch, bits)
    count.matrix(
        Matrix("output", shape.hidden, shape.vocab, shape.head_bias), batch, bits
    )
    joules = {}
    for stage in PATHS[account](device):
        if stage.kind == "wire":  # by the length that each sector went
            metres = die_area(device).si ** 0.5 * count.crossed
            joules[stage.name] = wire_energy().si * 8 * SECTOR * metres
        else:
            each = stage.energy.si * 8 * SECTOR
            joules[stage.name] = each * stage.times * count.sectors
    joules["arithmetic"] = operation_energy(device, account).si * count.flops
    return joules

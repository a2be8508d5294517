"""A launch from a few waves of blocks: replayed until steady, the rest extrapolated.

A multiprocessor that has more blocks to run than fit begins one whenever one ends.
After the first wave, that of blocks that began together, the time from a block's begin
to that of the block as many later as are resident settles: what a wave takes. Whole
waves left out take that long each.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from stacklib.quantity.bounds import whole

from .replay import Replayed

WAVES = 3  # that are replayed: one to fill, one that is steady, one to empty


@dataclass(frozen=True, slots=True)
class Launch:
    """Cycles of the busiest multiprocessor of a launch."""

    replayed: Replayed = field(repr=False)
    blocks: int  # of the busiest multiprocessor
    wave: float  # cycles of a steady wave
    cycles: float
    # Least cycles of each port for the blocks that were replayed.
    bounds: Mapping[str, float] = field(repr=False)

    @property
    def share(self) -> float:
        """Share of its blocks that was replayed, the rest being extrapolated."""
        return self.replayed.streams.blocks / self.blocks

    @property
    def seconds(self) -> float:
        """Time at the machine's clock."""
        return self.cycles / self.replayed.machine.clock


def busiest(blocks: int, units: int) -> int:
    """Blocks of the multiprocessor that has most."""
    whole(blocks=blocks, units=units)
    return -(-blocks // units)


def blocks_to_replay(
    blocks: int, units: int, resident: int, waves: int = WAVES, least: int = 1
) -> int:
    """How many blocks to record so that whole waves are left out, or none.

    ``blocks``: of the launch; ``resident``: at once on one multiprocessor; ``least``:
    blocks to replay, in as many more waves as they need.
    """
    whole(resident=resident, waves=waves)
    here = busiest(blocks, units)
    waves = max(waves, -(-least // resident))
    if here <= waves * resident:
        return here
    return (waves - 1) * resident + (here - 1) % resident + 1


def extrapolate(done: Replayed, blocks: int, units: int) -> Launch:
    """The launch that so many blocks of a replay are the beginning of.

    ValueError when more were replayed than the multiprocessor has.
    """
    here, known = busiest(blocks, units), done.streams.blocks
    if known > here:
        raise ValueError(f"{known} blocks were replayed of {here}: record fewer")
    wave = _wave(done)
    left = (here - known) / done.resident
    return Launch(done, here, wave, done.cycles + left * wave, done.bounds)


def _wave(done: Replayed) -> float:
    """Cycles of a wave: of the last that began while the unit was full.

    Never less than its busiest port needs, whatever is left in a queue when it ends.
    """
    begin, resident = done.begin, done.resident
    later = range(resident, len(begin))
    if not later:
        return float(done.cycles)
    last = later[-min(resident, len(later)) :]
    wave = sum(float(begin[b] - begin[b - resident]) for b in last) / len(last)
    return max(wave, max(done.bounds.values()) * resident / len(begin))

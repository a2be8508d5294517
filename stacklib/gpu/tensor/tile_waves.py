"""Tiles and waves: why a matrix product keeps fewer units busy than there are.

A result is cut into tiles, one thread block each. Tiles at the edge are computed whole
and used in part; the last wave of blocks leaves units idle. Both are whole-number
effects, known as tile and wave quantization (NVIDIA, *Matrix multiplication background
user's guide*). ``tile_waves`` is the closed form, ``run_blocks`` hands the blocks to
units one by one and counts.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from stacklib.quantity import ceil
from stacklib.quantity.bounds import above_zero, whole

__all__ = ["BlocksRun", "TileWaves", "run_blocks", "tile_waves"]


@dataclass(frozen=True, slots=True)
class TileWaves:
    """How a product fills a device's units."""

    blocks: Any  # thread blocks
    waves: Any  # how many times the units are handed one each
    tile_share: Any  # of the computed tiles, the share that is asked for
    wave_share: Any

    @property
    def share(self) -> Any:
        """Of the units' peak, the share that can be useful."""
        return self.tile_share * self.wave_share


def tile_waves(
    *, m: Any, n: Any, rows: Any, columns: Any, units: Any, at_once: Any = 1
) -> TileWaves:
    """The share of a device's peak that tiles and waves leave.

    Parameters
    ----------
    m, n : int, Quantity or array
        Rows and columns of the result.
    rows, columns : int, Quantity or array
        Those of a tile.
    units : int, Quantity or array
        Compute units.
    at_once : int, Quantity or array
        Blocks that a unit runs at a time.

    Raises
    ------
    ValueError
        For a number that is not above zero.

    Examples
    --------
    >>> tile_waves(m=4096, n=4096, rows=128, columns=256, units=132).waves
    4
    """
    above_zero(m=m, n=n, rows=rows, columns=columns, units=units, at_once=at_once)
    blocks = ceil(m / rows) * ceil(n / columns)
    waves = ceil(blocks / (units * at_once))
    tiles = m * n / (blocks * rows * columns)
    return TileWaves(blocks, waves, tiles, blocks / (waves * units * at_once))


@dataclass(frozen=True, slots=True)
class BlocksRun:
    """What happened to a list of blocks."""

    time: float  # when the last block was done
    busy: float  # Unit-times that computed, summed
    by_unit: tuple[int, ...]  # blocks that each place took

    @property
    def share(self) -> float:
        """Of the places' time until the end, the share that computed."""
        return self.busy / (self.time * len(self.by_unit))


def run_blocks(times: Iterable[float], places: int) -> BlocksRun:
    """Blocks handed out in order, each to the place that is free first."""
    whole(places=places)
    free = [(0.0, place) for place in range(places)]
    taken, busy, last = [0] * places, 0.0, 0.0
    for time in times:
        if not time > 0:
            raise ValueError(f"a block takes {time!r}: above zero is needed")
        start, place = heapq.heappop(free)
        taken[place] += 1
        busy += time
        last = max(last, start + time)
        heapq.heappush(free, (start + time, place))
    if not last:
        raise ValueError("no blocks: nothing runs")
    return BlocksRun(last, busy, tuple(taken))

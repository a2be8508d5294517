"""Where a thread lives: from its index in the grid to a lane of a partition of a unit.

CUDA's numbering (CUDA C++ Programming Guide, thread hierarchy): x varies fastest. Warps
are 32 threads in that order; a warp group is four warps, the first of which has a
number divisible by four (PTX ISA). A warp keeps to one partition of its unit: NVIDIA
says that warps are assigned once (developer forum, SM sub-partitions); microbenchmarks
find warp number modulo four (Jia et al. 2018). Blocks are dealt to the units in turn;
where that differs from a chip is said in `fill`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from stacklib.quantity import ceil, minimum
from stacklib.quantity.bounds import at_least, is_whole, whole

from ..issue.occupancy import MOST_THREADS, WARP, partitions_of

__all__ = [
    "Filling",
    "Place",
    "Seat",
    "check_launch",
    "deal_blocks",
    "fill",
    "number_threads",
    "place_of",
    "seat_of",
]

GROUP = 4  # warps of a warp group
MOST_BLOCK = (MOST_THREADS, MOST_THREADS, 64)
MOST_GRID = (2**31 - 1, 65535, 65535)
Size = int | Sequence[int]


@dataclass(frozen=True, slots=True)
class Place:
    """Where in its block a thread is."""

    thread: int  # number in the block, x fastest
    warp: int  # which warp of the block
    lane: int
    group: int  # which warp group of the block
    partition: int


@dataclass(frozen=True, slots=True)
class Seat:
    """Where a block runs: wave, unit, and which of the unit's resident blocks it is."""

    wave: int
    unit: int
    slot: int


@dataclass(frozen=True, slots=True)
class Filling:
    """What a launch fills, in closed form."""

    warps: Any  # of a block
    idle_lanes: Any  # lanes of a block's last warp without a thread
    waves: Any  # times the units are filled
    last_blocks: Any  # blocks of the last wave
    idle_units: Any  # units without a block in the last wave
    share: Any  # of the places for blocks, over all waves, the share that has one


def _sizes(name: str, given: Size) -> tuple[int, int, int]:
    sizes: list[Any] = list(given) if isinstance(given, list | tuple) else [given]
    good = all(is_whole(n) and n > 0 for n in sizes)
    if not good or not 1 <= len(sizes) <= 3:
        raise ValueError(f"{name} = {given!r}: one to three whole numbers from 1")
    full = (*sizes, 1, 1)
    return full[0], full[1], full[2]


def _within(name: str, sizes: tuple[int, ...], most: tuple[int, ...]) -> None:
    for axis, n, limit in zip("xyz", sizes, most, strict=True):
        if n > limit:
            raise ValueError(f"{name}.{axis} = {n:,}: at most {limit:,}")


def check_launch(
    grid: Size, block: Size
) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
    """Sizes of a launch, x y z, held to CUDA's limits."""
    blocks, threads = _sizes("grid", grid), _sizes("block", block)
    count = threads[0] * threads[1] * threads[2]
    if count > MOST_THREADS:
        raise ValueError(f"block = {block!r}: {count:,} threads > {MOST_THREADS:,}")
    _within("block", threads, MOST_BLOCK)
    _within("grid", blocks, MOST_GRID)
    return blocks, threads


def place_of(thread: Sequence[int], block: Size, *, device: str = "h100-sxm") -> Place:
    """Where a thread is, from its index.

    Parameters
    ----------
    thread : sequence of int
        Its index, x first; what is left out is 0.
    device : str
        Whose partitions its warp is dealt to.

    Raises
    ------
    ValueError
        For a block that may not be, or an index outside it.

    Examples
    --------
    >>> place_of((3, 2), (16, 16))
    Place(thread=35, warp=1, lane=3, group=0, partition=1)
    """
    _, size = check_launch(1, block)
    at = (*thread, 0, 0, 0)[:3]
    if any(not 0 <= i < n for i, n in zip(at, size, strict=True)):
        raise ValueError(f"thread {tuple(thread)!r} is not in a block of {size}")
    linear = at[0] + size[0] * (at[1] + size[1] * at[2])
    warp = linear // WARP
    part = warp % partitions_of(device)
    return Place(linear, warp, linear % WARP, warp // GROUP, part)


def number_threads(block: Size) -> Iterator[tuple[tuple[int, int, int], Place]]:
    """Every thread of a block with its place, counted off one after the other."""
    _, size = check_launch(1, block)
    thread = warp = lane = 0
    for z in range(size[2]):
        for y in range(size[1]):
            for x in range(size[0]):
                group, partition = divmod(warp, GROUP)
                yield (x, y, z), Place(thread, warp, lane, group, partition)
                thread, lane = thread + 1, lane + 1
                if lane == WARP:
                    warp, lane = warp + 1, 0


def seat_of(block: int, *, units: int, at_once: int = 1) -> Seat:
    """Where a block of this number runs, when blocks are dealt in turn."""
    whole(0, block=block)
    whole(units=units, at_once=at_once)
    wave, rest = divmod(block, units * at_once)
    return Seat(wave, rest % units, rest // units)


def deal_blocks(blocks: int, *, units: int, at_once: int = 1) -> list[list[int]]:
    """Blocks that each unit has in each wave, dealt out one by one."""
    whole(blocks=blocks, units=units, at_once=at_once)
    waves: list[list[int]] = []
    free = 0
    for number in range(blocks):
        if not free:
            waves.append([0] * units)
            free = units * at_once
        waves[-1][number % units] += 1
        free -= 1
    return waves


def fill(*, threads: Any, blocks: Any, units: Any, at_once: Any = 1) -> Filling:
    """What a launch leaves empty: lanes of the last warp, units of the last wave.

    Waves in lockstep, dealt in turn. A chip hands out a block as soon as there is room,
    and fills its clusters of units before it comes back to the first.

    Parameters
    ----------
    threads, blocks : number or array
        Of a block; of the grid.
    units, at_once : number or array
        Compute units; blocks resident on a unit.

    Raises
    ------
    ValueError
        For a number below 1.

    Examples
    --------
    >>> found = fill(threads=100, blocks=133, units=132, at_once=1)
    >>> found.warps, found.idle_lanes, found.waves, found.idle_units
    (4, 28, 2, 131)
    """
    at_least(1, threads=threads, blocks=blocks, units=units, at_once=at_once)
    warps = ceil(threads / WARP)
    places = units * at_once
    waves = ceil(blocks / places)
    last = blocks - (waves - 1) * places
    return Filling(
        warps,
        warps * WARP - threads,
        waves,
        last,
        units - minimum(last, units),
        blocks / (waves * places),
    )

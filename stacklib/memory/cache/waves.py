"""Blocks that run in waves and read streams: what a cache under them still holds.

A chip runs so many blocks at once, step by step; when they are done, the next wave
starts. Each block reads streams from end to end: the keys and values of a head, or a
band of rows and a band of columns. Blocks of a wave that read the same stream read it
at the same time, so it comes from memory once. What the next wave finds depends on
how much was read in between: its reuse distance, in bytes, against the capacity.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeAlias

from stacklib.quantity.bounds import above_zero, at_least, whole

if TYPE_CHECKING:
    from numpy.typing import NDArray


L2_WAYS = 16  # lines of a set of an L2: an assumption, no vendor of GPUs prints it

Block: TypeAlias = Sequence[Hashable]  # the streams that a block reads


@dataclass(frozen=True, slots=True)
class Reads:
    """Bytes that blocks asked for, and those that came from memory."""

    asked: float  # bytes read by all blocks
    missed: float  # those the cache did not hold

    @property
    def hit_rate(self) -> float:
        """Share of the bytes that the cache held."""
        return 1 - self.missed / self.asked


def waves(blocks: Iterable[Block], at_once: int) -> list[list[Block]]:
    """Blocks in the order they start, ``at_once`` of them together."""
    whole(at_once=at_once)
    left = iter(blocks)
    found = []
    while wave := list(islice(left, at_once)):
        found.append(wave)
    if not found:
        raise ValueError("no blocks: nothing is read")
    return found


def wave_reads(
    blocks: Iterable[Block],
    size: Callable[[Hashable], float],  # bytes of a stream
    *,
    at_once: int,
    capacity: float,  # bytes of the cache
    own_read: float = 0.0,
    own_written: float = 0.0,
) -> Reads:
    """Bytes from memory under a fully associative LRU cache, without running it.

    A stream that was last read in wave v and is read again in wave w has, at the share
    x of its length, a distance of: what v still read after x, everything between, and
    what w has read before x. That is linear in x, so the share of the stream that is
    still there is a quotient.
    """
    above_zero(capacity=capacity)
    at_least(0, own_read=own_read, own_written=own_written)
    running = waves(blocks, at_once)
    held = [dict.fromkeys(s for block in wave for s in block) for wave in running]
    asked = sum(size(s) for wave in running for block in wave for s in block)
    starts = own_read * sum(map(len, running))
    missed = starts
    last: dict[Hashable, int] = {}
    for w, streams in enumerate(held):
        for s in streams:
            if s not in last:
                missed += size(s)
                continue
            v = last[s]
            between = set().union(*held[v + 1 : w])
            always = sum(map(size, between))
            always += own_written * sum(map(len, running[v:w]))
            always += own_read * sum(map(len, running[v + 1 : w + 1]))
            after = always + sum(size(t) for t in held[v] if t not in between)
            before = always + sum(size(t) for t in streams if t not in between)
            missed += size(s) * (1 - _share_below(after, before, capacity))
        last.update(dict.fromkeys(streams, w))
    return Reads(asked + starts, missed)


def _share_below(start: float, end: float, bound: float) -> float:
    """Share of a straight line from ``start`` to ``end`` that lies within ``bound``."""
    if max(start, end) <= bound:
        return 1.0
    if min(start, end) > bound:
        return 0.0
    return (bound - min(start, end)) / abs(end - start)


def stream_trace(
    blocks: Iterable[Block],
    *,
    at_once: int,
    steps: int,
    tile: int,  # bytes of a tile; streams lie one behind the other
) -> NDArray[Any]:
    """Byte addresses of the tiles that waves of blocks read, step by step."""
    import numpy as np

    whole(steps=steps, tile=tile)
    number: dict[Hashable, int] = {}
    parts = []
    for wave in waves(blocks, at_once):
        named = [[number.setdefault(s, len(number)) for s in block] for block in wave]
        starts = np.array(named, dtype=np.int64).ravel() * steps
        parts.append((np.arange(steps)[:, None] + starts).ravel())
    return np.concatenate(parts) * tile

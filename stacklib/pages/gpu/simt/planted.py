"""Four kernels with a bug each, as everybody has written them once.

The machine refuses each with a message that names lane, address and line. They are
here to be run and read, not to be used.
"""

from __future__ import annotations

from typing import Any

T = Any


def off_the_end(t: T, src: T, dst: T) -> None:
    """Adds each element to its neighbour; the last one has none."""
    i = t.block.x * t.block_dim.x + t.thread.x
    dst[i] = src[i] + src[i + 1]


def no_barrier(t: T, src: T, dst: T) -> None:
    """Reverses a block through shared memory, and does not wait for it to be filled."""
    tile = t.shared(256)
    tile[t.thread.x] = src[t.block.x * 256 + t.thread.x]
    dst[t.block.x * 256 + t.thread.x] = tile[255 - t.thread.x]


def barrier_for_some(t: T, src: T, dst: T) -> None:
    """All read what half of them wrote; only that half comes by the barrier."""
    tile = t.shared(256)
    if t.thread.x % 2 == 0:
        tile[t.thread.x] = src[t.block.x * 256 + t.thread.x]
        t.sync()
    dst[t.block.x * 256 + t.thread.x] = tile[t.thread.x // 2 * 2]


def two_barriers(t: T, src: T, dst: T) -> None:
    """Two warps wait for each other, each at a barrier of its own."""
    if t.warp == 0:
        t.bar_sync(1, 64)
    elif t.warp == 1:
        t.bar_sync(2, 64)
    dst[t.block.x * 256 + t.thread.x] = src[t.block.x * 256 + t.thread.x]


BUGS = (off_the_end, no_barrier, barrier_for_some, two_barriers)

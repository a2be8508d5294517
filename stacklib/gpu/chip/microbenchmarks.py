"""Kernels that people publish numbers of: streams, repeated reads, pointer chases.

Each loads what its name says and does as little besides as the published ones do; a sum
that is never stored would be compiled away, so one is stored where it cannot matter.
"""

from __future__ import annotations

from typing import Any

T = Any  # a Thread; what a kernel indexes and computes differs by lane
NEVER = -1.0  # no sum of theirs


def stream_read(t: T, a: T, out: T) -> None:
    """Reads an element a thread."""
    i = t.block.x * t.block_dim.x + t.thread.x
    if a[i] == NEVER:
        out[0] = a[i]


def stream_read_wide(t: T, a: T, out: T) -> None:
    """Reads four elements a thread, all on their way before the first is used."""
    i = t.block.x * t.block_dim.x * 4 + t.thread.x
    first, second = a[i], a[i + t.block_dim.x]
    third, fourth = a[i + 2 * t.block_dim.x], a[i + 3 * t.block_dim.x]
    if first + second + third + fourth == NEVER:
        out[0] = first


def stream_scale(t: T, a: T, b: T) -> None:
    """``b = 2 a``."""
    i = t.block.x * t.block_dim.x + t.thread.x
    b[i] = 2 * a[i]


def stream_triad(t: T, a: T, b: T, c: T) -> None:
    """``c = a + 2 b``."""
    i = t.block.x * t.block_dim.x + t.thread.x
    c[i] = a[i] + 2 * b[i]


def read_segments(t: T, a: T, out: T, segments: int) -> None:
    """Blocks read segments of two elements a thread; after the last, the first."""
    i = t.block.x % segments * t.block_dim.x * 2 + t.thread.x
    first, second = a[i], a[i + t.block_dim.x]
    if first + second == NEVER:
        out[0] = first


def read_rounds(t: T, a: T, out: T, pairs: int, rounds: int) -> None:
    """Every block reads the same ``2 pairs`` elements a thread, again and again."""
    total = 0.0
    for _ in range(rounds):
        for k in range(pairs):
            i = 2 * k * t.block_dim.x + t.thread.x
            first, second = a[i], a[i + t.block_dim.x]
            total = total + first + second
    if total == NEVER:
        out[0] = total


def chase(t: T, ring: T, out: T, steps: int) -> None:
    """Each load gives the address of the next: nothing can overlap."""
    i = t.thread.x
    for _ in range(steps):
        i = ring[i]
    out[t.thread.x] = i


def chase_shared(t: T, ring: T, out: T, steps: int, count: int) -> None:
    """The same in shared memory, once the ring is there."""
    own = t.shared(count, int)
    for k in range(count):
        own[k] = ring[k]
    i = t.thread.x
    for _ in range(steps):
        i = own[i]
    out[t.thread.x] = i

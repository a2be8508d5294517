"""Sums: trees in shared memory, shuffles, atomics, several a thread."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

T = Any  # a Thread; what a kernel indexes and computes differs by lane
Kernel = Callable[..., None]


def halving(t: T, s: T, last: int) -> None:
    """The first half adds the second, down to ``last`` threads."""
    active = t.block_dim.x // 2
    while active > last:
        if t.thread.x < active:
            s[t.thread.x] = s[t.thread.x] + s[t.thread.x + active]
        t.sync()
        active = active // 2


def last_warp(t: T, s: T) -> None:
    """The last 64 sums by one warp, without barriers of the block."""
    for active in (32, 16, 8, 4, 2, 1):
        if t.thread.x < active:
            s[t.thread.x] = s[t.thread.x] + s[t.thread.x + active]
        t.syncwarp()


def warp_sum(t: T, value: T, lanes: int = 32) -> T:
    """A sum over a warp, or its part, by shuffles; right in the first lane."""
    k = lanes // 2
    while k:
        value = value + t.shuffle_down(value, k, lanes)
        k = k // 2
    return value


def grid_stride(unrolled: bool) -> Kernel:
    """The author's first two: a loop over the grid, then a tree."""

    def kernel(t: T, src: T, out: T, n: int) -> None:
        s = t.shared(t.block_dim.x, np.int32)
        total = 0
        i = t.block.x * t.block_dim.x + t.thread.x
        while i < n:
            total = total + src[i]
            i = i + t.block_dim.x * t.grid_dim.x
        s[t.thread.x] = total
        t.sync()
        halving(t, s, 32 if unrolled else 0)
        if unrolled:
            last_warp(t, s)
        if t.thread.x == 0:
            out[t.block.x] = s[0]

    return kernel


def several_a_thread(count: int, width: int, end: str) -> Kernel:
    """``count`` neighbours a thread by loads of ``width``; ``end``: how a warp ends."""

    def kernel(t: T, src: T, out: T, n: int) -> None:
        s = t.shared(t.block_dim.x, np.int32)
        total = 0
        first = (t.block.x * t.block_dim.x + t.thread.x) * count
        for i in range(0, count, width):
            if first + i < n:
                if width == 1:
                    total = total + src[first + i]
                else:
                    a, b, c, d = t.load(src, first + i, 4)
                    total = total + (a + b + c + d)
        s[t.thread.x] = total
        t.sync()
        halving(t, s, 32)
        if end == "tree":
            last_warp(t, s)
            if t.thread.x == 0:
                t.atomic_add(out, 0, s[0])
        else:
            if t.thread.x < 32:
                total = s[t.thread.x] + s[t.thread.x + 32]
                total = warp_sum(t, total) if end == "shuffle" else t.reduce_add(total)
                if t.thread.x == 0:
                    t.atomic_add(out, 0, total)

    return kernel


def four_atomically(t: T, src: T, out: T, n: int) -> None:
    """Four numbers a thread; every thread adds atomically."""
    i = t.block.x * t.block_dim.x + t.thread.x
    if i < n:
        a, b, c, d = t.load(src, i * 4, 4)
        t.atomic_add(out, 0, a + b + c + d)


def interleaved(t: T, src: T, out: T, n: int) -> None:
    """Every other thread adds, then every fourth."""
    s = t.shared(t.block_dim.x)
    x = t.thread.x
    s[x] = src[t.block.x * t.block_dim.x + x]
    t.sync()
    k = 1
    while k < t.block_dim.x:
        if x % (2 * k) == 0:
            s[x] = s[x] + s[x + k]
        t.sync()
        k = k * 2
    if x == 0:
        t.atomic_add(out, 0, s[0])


def packed(t: T, src: T, out: T, n: int) -> None:
    """The same sums by neighbouring threads: no warp parts, banks conflict."""
    s = t.shared(t.block_dim.x)
    x = t.thread.x
    s[x] = src[t.block.x * t.block_dim.x + x]
    t.sync()
    k = 1
    while k < t.block_dim.x:
        if 2 * k * x < t.block_dim.x:
            s[2 * k * x] = s[2 * k * x] + s[2 * k * x + k]
        t.sync()
        k = k * 2
    if x == 0:
        t.atomic_add(out, 0, s[0])


def tree(twice: bool, atomic: bool = True, unrolled: bool = False) -> Kernel:
    """The first half adds; ``twice``: a thread adds two while it loads."""

    def kernel(t: T, src: T, out: T, n: int) -> None:
        s = t.shared(t.block_dim.x)
        x, wide = t.thread.x, t.block_dim.x
        i = t.block.x * wide * (2 if twice else 1) + x
        if twice:
            s[x] = src[i] + src[i + wide]
        else:
            s[x] = src[i]
        t.sync()
        halving(t, s, 32 if unrolled else 0)
        if unrolled:
            last_warp(t, s)
        if x == 0:
            if atomic:
                t.atomic_add(out, 0, s[0])
            else:
                out[t.block.x] = s[0]

    return kernel


def shuffled(width: int) -> Kernel:
    """Warps by shuffles, then the first warp: ``width`` numbers a thread."""

    def kernel(t: T, src: T, out: T, n: int) -> None:
        s = t.shared(32)
        i = (t.block.x * t.block_dim.x + t.thread.x) * width
        total = 0.0
        if i < n:
            if width == 1:
                total = src[i]
            else:
                a, b, c, d = t.load(src, i, 4)
                total = a + b + c + d
        total = warp_sum(t, total)
        if t.lane == 0:
            s[t.warp] = total
        t.sync()
        if t.warp == 0:
            total = s[t.lane] if t.lane < t.block_dim.x // 32 else 0.0
            total = warp_sum(t, total)
            if t.lane == 0:
                out[t.block.x] = total

    return kernel

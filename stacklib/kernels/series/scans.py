"""Prefix sums: within blocks, in three launches, and looking back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

T = Any  # a Thread; what a kernel indexes and computes differs by lane
Kernel = Callable[..., None]
AGGREGATE, PREFIX = 1, 2  # what a tile has told of itself; 0 is nothing


def in_memory(t: T, src: T, dst: T, n: int) -> None:
    """A block's steps of doubling distance, in global memory."""
    x = t.thread.x
    i = t.block.x * t.block_dim.x + x
    dst[i] = src[i]
    t.sync()
    k = 1
    while k <= t.block_dim.x // 2:
        before = 0
        if x >= k:
            before = dst[i - k]
        t.sync()
        if x >= k and i < n:
            dst[i] = dst[i] + before
        t.sync()
        k = k * 2


def one_buffer(t: T, src: T, dst: T, n: int) -> None:
    """The same in shared memory, with two barriers a step."""
    s = t.shared(t.block_dim.x, np.int32)
    x = t.thread.x
    i = t.block.x * t.block_dim.x + x
    s[x] = src[i]
    t.sync()
    k = 1
    while k <= t.block_dim.x // 2:
        before = 0
        if x >= k:
            before = s[x - k]
        t.sync()
        if x >= k and i < n:
            s[x] = s[x] + before
        t.sync()
        k = k * 2
    if i < n:
        dst[i] = s[x]


def two_buffers(tells: bool) -> Kernel:
    """From one buffer to another, one barrier a step; ``tells``: sums of blocks too."""

    def body(t: T, src: T, dst: T, n: int, sums: T) -> None:
        wide = t.block_dim.x
        s = t.shared(2 * wide, np.int32)
        x = t.thread.x
        i = t.block.x * wide + x
        s[x] = src[i] if i < n else 0
        t.sync()
        k, at = 1, 0
        while k < wide:
            own = s[at + x]
            if x >= k:
                own = own + s[at + x - k]
            at = wide - at
            s[at + x] = own
            t.sync()
            k = k * 2
        if i < n:
            dst[i] = s[at + x]
        if tells and x == wide - 1:
            sums[t.block.x] = s[at + x]

    def kernel(t: T, src: T, dst: T, n: int) -> None:
        body(t, src, dst, n, dst)

    def telling(t: T, src: T, dst: T, n: int, sums: T) -> None:
        body(t, src, dst, n, sums)

    return telling if tells else kernel


def of_warp(t: T, value: T) -> T:
    """Sums up to and with each lane."""
    for k in (1, 2, 4, 8, 16):
        before = t.shuffle_up(value, k)
        if t.lane >= k:
            value = value + before
    return value


def of_block(t: T, value: T) -> T:
    """Sums up to and with each thread of a block."""
    totals = t.shared(t.block_dim.x // 32, np.int32)
    warps = t.block_dim.x // 32
    value = of_warp(t, value)
    if t.lane == 31:
        totals[t.warp] = value
    t.sync()
    if t.warp == 0:
        total = 0
        if t.lane < warps:
            total = totals[t.lane]
        total = of_warp(t, total)
        if t.lane < warps:
            totals[t.lane] = total
    t.sync()
    if t.warp > 0:
        value = value + totals[t.warp - 1]
    return value


def by_shuffles(t: T, src: T, dst: T, n: int) -> None:
    """One element a thread, warps by shuffles."""
    i = t.block.x * t.block_dim.x + t.thread.x
    total = of_block(t, src[i])
    if i < n:
        dst[i] = total


def four_a_thread(t: T, src: T, dst: T, n: int) -> None:
    """Four neighbours a thread, one by one."""
    first = (t.block.x * t.block_dim.x + t.thread.x) * 4
    kept = [0, 0, 0, 0]
    total = 0
    for i in range(4):
        if first + i < n:
            total = total + src[first + i]
            kept[i] = total
    before = of_block(t, total) - total
    for i in range(4):
        if first + i < n:
            dst[first + i] = before + kept[i]


def tile_by_shuffles(t: T, src: T, dst: T, n: int, sums: T) -> None:
    """A tile's prefix sums, and its sum for the next launch."""
    i = t.block.x * t.block_dim.x + t.thread.x
    value = 0
    if i < n:
        value = src[i]
    total = of_block(t, value)
    if i < n:
        dst[i] = total
    if t.thread.x == t.block_dim.x - 1:
        sums[t.block.x] = total


def add_before(t: T, dst: T, n: int, sums: T) -> None:
    """What all tiles before hold is added to each element."""
    i = t.block.x * t.block_dim.x + t.thread.x
    if t.block.x > 0 and i < n:
        dst[i] = dst[i] + sums[t.block.x - 1]


def claimed(t: T, counter: T) -> T:
    """The next tile that nobody has: order does not hang on the hardware."""
    mine = t.shared(1, np.int32)
    if t.thread.x == 0:
        mine[0] = t.atomic_add(counter, 0, 1)
    t.sync()
    return mine[0]


def chained(t: T, src: T, dst: T, n: int, sums: T, ready: T, counter: T) -> None:
    """Every tile waits for the one before it."""
    before = t.shared(1, np.int32)
    tile = claimed(t, counter)
    i = tile * t.block_dim.x + t.thread.x
    value = 0
    if i < n:
        value = src[i]
    value = of_block(t, value)
    if t.thread.x == t.block_dim.x - 1:
        earlier = 0
        if tile > 0:
            while t.atomic_add(ready, tile - 1, 0) == 0:
                pass
            earlier = sums[tile - 1]
        before[0] = earlier
        sums[tile] = earlier + value
        t.fence()
        t.atomic_exch(ready, tile, 1)
    t.sync()
    if i < n:
        dst[i] = before[0] + value


def told(t: T, tiles: T, at: T, status: T, value: T) -> None:
    """Status and value of a tile in one word of 64 bits, so that none is torn."""
    word = (t.to(np.int64, status) << 32) + t.to(np.int64, value)
    t.atomic_exch(tiles, at, word)
    t.fence()


def looked_back_alone(t: T, tiles: T, tile: T, total: T) -> T:
    """One thread walks back to the last tile that knows its prefix."""
    told(t, tiles, tile, AGGREGATE if tile > 0 else PREFIX, total)
    before = t.to(np.int32, 0)
    at = tile - 1
    while at >= 0:
        word = t.atomic_add(tiles, at, 0)
        while word >> 32 == 0:
            word = t.atomic_add(tiles, at, 0)
        before = before + t.to(np.int32, word & 0xFFFFFFFF)
        if word >> 32 == PREFIX:
            break
        at = at - 1
    if tile > 0:
        told(t, tiles, tile, PREFIX, before + total)
    return before


def looked_back(t: T, tiles: T, tile: T, total: T) -> T:
    """A warp asks 32 tiles at a time."""
    if t.lane == 0:
        told(t, tiles, tile, AGGREGATE if tile > 0 else PREFIX, total)
    t.syncwarp()
    before = t.to(np.int32, 0)
    if tile > 0:
        at = tile - 1 - t.lane
        found = False
        while not found:
            value, status = t.to(np.int32, 0), t.to(np.int64, PREFIX)
            if at >= 0:
                word = t.atomic_add(tiles, at, 0)
                while word >> 32 == 0:
                    word = t.atomic_add(tiles, at, 0)
                value, status = t.to(np.int32, word & 0xFFFFFFFF), word >> 32
            known = t.ballot(status == PREFIX)
            first = t.ffs(known) - 1
            part = t.to(np.int32, 0)
            if first < 0 or t.lane <= first:
                part = value
            for k in (16, 8, 4, 2, 1):
                part = part + t.shuffle_xor(part, k)
            before = before + part
            found = first >= 0
            at = at - 32
        if t.lane == 0:
            told(t, tiles, tile, PREFIX, before + total)
    return before


def single_pass(by_warp: bool) -> Kernel:
    """One launch: a tile tells its sum at once and looks back for its prefix."""

    def kernel(t: T, src: T, dst: T, n: int, tiles: T, counter: T) -> None:
        shared = t.shared(2, np.int32)
        tile = claimed(t, counter)
        i = tile * t.block_dim.x + t.thread.x
        value = 0
        if i < n:
            value = src[i]
        value = of_block(t, value)
        if t.thread.x == t.block_dim.x - 1:
            shared[0] = value
        t.sync()
        if by_warp:
            if t.warp == 0:
                before = looked_back(t, tiles, tile, shared[0])
                if t.lane == 0:
                    shared[1] = before
        elif t.thread.x == 0:
            shared[1] = looked_back_alone(t, tiles, tile, shared[0])
        t.sync()
        if i < n:
            dst[i] = shared[1] + value

    return kernel


def single_pass_wide(loads: int) -> Kernel:
    """The same with ``loads`` loads of 16 bytes a thread, exchanged to neighbours."""
    items = loads * 4

    def kernel(t: T, src: T, dst: T, n: int, tiles: T, counter: T) -> None:
        shared = t.shared(2, np.int32)
        wide, x = t.block_dim.x, t.thread.x
        swap = t.shared(wide * items, np.int32)
        tile = claimed(t, counter)
        first = tile * (wide * items)
        for v in range(loads):
            at = (x + v * wide) * 4
            four = (0, 0, 0, 0)
            if first + at + 3 < n:
                four = t.load(src, first + at, 4)
            t.store(swap, at, four)
        t.sync()
        own = [swap[x * items + i] for i in range(items)]
        t.sync()
        for i in range(1, items):
            own[i] = own[i] + own[i - 1]
        total = own[items - 1]
        before = of_block(t, total) - total
        for i in range(items):
            own[i] = own[i] + before
        if x == wide - 1:
            shared[0] = own[items - 1]
        t.sync()
        if t.warp == 0:
            prefix = looked_back(t, tiles, tile, shared[0])
            if t.lane == 0:
                shared[1] = prefix
        t.sync()
        prefix = shared[1]
        for i in range(items):
            swap[x * items + i] = own[i] + prefix
        t.sync()
        for v in range(loads):
            at = (x + v * wide) * 4
            four = t.load(swap, at, 4)
            if first + at + 3 < n:
                t.store(dst, first + at, four)

    return kernel

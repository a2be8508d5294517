"""Series of sums: trees in shared memory, shuffles, atomics, several a thread."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from stacklib import gpu

from .port import Port, Shape, Step, Steps, T, floats, whole

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


def _ends(n: int, each: int) -> int:
    return -(-n // each)


def _simveit(kernel: Kernel, items: int, twice: bool = False) -> Port:
    def steps(shape: Shape) -> Steps:
        (n,) = shape
        src, blocks = whole(n), _ends(n, 512 * items)
        out: Any
        if not twice:
            out = np.zeros(1, np.int32)
            left = yield Step(kernel, blocks, 512, (src, out, n), 24)
            return left["out"]
        out = gpu.empty(blocks, np.int32)
        left = yield Step(kernel, blocks, 512, (src, out, n), 20)
        last = gpu.empty(1, np.int32)
        left = yield Step(kernel, 1, 512, (left["out"], last, blocks), 20)
        return left["out"]

    def expected(shape: Shape) -> Any:
        return np.array([whole(*shape).sum()])

    return Port(
        steps,
        expected,
        lambda shape: 4.0 * shape[0],
        ((1 << 30,),),
        (512 * 12 * 3 - 96,),
    )


def _block_sums(
    kernel: Kernel, each: int, atomic: bool, blocks: tuple[int, ...], n: int
) -> Port:
    """``each``: numbers a thread; ``blocks``: threads that the author tries."""

    def steps(shape: Shape) -> Steps:
        n, threads = shape
        count = _ends(n, threads * each)
        out: Any = np.zeros(1, np.float32) if atomic else gpu.empty(count)
        given = n // each if kernel is four_atomically else n
        args = (floats(n), out, given)
        left = yield Step(kernel, count, threads, args, 20)
        return np.array([left["out"].astype(np.float64).sum()])

    def expected(shape: Shape) -> Any:
        return np.array([floats(shape[0]).astype(np.float64).sum()])

    shapes = tuple((n, threads) for threads in blocks)
    return Port(steps, expected, lambda s: 4.0 * s[0], shapes, (4096, 128))


def _skepticista() -> dict[str, Port]:
    tried, n = (64, 128, 256, 512, 1024), 1 << 25
    return {
        "1 Vector Loads": _block_sums(four_atomically, 4, True, tried, n),
        "2 Interleaved Addressing": _block_sums(interleaved, 1, True, tried, n),
        "3 Non-divergent Threads": _block_sums(packed, 1, True, tried, n),
        "4 Sequential Addressing": _block_sums(tree(False), 1, True, tried, n),
        "5 Reduce on First Loads": _block_sums(tree(True), 2, True, tried, n),
        "6 Warp Unrolling": _block_sums(tree(True, unrolled=True), 2, True, tried, n),
    }


def _ymlin() -> dict[str, Port]:
    n = 1 << 25
    return {
        "v2": _block_sums(tree(False, atomic=False), 1, False, (256,), n),
        "v3": _block_sums(tree(False), 1, True, (256,), n),
        "v4": _block_sums(shuffled(1), 1, False, (256,), n),
        "v5": _block_sums(shuffled(4), 4, False, (256,), n),
    }


PORTS = {
    "simveit-reduction": {
        "kernel_0": _simveit(grid_stride(False), 1, twice=True),
        "kernel_1": _simveit(grid_stride(True), 1, twice=True),
        "kernel_2": _simveit(several_a_thread(1, 1, "tree"), 1),
        "kernel_3": _simveit(several_a_thread(12, 1, "tree"), 12),
        "kernel_4": _simveit(several_a_thread(12, 4, "tree"), 12),
        "kernel_6": _simveit(several_a_thread(12, 1, "shuffle"), 12),
        "kernel_7": _simveit(several_a_thread(12, 1, "reduce"), 12),
        "kernel_8": _simveit(several_a_thread(12, 4, "shuffle"), 12),
        "kernel_9": _simveit(several_a_thread(12, 4, "reduce"), 12),
    },
    "ymlin-reduction": _ymlin(),
    "skepticista-reduction": _skepticista(),
}

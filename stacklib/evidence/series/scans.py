"""Series of prefix sums: what each row is launched on."""

from __future__ import annotations

from typing import Any

import numpy as np

from stacklib import gpu
from stacklib.kernels.series import scans as k
from stacklib.kernels.series.scans import Kernel

from .port import Port, Shape, Step, Steps, whole


def _by_blocks(kernel: Kernel, threads: int, items: int = 1) -> Port:
    def steps(shape: Shape) -> Steps:
        (n,) = shape
        args = (whole(n), gpu.empty(n, np.int32), n)
        left = yield Step(kernel, -(-n // (threads * items)), threads, args, 24)
        return left["dst"]

    def expected(shape: Shape) -> Any:
        parts = whole(*shape).reshape(-1, threads * items)
        return parts.cumsum(axis=1).reshape(-1)

    return Port(steps, expected, _bytes, ((1 << 30,),), (4 * threads * items,))


def _bytes(shape: Shape) -> float:
    return 8.0 * shape[0]


def _sums(shape: Shape) -> Any:
    return whole(*shape).cumsum()


def _launches(kernel: Kernel, src: Any, n: int, threads: int) -> Steps:
    """Tiles, then their sums in the same way, then both together."""
    tiles = -(-n // threads)
    args = (src, gpu.empty(n, np.int32), n, gpu.empty(tiles, np.int32))
    left = yield Step(kernel, tiles, threads, args, 20)
    dst = left["dst"]
    if tiles > 1:
        sums = yield from _launches(kernel, left["sums"], tiles, threads)
        left = yield Step(k.add_before, tiles, threads, (dst, n, sums), 16)
        dst = left["dst"]
    return dst


def _recursive(kernel: Kernel, threads: int, small: int) -> Port:
    def steps(shape: Shape) -> Steps:
        (n,) = shape
        return (yield from _launches(kernel, whole(n), n, threads))

    return Port(steps, _sums, _bytes, ((1 << 30,),), (small,))


def _one_launch(kernel: Kernel, items: int, blocks: int) -> Port:
    def steps(shape: Shape) -> Steps:
        (n,) = shape
        tiles = -(-n // (512 * items))
        src, dst = whole(n), gpu.empty(n, np.int32)
        counter: Any = np.zeros(1, np.int32)
        more: tuple[Any, ...]
        if kernel is k.chained:
            more = (gpu.empty(tiles, np.int32), np.zeros(tiles, np.int32), counter)
        else:
            more = (np.zeros(tiles, np.int64), counter)
        left = yield Step(kernel, tiles, 512, (src, dst, n, *more), 24 + 2 * items)
        return left["dst"]

    return Port(steps, _sums, _bytes, ((1 << 30,),), (512 * items * blocks,))


PORTS = {
    "simveit-scan": {
        "kernel_0": _by_blocks(k.in_memory, 512),
        "kernel_1": _by_blocks(k.one_buffer, 512),
        "kernel_2": _by_blocks(k.two_buffers(False), 256),
        "kernel_3": _by_blocks(k.by_shuffles, 256),
        "kernel_4": _by_blocks(k.four_a_thread, 128, 4),
    },
    "yencal-scan": {
        "Multi-kernel (SMEM)": _recursive(k.two_buffers(True), 512, 5 * 512 + 40),
        "Multi-kernel (Warp shuffle)": _recursive(
            k.tile_by_shuffles, 512, 5 * 512 + 40
        ),
        "Chained scan": _one_launch(k.chained, 1, 4),
        "Lookback (single-thread)": _one_launch(k.single_pass(False), 1, 4),
        "Lookback (warp)": _one_launch(k.single_pass(True), 1, 4),
        "Lookback (warp + vectorized x4)": _one_launch(k.single_pass_wide(1), 4, 3),
        "Lookback (warp + vectorized x8)": _one_launch(k.single_pass_wide(2), 8, 3),
        "Lookback (warp + vectorized x12)": _one_launch(k.single_pass_wide(3), 12, 3),
    },
}

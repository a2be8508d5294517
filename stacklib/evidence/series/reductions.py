"""Series of sums: what each row is launched on."""

from __future__ import annotations

from typing import Any

import numpy as np

from stacklib import gpu
from stacklib.kernels.series import reductions as k
from stacklib.kernels.series.reductions import Kernel

from .port import Port, Shape, Step, Steps, floats, whole


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
        given = n // each if kernel is k.four_atomically else n
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
        "1 Vector Loads": _block_sums(k.four_atomically, 4, True, tried, n),
        "2 Interleaved Addressing": _block_sums(k.interleaved, 1, True, tried, n),
        "3 Non-divergent Threads": _block_sums(k.packed, 1, True, tried, n),
        "4 Sequential Addressing": _block_sums(k.tree(False), 1, True, tried, n),
        "5 Reduce on First Loads": _block_sums(k.tree(True), 2, True, tried, n),
        "6 Warp Unrolling": _block_sums(k.tree(True, unrolled=True), 2, True, tried, n),
    }


def _ymlin() -> dict[str, Port]:
    n = 1 << 25
    return {
        "v2": _block_sums(k.tree(False, atomic=False), 1, False, (256,), n),
        "v3": _block_sums(k.tree(False), 1, True, (256,), n),
        "v4": _block_sums(k.shuffled(1), 1, False, (256,), n),
        "v5": _block_sums(k.shuffled(4), 4, False, (256,), n),
    }


PORTS = {
    "simveit-reduction": {
        "kernel_0": _simveit(k.grid_stride(False), 1, twice=True),
        "kernel_1": _simveit(k.grid_stride(True), 1, twice=True),
        "kernel_2": _simveit(k.several_a_thread(1, 1, "tree"), 1),
        "kernel_3": _simveit(k.several_a_thread(12, 1, "tree"), 12),
        "kernel_4": _simveit(k.several_a_thread(12, 4, "tree"), 12),
        "kernel_6": _simveit(k.several_a_thread(12, 1, "shuffle"), 12),
        "kernel_7": _simveit(k.several_a_thread(12, 1, "reduce"), 12),
        "kernel_8": _simveit(k.several_a_thread(12, 4, "shuffle"), 12),
        "kernel_9": _simveit(k.several_a_thread(12, 4, "reduce"), 12),
    },
    "ymlin-reduction": _ymlin(),
    "skepticista-reduction": _skepticista(),
}

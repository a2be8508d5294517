"""Kernels: every result equals NumPy, every count equals a closed form."""

import numpy as np
import pytest

from stacklib import hardware, memory
from stacklib.gpu.simt import kernels
from stacklib.gpu.simt.arguments import empty
from stacklib.gpu.simt.launcher import execute
from stacklib.gpu.simt.plan import dimensions

H100 = hardware.get("h100-sxm")


def launch(kernel, grid, block, *args):
    return execute(
        kernel, dimensions(grid, "grid"), dimensions(block, "block"), H100, args, True
    )


@pytest.mark.rows("n", [1, 32, 100, 256, 1000])
def test_copy(n):
    src = np.random.default_rng(n).random(n).astype(np.float32)
    blocks = -(-n // 128)
    ran = launch(kernels.copy, blocks, 128, src, empty(n), n)
    assert (ran.results["dst"] == src).all()
    assert ran.traffic.sectors == {"load": -(-n // 8), "store": -(-n // 8)}
    warps = -(-n // 32)
    assert ran.counters.warps["load_global"] == warps
    # A branch parts a warp only where the array ends within it.
    assert ran.counters.divergent == (n % 32 != 0)
    assert ran.counters.branches == blocks * 4


@pytest.mark.rows("stride", [1, 2, 3, 4, 7, 8, 16, 32, 33])
def test_strided_copy(stride):
    n = 512
    src = np.arange(n * stride, dtype=np.float32)
    ran = launch(kernels.strided_copy, 4, 128, src, empty(n), n, stride)
    assert (ran.results["dst"] == src[::stride]).all()
    per_warp = [
        memory.sectors(4 * stride * (32 * warp + lane) for lane in range(32))
        for warp in range(n // 32)
    ]
    assert ran.traffic.sectors["load"] == sum(per_warp)


def transposed(kernel, n, *rest):
    src = np.arange(n * n, dtype=np.float32).reshape(n, n)
    ran = launch(kernel, (n // 32, n // 32), (32, 8), src, empty((n, n)), *rest)
    assert (ran.results["dst"] == src.T).all()
    return ran


@pytest.mark.parametrize("n", [32, 96])
def test_transposes(n):
    rows = n * n // 32  # of 32 elements
    naive = transposed(kernels.transpose_naive, n)
    assert naive.traffic.sectors == {"load": 4 * rows, "store": 32 * rows}
    for kernel, rest, ways in (
        (kernels.transpose_tiled, (0,), 32),
        (kernels.transpose_tiled, (1,), 1),
        (kernels.transpose_swizzled, (), 1),
    ):
        ran = transposed(kernel, n, *rest)
        assert ran.traffic.sectors == {"load": 4 * rows, "store": 4 * rows}
        assert ran.traffic.passes == {"store": rows, "load": ways * rows}
        assert ran.counters.divergent == 0


@pytest.mark.rows("threads", [64, 256, 1024])
def test_reductions(threads):
    src = np.random.default_rng(1).random(4 * threads)
    expected = src.reshape(4, threads).sum(axis=1)
    warps, steps = threads // 32, threads.bit_length() - 1
    for kernel in (
        kernels.reduce_interleaved,
        kernels.reduce_sequential,
        kernels.reduce_shuffled,
    ):
        ran = launch(kernel, 4, threads, src, empty(4, np.float64))
        np.testing.assert_allclose(ran.results["out"], expected)
        parted = ran.counters.divergent
        if kernel is kernels.reduce_interleaved:
            # All warps part at distances within a warp, then ever fewer; and thread 0.
            assert parted == 4 * (5 * warps + _late(warps, steps) + 1)
        elif kernel is kernels.reduce_sequential:
            # Only within the last warp, five times; and where thread 0 writes.
            assert parted == 4 * (5 + 1)
        else:
            assert ran.counters.warps["shuffle"] == 4 * 5 * warps
    ran = launch(kernels.reduce_sequential, 4, threads, src, empty(4, np.float64))
    assert ran.counters.warps["barrier"] == 4 * warps * (steps + 1)


def _late(warps, steps):
    """Warps that part at distances of 32 and more: one lane of some adds."""
    return sum(max(1, warps >> (s + 1)) for s in range(steps - 5))


@pytest.mark.rows("threads", [32, 128, 512])
def test_scan(threads):
    src = np.random.default_rng(2).integers(0, 100, 2 * threads)
    ran = launch(kernels.scan, 2, threads, src, empty(2 * threads, np.int64))
    expected = src.reshape(2, threads).cumsum(axis=1).ravel()
    assert (ran.results["dst"] == expected).all()
    steps, warps = threads.bit_length() - 1, threads // 32
    assert ran.counters.warps["barrier"] == 2 * warps * (steps + 1)


def test_radix_sort():
    keys = np.random.default_rng(4).integers(0, 256, 256)
    now = keys
    for bit in range(8):
        out = empty(256, np.int64)
        now = launch(kernels.radix_pass, 1, 256, now, out, bit).results["dst"]
    assert (now == np.sort(keys)).all()


@pytest.mark.rows("period", [1, 2, 8, 16, 32, 64])
def test_two_ways(period):
    src = np.arange(256)
    ran = launch(kernels.two_ways, 2, 128, src, empty(256, np.int64), period)
    even = src // period % 2 == 0
    assert (ran.results["dst"] == np.where(even, 2 * src + 1, 3 * src - 1)).all()
    assert ran.counters.divergent == (8 if period < 32 else 0)


@pytest.mark.rows(("n", "tile"), [(32, 16), (64, 16), (64, 32)])
def test_matmul(n, tile):
    rng = np.random.default_rng(5)
    x, w = (rng.random((n, n)).astype(np.float32) for _ in "xw")
    side = n // tile
    ran = launch(
        kernels.matmul_tiled, (side, side), (tile, tile), x, w, empty((n, n)), n, tile
    )
    np.testing.assert_allclose(ran.results["y"], x @ w, rtol=1e-5)
    tiled = memory.TiledMatmul(n, n, n, tile, tile, tile, width=4)
    assert ran.traffic.asked["load"] == 4 * tiled.numbers_read
    assert ran.traffic.asked["store"] == 4 * n * n

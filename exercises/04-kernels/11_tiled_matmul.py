"""Multiply by tiles.

level: build
project: P4.2

Write a product for `gpu.launch`: `c = a @ b` in fp32, where `a` has `m` rows and `k`
columns and `b` has `k` rows and `n` columns. Suppose that it is launched with blocks of
16 x 16 threads, `ceil(n / 16)` of them along x and `ceil(m / 16)` along y. Each block
computes as many numbers of `c`, and the tiles it needs go through shared memory: each
number of a band is read from global memory once per block, by one thread. Sizes are not
always multiples of 16, and nothing beyond an array may be touched.

- `bytes_read(m, n, k)`: bytes that all blocks together read of `a` and `b`. A block at
  the edge reads only rows and columns that exist.
- `matmul(t, a, b, c, m, n, k)`: the kernel. Arrays have two dimensions: `a[row, j]`.
  `t.shared((16, 16))` is an array that the block shares, `t.sync()` a barrier that all
  of its threads have to reach. `t.thread.x`, `t.thread.y`, `t.block.x` and `t.block.y`
  say who it is.

The bytes that the kernel asks for must be those of your closed form, a warp's numbers
must come in at most `4` sectors of `32` bytes, and no two threads may touch the same
element of shared memory without a barrier between them.

With a GPU: `stacklib/kernels/written/cuda/matmul_tiled.cu` is the same in CUDA. Time
yours beside `torch.matmul` in fp32; to come near it, a thread needs a square of sums.

hint: A band of `a` is `16` rows or fewer, and `ceil(n / 16)` blocks read each. In the
kernel let a thread whose number does not exist put a zero into the tile. The barrier
stands outside of any `if`, and there are two of them in a step.
"""

from functools import cache

import numpy as np

from stacklib import gpu
from stacklib.gpu.simt.launcher import launch
from stacklib.grading import expect

# ---- your answer ----


def bytes_read(m, n, k):
    """Bytes of a and b that all blocks read."""
    return 4 * k * (m * -(-n // 16) + n * -(-m // 16))


def matmul(t, a, b, c, m, n, k):
    """One thread's number of c = a @ b."""
    left, right = t.shared((16, 16)), t.shared((16, 16))
    x, y = t.thread.x, t.thread.y
    row, column = t.block.y * 16 + y, t.block.x * 16 + x
    total = 0.0
    for first in range(0, k, 16):
        one, other = 0.0, 0.0
        if row < m and first + x < k:
            one = a[row, first + x]
        if column < n and first + y < k:
            other = b[first + y, column]
        left[y, x] = one
        right[y, x] = other
        t.sync()
        for j in range(16):
            total = total + left[y, j] * right[j, x]
        t.sync()
    if row < m and column < n:
        c[row, column] = total


# ---- tests ----

SIDE = 16
SHAPES = ((32, 32, 32), (48, 16, 32), (20, 33, 24), (16, 40, 7))
THREADS = SIDE * SIDE


def down(n):
    """Blocks over n rows or columns."""
    return -(-n // SIDE)


def needed(m, n, k):
    return 4 * k * m * down(n) + 4 * k * n * down(m)


def given(m, n, k):
    rng = np.random.default_rng(m + n + k)
    return tuple(rng.integers(-4, 5, s).astype(np.float32) for s in ((m, k), (k, n)))


@cache
def run(m, n, k):
    """Launch the kernel; what the machine refuses is told with what it means."""
    grid, args = (down(n), down(m)), (*given(m, n, k), gpu.empty((m, n)), m, n, k)
    try:
        return launch(matmul, grid, (SIDE, SIDE), "h100-sxm", *args)
    except gpu.KernelError as error:
        said, why = str(error), ""
        if "Raise has no meaning" in said:
            raise NotImplementedError("write matmul") from None
        if "is not reached by all" in said:
            why = " A barrier inside an if is not reached by those outside: move it."
        elif "another lane" in said or "another thread" in said:
            why = (
                " A tile is overwritten while others read it, or read before it is "
                "there: a step needs two barriers."
            )
        elif "beyond" in said or "outside" in said or "out of" in said:
            why = " Threads at an edge have no number there: give them a zero."
        raise expect.Mistake(f"{m} x {n} x {k}: {said}.{why}") from None


def test_bytes_read():
    expect.function_matches(
        bytes_read,
        needed,
        [dict(zip("mnk", shape, strict=True)) for shape in SHAPES],
        unit="B",
        rel=1e-12,
        mistakes={
            "Those are numbers; one has 4 bytes.": (
                lambda m, n, k: needed(m, n, k) // 4
            ),
            "A block at the edge reads only rows and columns that exist.": (
                lambda m, n, k: 4 * k * SIDE * 2 * down(n) * down(m)
            ),
            "That is every use of a number. A block reads it once for 16.": (
                lambda m, n, k: 4 * k * 2 * m * n
            ),
            "Each number once: but every block of a row of blocks reads the band.": (
                lambda m, n, k: 4 * k * (m + n)
            ),
        },
    )


def test_product():
    for shape in SHAPES:
        a, b = given(*shape)
        found, right = run(*shape).results["c"], a @ b
        if np.array_equal(found, right):
            continue
        bad = int((found != right).sum())
        first = np.array_equal(found, a[:, :SIDE] @ b[:SIDE])
        why = "only the first 16 of k are in it" if first else f"{bad} numbers differ"
        raise expect.Mistake(f"{' x '.join(map(str, shape))}: {why}")


def test_bytes():
    for shape in SHAPES:
        lanes = run(*shape).report.counters.lanes
        read, right = 4 * lanes["load_global"], needed(*shape)
        if shape == SHAPES[0]:
            expect.reading("bytes that the blocks read", read, "B")
        if read == right:
            continue
        why = "nothing beyond the edges may be read"
        if read >= 8 * right:
            why = "read a number once per block, and share it"
        raise expect.Mistake(
            f"{' x '.join(map(str, shape))}: {read:,} bytes are read, {right:,} by the "
            f"closed form: {why}"
        )


def test_sectors():
    asked = run(*SHAPES[0]).report.sectors_per_request
    expect.reading("sectors of 32 bytes per request of a warp", asked)
    if asked > 4:
        raise expect.Mistake(
            f"{asked:g} sectors per request, and 4 hold a warp's numbers. Neighbours "
            "along x have to take neighbours of a row, in both tiles."
        )

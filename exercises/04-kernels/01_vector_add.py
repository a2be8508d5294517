"""Add two vectors, and not a number more.

level: build
project: P4.1

Write a kernel for `gpu.launch` that adds the first `n` numbers of `a` and `b` into
`out`, and say how many blocks it needs. A kernel is the program of one thread:
`t.thread.x` is its number in the block, `t.block.x` that of the block, `t.block_dim.x`
how many threads a block has and `t.grid_dim.x` how many blocks there are.

- `blocks(n, threads)`: how many blocks of so many threads are launched for `n` numbers.
- `vector_add(t, a, b, out, n)`: the kernel.

`n` is seldom a multiple of the threads. The arrays are longer than `n`: what lies
behind are somebody else's numbers, and they have to be what they were. Neighbouring
threads should take neighbouring numbers, so that what a warp asks for comes in `4`
sectors and not more.

With a GPU: the same kernel in CUDA is `stacklib/kernels/written/cuda/vector_add.cu`.
Compile it with `nvcc -cubin -arch=sm_90`, launch it with your `blocks`, and compare.

hint: The last block has threads without a number. The number of a thread in the whole
grid is `t.block.x * t.block_dim.x + t.thread.x`; an `if` lets it rest.
"""

from functools import cache

import numpy as np

from stacklib import gpu
from stacklib.gpu.simt.launcher import launch
from stacklib.grading import expect

# ---- your answer ----


def blocks(n, threads):
    """Blocks to launch."""
    return -(-n // threads)


def vector_add(t, a, b, out, n):
    """One thread's share of out = a + b."""
    i = t.block.x * t.block_dim.x + t.thread.x
    if i < n:
        out[i] = a[i] + b[i]


# ---- tests ----

SIZES = ((1000, 256), (256, 256), (37, 64), (513, 128))
BEHIND = 128  # numbers behind the vector that are somebody else's
THEIRS = -7.0


def given(n):
    """Two vectors and a result, each with somebody else's numbers behind."""
    rng = np.random.default_rng(n)
    a, b = (rng.integers(0, 99, n + BEHIND).astype(np.float32) for _ in range(2))
    return a, b, np.full(n + BEHIND, THEIRS, np.float32)


@cache
def run(n, threads):
    """Launch the kernel; what the machine refuses is told with what it means."""
    many = expect.whole(expect.call(blocks, {"n": n, "threads": threads}))
    if many < 1:
        raise expect.Mistake(f"blocks({n}, {threads}) = {many}: nothing would run")
    try:
        return many, launch(vector_add, many, threads, "h100-sxm", *given(n), n)
    except gpu.KernelError as error:
        said, why = str(error), ""
        if "Raise has no meaning" in said:
            raise NotImplementedError("write vector_add") from None
        if "another lane" in said or "another thread" in said:
            why = " Two threads write the same number: use t.block.x, too."
        elif "beyond" in said or "outside" in said or "out of" in said:
            why = " A thread without a number must not touch the arrays: `if i < n`."
        raise expect.Mistake(f"n = {n}: {said}.{why}") from None


def test_blocks():
    """Enough, and none that has nothing to do."""
    for n, threads in SIZES:
        many = expect.whole(expect.call(blocks, {"n": n, "threads": threads}))
        need = -(-n // threads)
        if many == n // threads and many < need:
            raise expect.Mistake(
                f"blocks({n}, {threads}) = {many}: the rest of the division is "
                "a block, too, with threads that rest"
            )
        if many > need:
            raise expect.Mistake(
                f"blocks({n}, {threads}) = {many}: {need} have all the numbers"
            )


def test_sum():
    for n, threads in SIZES:
        a, b, _ = given(n)
        found = run(n, threads)[1].results["out"][:n]
        missing = np.flatnonzero(found != (a + b)[:n])
        if not missing.size:
            continue
        left = found[missing] == THEIRS
        why = "wrong sums"
        if left.all() and missing[0] == n // threads * threads:
            why = "the tail has no sums: nobody adds what does not fill a block"
        elif left.all():
            why = f"no sums from number {missing[0]} on: use t.block.x"
        raise expect.Mistake(f"n = {n}, blocks of {threads}: {why}")


def test_tail():
    for n, threads in SIZES:
        behind = run(n, threads)[1].results["out"][n:]
        written = int((behind != THEIRS).sum())
        if written == 1:
            raise expect.Mistake(
                f"n = {n}: number {n} is overwritten, and the last one is {n - 1}"
            )
        if written:
            raise expect.Mistake(
                f"n = {n}: {written} numbers behind the vector are overwritten. "
                "The threads without a number have to rest."
            )


def test_sectors():
    """The numbers of a warp lie side by side."""
    asked = run(256, 256)[1].report.sectors_per_request
    expect.reading("sectors of 32 bytes per request of a warp", asked)
    if asked > 4:
        raise expect.Mistake(
            f"{asked:g} sectors per request, 4 hold a warp's numbers. Neighbouring "
            "threads have to take neighbouring numbers."
        )

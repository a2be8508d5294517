"""Add up a block.

level: build

Write a kernel for `gpu.launch`: every block of `256` threads adds up its `256` numbers
of `src` and puts the sum into `out[t.block.x]`. A kernel is the program of one thread:
`t.thread.x` is its number in the block, `t.block.x` that of the block, `t.block_dim.x`
how many threads a block has. `t.shared(256)` is an array that the block shares and
`t.sync()` a barrier that all of its threads have to reach.

Three things are asked. The sums are right and no two threads touch the same element
without a barrier between them. No two lanes of a request to shared memory stand in line
for a bank. And a block issues at most `400` warp instructions, no warp of it more than
`150`: a thread that adds all numbers alone needs `255` additions, one after the other,
and all of its warp's lanes pay for each.

A tree takes 8 steps, and in each fewer threads add. Which of them rest is the question.
Within a warp `t.shuffle_down(value, k)` gives what lane + k has, without shared memory.

hint: Let thread i < k add what thread i + k has, for k = 128, 64, ... 1. Then whole
warps drop out first, and neighbours read neighbours. The barrier stands outside of
the `if`.
"""

from functools import cache

import numpy as np

from stacklib import gpu
from stacklib.gpu.simt.launcher import launch
from stacklib.grading import expect

# ---- your answer ----


def block_sum(t, src, out):
    """Sum of each block of 256 numbers."""
    i = t.thread.x
    s = t.shared(256)
    s[i] = src[t.block.x * t.block_dim.x + i]
    t.sync()
    k = 128
    while k > 0:
        if i < k:
            s[i] += s[i + k]
        t.sync()
        k = k // 2
    if i == 0:
        out[t.block.x] = s[0]


# ---- tests ----

BLOCKS, THREADS = 2, 256
MOST, IN_A_WARP = 400, 150
NUMBERS = np.arange(BLOCKS * THREADS, dtype=np.float32) % 61


@cache
def run():
    """Launch the kernel; what the machine refuses is told with what it means."""
    try:
        return launch(
            block_sum, BLOCKS, THREADS, "h100-sxm", NUMBERS, gpu.empty(BLOCKS)
        )
    except gpu.KernelError as error:
        said, why = str(error), ""
        if "Raise has no meaning" in said:
            raise NotImplementedError("write block_sum") from None
        if "is not reached by all" in said:
            why = " A barrier inside an if is not reached by those outside: move it."
        elif "another lane" in said:
            why = " Two threads meet there, and nothing says who comes first."
        elif "nobody has written" in said:
            why = " An array holds nothing until a thread has put it there."
        raise expect.Mistake(f"{said}.{why}") from None


def test_sums():
    sums = run().results["out"]
    rows = NUMBERS.reshape(BLOCKS, THREADS)
    known = {
        "All blocks add the numbers of the first: use t.block.x.": np.full(
            BLOCKS, rows[0].sum()
        ),
        "Only the first warp's numbers are in it.": rows[:, :32].sum(axis=1),
    }
    if not np.array_equal(sums, rows.sum(axis=1)):
        why = (text for text, wrong in known.items() if np.array_equal(sums, wrong))
        said = next(why, f"the sums are {rows.sum(axis=1).tolist()}")
        raise expect.Mistake(f"{sums.tolist()}: {said}")


def test_banks():
    found = run().report.bank_conflicts
    expect.reading("bank conflicts", found)
    if found:
        raise expect.Mistake(
            f"bank conflicts: {found}. Lanes whose words are a multiple of 32 apart, "
            "or of a large power of two, meet in a bank. Let neighbours read "
            "neighbours."
        )


def longest_warp(report):
    """Instructions of the warp that issues most."""
    starts = report.times.replayed.streams.first
    return int(np.diff(starts).max())


def test_instructions():
    report = run().report
    parted = report.counters.divergent // BLOCKS
    expect.reading("branches of a block that part a warp", parted)
    expect.reading("warp instructions of all blocks", report.instructions)
    issued, longest = report.instructions // BLOCKS, longest_warp(report)
    expect.reading("warp instructions of the longest warp", longest)
    if longest > IN_A_WARP:
        raise expect.Mistake(
            f"one warp issues {longest} instructions, at most {IN_A_WARP} are allowed. "
            "Its lanes wait while one of them adds. Let all threads add, and whole "
            "warps drop out as fewer are needed."
        )
    if issued > MOST:
        why = "Let whole warps drop out as fewer are needed."
        if parted >= 8:
            why = (
                f"{parted} branches part a warp. When every other thread rests, its "
                "warp does not. Let the threads that rest be neighbours."
            )
        raise expect.Mistake(
            f"warp instructions of a block: {issued}, at most {MOST} are allowed. {why}"
        )

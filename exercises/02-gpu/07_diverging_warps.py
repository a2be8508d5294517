"""What does a branch cost?

level: build
project: P2.4

A block of threads meets an `if`: thread i takes it where `takes[i]` is true, the others
take the `else`. A warp has `32` threads in order, the last warp of a block may have
fewer. It issues an instruction for all of its lanes at once, and a lane on the other
path sits it out.

- `active_lanes(takes)`: for each warp, how many of its lanes take the `if`, as a list.
- `efficiency(takes)`: share of the warps whose lanes stay together at the branch. A
  profiler calls it branch efficiency.
- `issued(takes, inside, otherwise)`: instructions that all warps issue within the two
  sides, if the `if` has `inside` of them and the `else` has `otherwise`.

The tests run such a kernel on `gpu.launch` and count. On a GPU, the metrics are
`smsp__sass_average_branch_targets_threads_uniform.pct` and `smsp__inst_executed.sum`;
compile with `-G`, or a short branch becomes a select.

hint: A warp issues a side if at least one of its lanes takes it, and then all of it.
"""

import random

import numpy as np

from stacklib import gpu
from stacklib.gpu.simt.launcher import launch
from stacklib.grading import expect

# ---- your answer ----


def active_lanes(takes):
    """Lanes of each warp that take the branch."""
    return [sum(takes[at : at + 32]) for at in range(0, len(takes), 32)]


def efficiency(takes):
    """Share of warps whose lanes stay together."""
    warps = [takes[at : at + 32] for at in range(0, len(takes), 32)]
    return sum(all(w) or not any(w) for w in warps) / len(warps)


def issued(takes, inside, otherwise):
    """Warp instructions of both sides."""
    count = 0
    for at in range(0, len(takes), 32):
        warp = takes[at : at + 32]
        count += inside * any(warp) + otherwise * (not all(warp))
    return count


# ---- tests ----

RNG = random.Random(5)
BLOCKS = {
    "nobody": [False] * 64,
    "everybody": [True] * 96,
    "every other thread": [i % 2 == 0 for i in range(128)],
    "every other warp": [i // 32 % 2 == 0 for i in range(128)],
    "one thread": [i == 40 for i in range(128)],
    "the first 40": [i < 40 for i in range(128)],
    "a block of 100": [i % 3 == 0 for i in range(100)],
    "at random": [RNG.random() < 0.03 for _ in range(256)],
}
SIDES = ((5, 3), (1, 8), (4, 0))


def branching(t, takes, dst, inside, otherwise):
    i = t.block.x * t.block_dim.x + t.thread.x
    x = i
    if takes[i]:
        for _ in range(inside):
            x = x * 3
    else:
        for _ in range(otherwise):
            x = x * 5
    dst[i] = x


def machine(takes, inside, otherwise):
    """Instructions of both sides, and the share of warps that stay together."""
    given, out = np.array(takes), gpu.empty(len(takes), np.int64)
    arguments = ("h100-sxm", given, out, inside, otherwise)
    seen = launch(branching, 1, len(takes), *arguments).report
    base = 2 * -(-len(takes) // 32)  # the index takes two
    return seen.counters.warps["arithmetic"] - base, seen.branch_efficiency


def parts(takes):
    return [takes[at : at + 32] for at in range(0, len(takes), 32)]


def test_active_lanes():
    for name, takes in BLOCKS.items():
        mine, right = active_lanes(list(takes)), [sum(w) for w in parts(takes)]
        if mine is None or list(mine) != right:
            why = f"the warps have {right}"
            if mine == sum(takes):
                why = "that is the whole block. Count warp by warp."
            raise expect.Mistake(f"{name}: {expect.clip(mine)}: {why}")


def test_efficiency():
    for name, takes in BLOCKS.items():
        _, right = machine(takes, 2, 2)
        block = float(all(takes) or not any(takes))
        mistakes = {
            "Lanes of one warp wait for each other, not those of a block.": (block),
            "That is the share that parts.": 1 - right,
        }
        hold(name, efficiency(list(takes)), right, mistakes)
    for name in ("every other thread", "every other warp"):
        together = machine(BLOCKS[name], 2, 2)[1]
        expect.reading(f"branch efficiency, {name}", f"{100 * together:.0f} %")


def test_issued():
    for name, takes in BLOCKS.items():
        for inside, otherwise in SIDES:
            right, _ = machine(takes, inside, otherwise)
            yes, no = sum(takes), len(takes) - sum(takes)
            both = [(any(w), not all(w)) for w in parts(takes)]
            whole = inside * any(takes) + otherwise * (not all(takes))
            mistakes = {
                "You count lanes; an instruction is a warp's.": (
                    yes * inside + no * otherwise
                ),
                "A warp whose lanes part issues both sides, one after the other: the "
                "sum, not the longer.": (
                    sum(max(a * inside, b * otherwise) for a, b in both)
                ),
                "A warp decides for itself: if all its lanes agree, it skips a side, "
                "whatever the block does.": whole * len(both),
                "That is one warp's; each warp issues its own.": whole,
            }
            hold(
                f"{name}, sides of {inside} and {otherwise}",
                issued(list(takes), inside, otherwise),
                right,
                mistakes,
            )
    for name in ("every other thread", "every other warp"):
        expect.reading(f"issued, {name}", machine(BLOCKS[name], 5, 3)[0])


def hold(name, value, right, mistakes):
    """Compare on one block; a mistake that gives the right answer there is none."""
    telling = {text: v for text, v in mistakes.items() if abs(v - right) > 1e-6}
    try:
        expect.number(value, right, rel=1e-9, mistakes=telling)
    except expect.Mistake as mistake:
        raise expect.Mistake(f"{name}: {mistake}") from None

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
from functools import cache

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
    "everybody": [True] * 64,
    "every other thread": [i % 2 == 0 for i in range(64)],
    "every other warp": [i // 32 % 2 == 0 for i in range(64)],
    "one thread": [i == 40 for i in range(96)],
    "the first 40": [i < 40 for i in range(96)],
    "a block of 100": [i % 3 == 0 for i in range(100)],
    "at random": [RNG.random() < 0.03 for _ in range(128)],
}
SIDES = ((5, 3), (4, 0))


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


@cache
def machine(name, inside=5, otherwise=3):
    """Instructions of both sides, and the share of warps that stay together."""
    takes = BLOCKS[name]
    given, out = np.array(takes), gpu.empty(len(takes), np.int64)
    arguments = ("h100-sxm", given, out, inside, otherwise)
    seen = launch(branching, 1, len(takes), *arguments).report
    base = -(-len(takes) // 32)  # the index is one multiply-add
    return seen.counters.warps["int"] - base, seen.branch_efficiency


class Block(list):
    """What the threads of a block do, which prints by its name."""

    def __init__(self, name):
        super().__init__(BLOCKS[name])
        self.key = name


CASES = [{"takes": Block(name)} for name in BLOCKS]


def parts(takes):
    return [takes[at : at + 32] for at in range(0, len(takes), 32)]


def test_active_lanes():
    found = [expect.call(active_lanes, case) for case in CASES]
    if all(map(expect.alike, found, (sum(case["takes"]) for case in CASES))):
        raise expect.Mistake("that is the whole block. Count warp by warp.")
    for case, lanes in zip(CASES, found, strict=True):
        right = [sum(warp) for warp in parts(case["takes"])]
        mine = expect.numbers(lanes, "a list with a number for each warp")
        if mine != right:
            raise expect.Mistake(
                f"{expect.called(active_lanes, case)} gives {expect.clip(lanes)}; "
                f"the warps have {right}"
            )


def together(takes):
    return machine(takes.key)[1]


def test_efficiency():
    expect.function_matches(
        efficiency,
        together,
        CASES,
        rel=1e-9,
        mistakes={
            "Lanes of one warp wait for each other, not those of a block.": (
                lambda takes: float(all(takes) or not any(takes))
            ),
            "That is the share that parts.": lambda takes: 1 - together(takes),
        },
    )
    for name in ("every other thread", "every other warp"):
        expect.reading(f"branch efficiency, {name}", f"{100 * machine(name)[1]:.0f} %")


def counted(takes, inside, otherwise):
    return machine(takes.key, inside, otherwise)[0]


def by_warp(takes, inside, otherwise, both=sum):
    """What each warp issues, if ``both`` says what two sides take together."""
    return [
        both([inside * any(warp), otherwise * (not all(warp))]) for warp in parts(takes)
    ]


def test_issued():
    expect.function_matches(
        issued,
        counted,
        [{**case, "inside": a, "otherwise": b} for case in CASES for a, b in SIDES],
        rel=1e-9,
        mistakes={
            "You count lanes; an instruction is a warp's.": (
                lambda takes, inside, otherwise: sum(
                    inside if taken else otherwise for taken in takes
                )
            ),
            "A warp whose lanes part issues both sides, one after the other: the "
            "sum, not the longer.": lambda **c: sum(by_warp(**c, both=max)),
            "A warp decides for itself: if all its lanes agree, it skips a side, "
            "whatever the block does.": lambda **c: whole(**c) * len(parts(c["takes"])),
            "That is one warp's; each warp issues its own.": lambda **c: whole(**c),
        },
    )
    for name in ("every other thread", "every other warp"):
        expect.reading(f"issued, {name}", machine(name)[0])


def whole(takes, inside, otherwise):
    """What a block would issue that decided as one warp."""
    return inside * any(takes) + otherwise * (not all(takes))

"""One branch in a loop, two ways: masks that the program writes, lanes that part.

SIMD: the program is written for vectors. It computes both sides of the branch for
every element and keeps, under a mask, the one that is wanted. SIMT: the program is
written for one element, and the hardware issues a side only if some lane of the warp
took it. Both compute

    y[i] = x[i] + 3 steps   where taken[i],   x[i] - steps   elsewhere

and count the instructions they issue. In closed form, where each element takes the
branch with probability p, a group of ``width`` issues a side that is taken with
probability 1 - (1 - p)^width.

Left out: a SIMD program can test its mask and jump too, at the price of a branch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from stacklib.quantity.bounds import at_least, whole

COMMON = 3  # load, compare, store
BRANCHES = 2  # the branch, and the jump over the other side


@dataclass(frozen=True, slots=True)
class Counted:
    """Results and the instructions issued for them."""

    values: tuple[int, ...]
    instructions: int


def _groups(x: Sequence[int], taken: Sequence[bool], width: int) -> Any:
    if len(x) != len(taken):
        raise ValueError(f"{len(x)} values and {len(taken)} branches: give as many")
    whole(width=width)
    at = range(0, len(x), width)
    return ((x[i : i + width], taken[i : i + width]) for i in at)


def masked(
    x: Sequence[int], taken: Sequence[bool], width: int = 32, steps: int = 4
) -> Counted:
    """SIMD: both sides for every vector, then one choice under the mask."""
    values: list[int] = []
    issued = 0
    for vector, mask in _groups(x, taken, width):
        up, down = list(vector), list(vector)
        for _ in range(steps):
            up, down = [v + 3 for v in up], [v - 1 for v in down]
        values += [u if m else d for u, d, m in zip(up, down, mask, strict=True)]
        issued += COMMON + 2 * steps + 1  # the last one chooses
    return Counted(tuple(values), issued)


def divergent(
    x: Sequence[int], taken: Sequence[bool], width: int = 32, steps: int = 4
) -> Counted:
    """SIMT: a side is issued only if a lane took it."""
    values: list[int] = []
    issued = 0
    for warp, mask in _groups(x, taken, width):
        lanes = list(warp)
        issued += COMMON + BRANCHES
        for side, change in ((True, 3), (False, -1)):
            active = [i for i, m in enumerate(mask) if bool(m) is side]
            for _ in range(steps if active else 0):
                issued += 1
                for i in active:
                    lanes[i] += change
        values += lanes
    return Counted(tuple(values), issued)


def expected_divergent(p: Any, width: int = 32, steps: int = 4) -> Any:
    """Instructions a warp issues on average when lanes branch with probability p."""
    at_least(0, p=p, steps=steps)
    at_least(0, rest=1 - p)
    at_least(1, width=width)
    # Each element branches by itself: a warp takes a path unless all its lanes take the
    # other.
    either = (1 - (1 - p) ** width) + (1 - p**width)
    return COMMON + BRANCHES + steps * either

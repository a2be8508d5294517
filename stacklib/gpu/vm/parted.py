"""Lanes of a warp that go on by themselves: one waits for what another has yet to do.

Since Volta every lane has a counter of its own, and a warp whose lanes part runs each
side in turn (NVIDIA, *Tesla V100 GPU architecture*, independent thread scheduling).
Here sides run one after the other as long as each comes to its end. Lanes that go in a
circle are laid aside with their masks, behind the warp's stack; the others go on, and
they change places where those find nothing more to do.
"""

from __future__ import annotations

from typing import Any

from ._apart import apart, inner
from .state import (
    ALIVE,
    CAME,
    DEPTH,
    MASK,
    OTHER,
    PC,
    SEEN_VERSION,
    STUCK,
    VERSION,
)

# Groups of lanes laid aside have a row each, of mask 0 for none, and their stack behind
# it. They wait for a change of memory since a version, or at a barrier for the others.
GROUPS = 4
S_PC, S_MASK, S_DEPTH, S_VERSION = range(4)
AT_A_BARRIER = -2


@inner
def row_of(group: int, ST: Any) -> int:
    """Where a group's row is; its stack stands behind it."""
    each = (ST.shape[1] + 1) // (GROUPS + 1)
    return (group + 1) * each - 1


@inner
def next_group(me: int, ST: Any, version: int, any_of_them: bool) -> int:
    """A group that may go on: memory has changed, or whichever there is; or -1."""
    found = -1
    for group in range(GROUPS):
        row = ST[me, row_of(group, ST)]
        if row[S_MASK] == 0:
            continue
        if row[S_VERSION] != AT_A_BARRIER and row[S_VERSION] != version:
            return group
        if any_of_them and (found < 0 or row[S_VERSION] != AT_A_BARRIER):
            found = group
    return found


@apart
def turned_round(me: int, pc: int, behind: int, W: Any, ST: Any, G: Any) -> bool:
    """Lanes go in a circle at a row: others go on, behind the loop or laid aside."""
    mask, depth = W[me, MASK], W[me, DEPTH]
    rest, free = W[me, ALIVE] & ~mask, -1
    for group in range(GROUPS):
        row = ST[me, row_of(group, ST)]
        rest &= ~row[S_MASK]
        if row[S_MASK] == 0:
            free = group
    if rest == 0:
        group = next_group(me, ST, G[VERSION], False)
        if group >= 0:
            changed_places(me, pc, group, G[VERSION], W, ST)
        return group >= 0
    if free < 0:
        return False
    at = row_of(free, ST)
    row = ST[me, at]
    row[S_PC], row[S_MASK], row[S_DEPTH], row[S_VERSION] = pc, mask, depth, G[VERSION]
    for frame in range(depth + 1):
        for k in range(4):
            ST[me, at + 1 + frame, k] = ST[me, frame, k]
        for k in (CAME, OTHER):
            ST[me, at + 1 + frame, k] &= mask
            ST[me, frame, k] &= ~mask
    W[me, MASK], W[me, PC] = 0, behind
    anew(me, W)
    return True


@apart
def changed_places(me: int, pc: int, group: int, version: int, W: Any, ST: Any) -> None:
    """A group laid aside goes on; the lanes that ran stand at a row instead."""
    at = row_of(group, ST)
    row = ST[me, at]
    for frame in range(max(W[me, DEPTH], row[S_DEPTH]) + 1):
        for k in range(4):
            held = ST[me, frame, k]
            ST[me, frame, k] = ST[me, at + 1 + frame, k]
            ST[me, at + 1 + frame, k] = held
    mask, depth = W[me, MASK], W[me, DEPTH]
    W[me, PC], W[me, MASK], W[me, DEPTH] = row[S_PC], row[S_MASK], row[S_DEPTH]
    row[S_PC], row[S_MASK], row[S_DEPTH], row[S_VERSION] = pc, mask, depth, version
    anew(me, W)


@apart
def ended(me: int, pc: int, W: Any, ST: Any, G: Any) -> bool:
    """Lanes are through: whether a group laid aside goes on."""
    group, mask = next_group(me, ST, G[VERSION], True), W[me, MASK]
    if group < 0:
        return False
    changed_places(me, pc, group, 0, W, ST)
    ST[me, row_of(group, ST), S_MASK] = 0
    W[me, ALIVE] &= ~mask
    return True


@apart
def met_again(me: int, pc: int, W: Any, ST: Any, G: Any) -> bool:
    """Lanes stand at a barrier: whether others of the warp go on first.

    Those that stand at the same row go on with them; at another, nobody does.
    """
    if W[me, MASK] == 0:
        return False
    for group in range(GROUPS):
        at = row_of(group, ST)
        row = ST[me, at]
        if row[S_MASK] == 0 or row[S_PC] != pc or row[S_DEPTH] != W[me, DEPTH]:
            continue
        for frame in range(W[me, DEPTH] + 1):
            for k in (CAME, OTHER):
                ST[me, frame, k] |= ST[me, at + 1 + frame, k]
        W[me, MASK] |= row[S_MASK]
        row[S_MASK] = 0
    group = next_group(me, ST, G[VERSION], True)
    if group < 0 or ST[me, row_of(group, ST), S_VERSION] == AT_A_BARRIER:
        return False
    changed_places(me, pc, group, AT_A_BARRIER, W, ST)
    return True


@inner
def anew(me: int, W: Any) -> None:
    """Whether it goes in a circle is asked from here on."""
    W[me, SEEN_VERSION], W[me, STUCK] = -1, 0

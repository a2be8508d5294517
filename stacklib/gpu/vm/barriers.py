"""Warps that wait for each other: barriers of a block and of the grid, and fences.

Who came to a barrier has seen afterwards what all that came did before it. A fence lets
a warp pass on, by an atomic, what it has done and seen until then.
"""

from __future__ import annotations

from typing import Any

from ._apart import apart, inner
from .basics import fail, first_lane
from .state import (
    ALIVE,
    ARRIVED,
    AT_BARRIER,
    AT_GRID,
    B_LIVE,
    BARRIERS,
    BLOCK_SYNCED,
    DONE,
    EVENT,
    EVENTS,
    EXPECTED,
    FELL,
    FENCED,
    GRID_EVENT,
    GRID_SYNCED,
    LIVE_GRID,
    LOCAL,
    NAMED,
    NEGATIVE_BARRIER,
    NOT_ALL,
    NOT_ALL_OF_WARP,
    NUMBER,
    PC,
    READY,
    RECORD,
    SEQ,
    SLOT,
    STATE,
    STUCK,
    SYNCED,
    T_ARRIVE,
    T_WAIT,
    TRACED,
    VERSION,
    WAITING,
    WAITS_FOR,
    WAITS_PC,
    WHO,
    Tables,
)


@inner
def column(W: Any, VC: Any, warp: int, width: int) -> int:
    """Which column of the clocks a resident warp has."""
    return W[warp, NUMBER] if VC.shape[1] > width else W[warp, LOCAL]


@apart
def met(
    who: int, first: int, W: Any, VC: Any, G: Any, width: int, whole_block: bool
) -> None:
    """Warps of a block that came to a barrier have seen all that each did before."""
    joined(first, who, VC, width)
    for kind in range(1, VC.shape[0] // W.shape[0]):
        shared(kind, who, first, W, VC, width)
    for w in range(width):
        if who >> w & 1:
            at = column(W, VC, first + w, width)
            for v in range(width):
                if who >> v & 1:
                    VC[first + v, at] = G[SEQ] + 1
    for w in range(width):
        if who >> w & 1:
            W[first + w, SYNCED] = G[SEQ] + 1
            if whole_block:
                W[first + w, BLOCK_SYNCED] = G[SEQ] + 1
    G[SEQ] += 1


@apart
def joined(rows: int, who: int, VC: Any, width: int) -> None:
    """Each has of every clock what the furthest of them had."""
    for k in range(VC.shape[1]):
        most = 0
        for w in range(width):
            if who >> w & 1:
                most = max(most, VC[rows + w, k])
        for w in range(width):
            if who >> w & 1:
                VC[rows + w, k] = most


@apart
def shared(kind: int, who: int, first: int, W: Any, VC: Any, width: int) -> None:
    """What one has fenced, each that came to the barrier may pass on."""
    fenced = 0
    for w in range(width):
        if who >> w & 1:
            fenced |= W[first + w, FENCED]
    joined(kind * W.shape[0] + first, who, VC, width)
    for w in range(width):
        if who >> w & 1:
            W[first + w, FENCED] = fenced


@apart
def opened(
    slot: int, number: int, W: Any, BAR: Any, VC: Any, G: Any, width: int
) -> None:
    """The barrier is complete: who waits goes on."""
    first = slot * width
    who, waiting = BAR[slot, number, WHO], BAR[slot, number, WAITING]
    met(who, first, W, VC, G, width, number == 0)
    for w in range(width):
        if waiting >> w & 1:
            W[first + w, STATE] = READY
            W[first + w, PC] += 1
            W[first + w, STUCK] = 0
    BAR[slot, number, ARRIVED] = BAR[slot, number, WAITING] = 0
    BAR[slot, number, WHO] = 0
    BAR[slot, number, EVENT] = -1
    BAR[slot, number, EXPECTED] = 0
    G[VERSION] += 1


@apart
def came_to(me: int, pc: int, mask: int, R: Any, BAR: Any, t: Tables) -> int:
    """A warp at ``sync()`` or a named barrier; 1 where it must wait."""
    W, B, G = t.W, t.B, t.G
    E, TR, VC = t.E, t.TR, t.VC
    width = t.width
    row = t.P[pc]
    slot, how = W[me, SLOT], row[6] % 4
    number, expected = 0, 0
    alive = W[me, ALIVE]
    if how:
        number, expected = R[row[3], first_lane(mask)], row[6] // 4
        if not 0 <= number < NAMED:
            return -fail(G, NEGATIVE_BARRIER, pc, me, first_lane(mask), number, 0) - 10
    if mask != alive and how != 2:
        return -fail(G, NOT_ALL, pc, me, first_lane(alive & ~mask), number, 0) - 10
    bar = BAR[slot, number]
    if bar[ARRIVED] == 0:
        bar[EXPECTED] = expected
        if W[me, RECORD] >= 0:
            bar[EVENT] = G[EVENTS]
            G[EVENTS] += 1
    bar[ARRIVED] += 1
    bar[WHO] |= 1 << W[me, LOCAL]
    if W[me, RECORD] >= 0:
        E[bar[EVENT]] += 1
        TR[G[TRACED] - 1, T_ARRIVE] = bar[EVENT]
        if how != 2:
            TR[G[TRACED] - 1, T_WAIT] = bar[EVENT]
    waits = how != 2
    if waits:
        bar[WAITING] |= 1 << W[me, LOCAL]
        W[me, STATE], W[me, WAITS_FOR], W[me, WAITS_PC] = AT_BARRIER, number, pc
        if number == 0:
            W[me, BARRIERS] += 1
    needed = expected if how else B[slot, B_LIVE]
    if bar[ARRIVED] >= needed:
        opened(slot, number, W, BAR, VC, G, width)
        if not waits:
            return 0
        return 2  # it went on already
    return 1 if waits else 0


@apart
def finished(
    me: int, mask: int, W: Any, B: Any, BAR: Any, VC: Any, G: Any, width: int
) -> None:
    """A warp is through: who waits for it need not any more."""
    W[me, STATE] = DONE
    W[me, FELL] = mask
    slot = W[me, SLOT]
    B[slot, B_LIVE] -= 1
    G[VERSION] += 1
    if BAR[slot, 0, ARRIVED] > 0 and BAR[slot, 0, EXPECTED] == 0:
        if BAR[slot, 0, ARRIVED] >= B[slot, B_LIVE]:
            opened(slot, 0, W, BAR, VC, G, width)


@apart
def grid_met(W: Any, G: Any, VC: Any) -> None:
    """All warps of the grid have come: all goes on, all is seen."""
    G[SEQ] += 1
    for w in range(W.shape[0]):
        if W[w, STATE] == AT_GRID:
            W[w, STATE] = READY
            W[w, PC] += 1
        for at in (SYNCED, BLOCK_SYNCED, GRID_SYNCED):
            W[w, at] = G[SEQ]
    G[LIVE_GRID] = 0
    G[GRID_EVENT] = -1
    G[VERSION] += 1


@apart
def fenced(kind: int, me: int, W: Any, VC: Any, G: Any, width: int) -> None:
    """What the warp has done and seen until here may be passed on from here.

    ``kind``: 1 to all of the device, 2 to its own block.
    """
    W[me, FENCED] |= kind
    G[SEQ] += 1
    row = kind * W.shape[0] + me
    for k in range(VC.shape[1]):
        VC[row, k] = VC[me, k]
    VC[row, column(W, VC, me, width)] = G[SEQ]


@apart
def at_grid(pc: int, me: int, mask: int, W: Any, G: Any, E: Any, TR: Any) -> int:
    """A warp at ``grid_sync()``: 1 to wait, or FAILED + 10."""
    if mask != W[me, ALIVE]:
        return 10 + fail(G, NOT_ALL, pc, me, first_lane(W[me, ALIVE] & ~mask), 1, 0)
    if W[me, RECORD] >= 0:
        if G[GRID_EVENT] < 0:
            G[GRID_EVENT] = G[EVENTS]
            G[EVENTS] += 1
        E[G[GRID_EVENT]] += 1
        TR[G[TRACED] - 1, T_ARRIVE] = TR[G[TRACED] - 1, T_WAIT] = G[GRID_EVENT]
    G[LIVE_GRID] += 1
    W[me, STATE], W[me, WAITS_PC] = AT_GRID, pc
    return 1


@apart
def warp_met(pc: int, me: int, mask: int, W: Any, G: Any) -> int:
    """A warp at ``syncwarp()``: 0, or FAILED + 10."""
    missing = W[me, ALIVE] & ~mask
    if mask != 0 and missing != 0:
        return 10 + fail(G, NOT_ALL_OF_WARP, pc, me, first_lane(missing), 0, 0)
    G[SEQ] += 1
    W[me, SYNCED] = G[SEQ]
    return 0

"""Clusters: blocks that run together and reach each other's shared memory.

CUDA C++ Programming Guide, *Distributed Shared Memory*: a block of the cluster must
have begun before its memory is touched, and not have ended; ``cluster_sync`` says both.
"""

from __future__ import annotations

from typing import Any

from ._apart import apart
from .access import accessed
from .basics import fail, first_lane
from .program import OP
from .state import (
    ALIVE,
    AT_CLUSTER,
    B_EVENT,
    B_LIVE,
    B_NUMBER,
    BLOCK_SYNCED,
    CLUSTER,
    CLUSTER_SYNCED,
    DONE,
    ENDED,
    EVENTS,
    FELL,
    MB_WARPS,
    NEXT_BLOCK,
    NO_RANK,
    NOT_ALL_OF_CLUSTER,
    NOT_BEGUN,
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
    T_PASSES,
    T_TURNS,
    T_WAIT,
    TRACED,
    V_RANKS,
    VERSION,
    WAITS_PC,
    Tables,
)

_LOAD, _REMOTE = OP["LOAD"], OP["REMOTE_LOAD"]
# Loads, stores and atomics stand in the same order, here and of other blocks.
assert [OP["STORE"] - _LOAD, OP["ATOMIC"] - _LOAD] == [1, 2]


@apart
def mapped(pc: int, me: int, mask: int, a: int, R: Any, MB: Any, G: Any) -> int:
    """Note which block of the cluster each lane means; 0, or a fault."""
    at = G[MB_WARPS] + me
    for lane in range(32):
        if mask >> lane & 1:
            if not 0 <= R[a, lane] < G[CLUSTER]:
                return fail(G, NO_RANK, pc, me, lane, R[a, lane], G[CLUSTER])
            MB[at, V_RANKS + lane] = R[a, lane]
    return 0


@apart
def free_slot(slots: int, B: Any, G: Any) -> int:
    """Where the next block begins: beside those of its cluster; -1 for nowhere yet."""
    size, block = G[CLUSTER], G[NEXT_BLOCK]
    for slot in range(block % size, slots, size):
        if B[slot, B_LIVE]:
            continue
        first, same = slot - block % size, True
        for other in range(first, first + size):
            if B[other, B_LIVE] and B[other, B_NUMBER] // size != block // size:
                same = False
        if same:
            return slot
    return -1


@apart
def cluster_met(first: int, last: int, W: Any, VC: Any, G: Any) -> None:
    """All warps of a cluster have come: all goes on, all of it is seen."""
    for k in range(VC.shape[1]):
        most = 0
        for w in range(first, last):
            most = max(most, VC[w, k])
        for w in range(first, last):
            VC[w, k] = most
    for w in range(first, last):
        for v in range(first, last):
            VC[v, W[w, NUMBER]] = G[SEQ] + 1
    for w in range(first, last):
        W[w, SYNCED] = W[w, BLOCK_SYNCED] = W[w, CLUSTER_SYNCED] = G[SEQ] + 1
        if W[w, STATE] == AT_CLUSTER:
            W[w, STATE], W[w, STUCK] = READY, 0
            W[w, PC] += 1
    G[SEQ] += 1
    G[VERSION] += 1


@apart
def all_came(first: int, size: int, W: Any, B: Any, width: int) -> bool:
    """Whether every warp of a cluster is at its barrier, or has returned before."""
    came = 0
    for slot in range(first, first + size):
        if B[slot, B_NUMBER] != B[first, B_NUMBER] + slot - first:
            return False
        for w in range(slot * width, slot * width + width):
            if W[w, STATE] == AT_CLUSTER:
                came += 1
            elif W[w, STATE] != DONE or W[w, FELL] != 0:
                return False
    return came > 0


@apart
def clusters_met(W: Any, B: Any, VC: Any, G: Any, width: int) -> bool:
    """Let clusters go on that have all come; whether any did."""
    size, any_of_them = G[CLUSTER], False
    for first in range(0, B.shape[0], size):
        if not all_came(first, size, W, B, width):
            continue
        cluster_met(first * width, (first + size) * width, W, VC, G)
        for slot in range(first, first + size):
            B[slot, B_EVENT] = 0
        any_of_them = True
    return any_of_them


@apart
def at_cluster(
    pc: int, me: int, mask: int, W: Any, B: Any, G: Any, E: Any, TR: Any
) -> int:
    """A warp at ``cluster_sync()``: 1 to wait, or FAILED + 10.

    For the replay, which has one multiprocessor, it is a barrier of the block.
    """
    missing = W[me, ALIVE] & ~mask
    if missing:
        return 10 + fail(G, NOT_ALL_OF_CLUSTER, pc, me, first_lane(missing), 0, 0)
    W[me, STATE], W[me, WAITS_PC] = AT_CLUSTER, pc
    if W[me, RECORD] >= 0:
        slot = W[me, SLOT]
        if B[slot, B_EVENT] == 0:
            B[slot, B_EVENT] = G[EVENTS] + 1
            G[EVENTS] += 1
        event = B[slot, B_EVENT] - 1
        E[event] += 1
        TR[G[TRACED] - 1, T_ARRIVE] = TR[G[TRACED] - 1, T_WAIT] = event
    return 1


@apart
def remote(op: int, pc: int, me: int, mask: int, R: Any, F: Any, t: Tables) -> int:
    """Load, store or combine in other blocks' shared memory, block after block."""
    W, B, G = t.W, t.B, t.G
    MB, TR = t.MB, t.TR
    own, size, at = W[me, SLOT], G[CLUSTER], G[MB_WARPS] + me
    first = own // size * size
    passes = turns = 0
    for rank in range(size):
        some = 0
        for lane in range(32):
            if mask >> lane & 1 and MB[at, V_RANKS + lane] == rank:
                some |= 1 << lane
        if some == 0:
            continue
        slot, lane = first + rank, first_lane(some)
        if B[slot, B_NUMBER] != B[own, B_NUMBER] - own % size + rank:
            return fail(G, NOT_BEGUN, pc, me, lane, rank, 0)
        if B[slot, B_LIVE] == 0:
            return fail(G, ENDED, pc, me, lane, rank, 0)
        W[me, SLOT] = slot
        said = accessed(_LOAD + op - _REMOTE, pc, me, some, R, F, t)
        W[me, SLOT] = own
        if said:
            return said
        if W[me, RECORD] >= 0:
            last = G[TRACED] - 1
            passes += TR[last, T_PASSES]
            turns = max(turns, TR[last, T_TURNS])
            TR[last, T_PASSES], TR[last, T_TURNS] = passes, turns
    return 0

"""Which accesses come in an order that a barrier gives, and who is told of a race.

Most accesses are plainly in order: nobody else has touched the element since the last
barrier of the block, or it is only read. Those are settled here a warp at a time; what
is left in doubt goes lane by lane through the clocks of ``memory_lanes``.
"""

from __future__ import annotations

from typing import Any

from ..lang.program import OP
from ._apart import apart
from .memory_lanes import adds, reads, writes
from .state import (
    A_FRESH,
    A_OPEN,
    A_SHADOW,
    A_SPACE,
    A_WATCHED,
    ATOMIC_BY,
    ATOMIC_RACE,
    BAD_ONE,
    BLOCK,
    BLOCK_SYNCED,
    LOCAL,
    NOBODY,
    NUMBER,
    OF_BLOCK,
    OF_WARP,
    PLAIN,
    READ_AT,
    READ_RACE,
    READER,
    SEQ,
    SHARED,
    SYNCED,
    UNWRITTEN,
    WARPS_HERE,
    WRITE_RACE,
    WRITER,
    WRITTEN_AT,
)

_LOAD, _STORE = OP["LOAD"], OP["STORE"]


@apart
def reads_in_order(
    mask: int,
    array: int,
    count: int,
    shadow: int,
    X: Any,
    me: int,
    A: Any,
    H: Any,
    L: Any,
    W: Any,
    G: Any,
    threads: int,
) -> int:
    """Lanes whose load is not plainly in order; the others' is noted.

    ``X``: index of the first element by lane. What was written before the last barrier
    of the block, or by the thread itself, may be read; who has read it is noted as a
    thread, its warp or its block.
    """
    synced, warp_synced = W[me, BLOCK_SYNCED], W[me, SYNCED]
    plain, seq = G[PLAIN] != 0, G[SEQ]
    of_warp = 4 * (W[me, NUMBER] + 1) + OF_WARP
    of_block = 4 * (W[me, BLOCK] + 1) + OF_BLOCK
    own = A[array, A_SPACE] == SHARED and A[array, A_OPEN] == 0
    first = A[array, A_SHADOW] + shadow
    fresh = A[array, A_FRESH] - 1 + shadow if A[array, A_FRESH] else -1
    watch = A[array, A_WATCHED] != 0
    low = W[me, BLOCK] * threads  # threads of my block, and of my warp
    high, start = low + threads, low + W[me, LOCAL] * 32
    left, last = 0, -1
    for lane in range(32):
        if not mask >> lane & 1:
            continue
        thread = start + lane
        if X[lane] == last:  # as the lane before
            for k in range(count):
                at = first + last + k
                if watch and H[at, READER] & 3 == 0:
                    H[at, READER] = of_warp
            continue
        last = X[lane]
        doubt = False
        for k in range(count):
            at = last + k
            if fresh >= 0 and L[fresh + at] == 0:
                doubt = True
            if not watch:
                continue
            it, code = H[first + at, WRITER], H[first + at, READER]
            if it != NOBODY and it != thread + 1:
                before = H[first + at, WRITTEN_AT] < synced
                doubt = doubt or not (before and (own or low < it <= high))
            doubt = doubt or H[first + at, ATOMIC_BY] != NOBODY
            if code == NOBODY or code == 4 * (thread + 1):
                continue
            gone = own and H[first + at, READ_AT] < synced
            ours = code == of_block or code == of_warp
            ours = ours or (code & 3 == 0 and start < code >> 2 <= start + 32)
            doubt = doubt or not (gone or (plain and (own or ours)))
        if doubt:
            left |= 1 << lane
            last = -1
            continue
        if not watch:
            continue
        for k in range(count):
            at = first + last + k
            code, then = H[at, READER], H[at, READ_AT]
            H[at, READ_AT] = seq
            past = then < synced and (own or code == of_block)
            if code == NOBODY or past or (code == of_warp and then < warp_synced):
                H[at, READER] = 4 * (thread + 1)
                H[at, WARPS_HERE] = 1 << W[me, LOCAL]
            elif code == of_warp or code == of_block:
                pass
            elif code & 3 == 0 and start < code >> 2 <= start + 32:
                same = code == 4 * (thread + 1) or then < warp_synced
                H[at, READER] = 4 * (thread + 1) if same else of_warp
            else:
                H[at, READER] = of_block
    return left


@apart
def writes_in_order(
    mask: int,
    array: int,
    count: int,
    shadow: int,
    X: Any,
    me: int,
    A: Any,
    H: Any,
    L: Any,
    W: Any,
    G: Any,
    threads: int,
) -> int:
    """Lanes whose store is not plainly in order; the others' is noted."""
    synced, seq = W[me, BLOCK_SYNCED], G[SEQ]
    own = A[array, A_SPACE] == SHARED and A[array, A_OPEN] == 0
    first = A[array, A_SHADOW] + shadow
    fresh = A[array, A_FRESH] - 1 + shadow if A[array, A_FRESH] else -1
    watch = A[array, A_WATCHED] != 0
    low = W[me, BLOCK] * threads
    high, start = low + threads, low + W[me, LOCAL] * 32
    left = 0
    for lane in range(32):
        if not mask >> lane & 1:
            continue
        thread, doubt = start + lane, False
        for k in range(count):
            at = first + X[lane] + k
            if not watch:
                break
            it, code = H[at, WRITER], H[at, READER]
            if it != NOBODY and it != thread + 1:
                before = H[at, WRITTEN_AT] < synced
                doubt = doubt or not (before and (own or low < it <= high))
            doubt = doubt or H[at, ATOMIC_BY] != NOBODY
            if code != NOBODY and code != 4 * (thread + 1):
                doubt = doubt or not (own and H[at, READ_AT] < synced)
        if doubt:
            left |= 1 << lane
            continue
        for k in range(count):
            at = X[lane] + k
            if fresh >= 0:
                L[fresh + at] = 1
            if watch:
                H[first + at, WRITER] = thread + 1
                H[first + at, WRITTEN_AT] = seq
                H[first + at, READER] = NOBODY
                H[first + at, WARPS_HERE] = 0
    return left


@apart
def watched(
    op: int,
    array: int,
    at: int,
    count: int,
    lane: int,
    base: int,
    me: int,
    A: Any,
    H: Any,
    L: Any,
    W: Any,
    VC: Any,
    G: Any,
    width: int,
    threads: int,
) -> int:
    """0, or what is wrong with a lane's access to so many elements."""
    thread = W[me, BLOCK] * threads + W[me, LOCAL] * 32 + lane
    seq = G[SEQ]
    for k in range(count):
        place = A[array, A_SHADOW] + base + at + k
        if A[array, A_FRESH]:
            fresh = A[array, A_FRESH] - 1 + base + at + k
            if op == _STORE:
                L[fresh] = 1
            elif L[fresh] == 0:
                G[BAD_ONE] = at + k
                return UNWRITTEN
        if not A[array, A_WATCHED]:
            continue
        if op == _LOAD:
            bad, why = (
                reads(H, place, thread, seq, W, VC, me, width, threads),
                READ_RACE,
            )
        elif op == _STORE:
            bad = writes(H, place, thread, seq, W, VC, me, width, threads)
            why = WRITE_RACE
        else:
            bad = adds(H, place, thread, seq, W, VC, me, width, threads)
            why = ATOMIC_RACE
        if bad:
            G[BAD_ONE] = at + k
            return why
    return 0

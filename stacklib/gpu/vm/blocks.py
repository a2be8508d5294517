"""A block begins: who its threads are, and that it holds nothing yet."""

from __future__ import annotations

from typing import Any

from ._apart import apart, inner
from .state import (
    A_DIMS,
    A_FRESH,
    A_SHADOW,
    A_SPACE,
    A_WATCHED,
    ALIVE,
    B_LIVE,
    B_NUMBER,
    BLOCK,
    DEPTH,
    LAUNCHED,
    LOCAL,
    MASK,
    NAMED,
    NUMBER,
    RECORD,
    SEEN_VERSION,
    SHARED,
    SLOT,
    STUCK,
    Own,
    Tables,
)


@apart
def begun(slot: int, block: int, record: int, own: Own, t: Tables) -> None:
    """A block begins: who its threads are, nothing in shared memory."""
    W, B, A = t.W, t.B, t.A
    H, L, VC = t.H, t.L, t.VC
    RR, BAR, LOV = own.RR, own.BAR, own.LOV
    SP, grid, dims = own.SP, own.grid, own.dims
    width, threads = t.width, t.threads
    B[slot, B_NUMBER], B[slot, B_LIVE] = block, width
    for n in range(NAMED):
        for k in range(5):
            BAR[slot, n, k] = 0
    for array in range(A.shape[0]):
        if A[array, A_SPACE] != SHARED:
            continue
        size = A[array, A_DIMS + 6]
        first = A[array, A_SHADOW] + slot * A[array, A_DIMS + 7]
        fresh = A[array, A_FRESH] - 1 + slot * A[array, A_DIMS + 7]
        for k in range(size):
            if A[array, A_WATCHED]:
                for c in range(H.shape[1]):
                    H[first + k, c] = 0
            if A[array, A_FRESH]:
                L[fresh + k] = 0
    for w in range(width):
        me = slot * width + w
        kept = min(32, threads - 32 * w)
        mask = (1 << kept) - 1
        for c in range(W.shape[1]):
            W[me, c] = 0
        W[me, MASK] = W[me, ALIVE] = W[me, LAUNCHED] = mask
        W[me, DEPTH], W[me, SLOT], W[me, LOCAL] = -1, slot, w
        W[me, BLOCK], W[me, NUMBER] = block, block * width + w
        W[me, RECORD] = record * width + w if record >= 0 else -1
        W[me, SEEN_VERSION] = -1
        for row in range(me, VC.shape[0], W.shape[0]):
            for k in range(VC.shape[1]):
                VC[row, k] = 0
        for k in range(LOV.shape[1]):
            LOV[me, k] = 0
        who(me, w, block, RR[me], SP, grid, dims)


@inner
def who(me: int, w: int, block: int, R: Any, SP: Any, grid: Any, dims: Any) -> None:
    """What a thread is: rows of (register, 0 to 7 for thread, block, lane, warp)."""
    for k in range(SP.shape[0]):
        D, what = R[SP[k, 0]], SP[k, 1]
        for lane in range(32):
            thread = 32 * w + lane
            if what == 0:
                D[lane] = thread % dims[0]
            elif what == 1:
                D[lane] = thread // dims[0] % dims[1]
            elif what == 2:
                D[lane] = thread // (dims[0] * dims[1])
            elif what == 3:
                D[lane] = block % grid[0]
            elif what == 4:
                D[lane] = block // grid[0] % grid[1]
            elif what == 5:
                D[lane] = block // (grid[0] * grid[1])
            elif what == 6:
                D[lane] = lane
            elif what == 7:
                D[lane] = w
            else:
                D[lane] = block % grid[3]


@inner
def unstick(W: Any) -> None:
    """Something changed: who went round in a circle may find it."""
    for w in range(W.shape[0]):
        W[w, STUCK] = 0

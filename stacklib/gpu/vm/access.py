"""Loads, stores and atomics: each bound checked, each access counted and watched."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._apart import apart, inner
from .basics import fail
from .formats import F32, I32, U64
from .memory_lanes import (
    bank_passes,
    fetched_real,
    fetched_whole,
    most_turns,
    sort32,
    stored_real,
    stored_whole,
    touched,
)
from .order import reads_in_order, watched, writes_in_order
from .program import OP
from .state import (
    A_BASE,
    A_DIMS,
    A_FRESH,
    A_SHADOW,
    A_SIZE,
    A_SPACE,
    A_STRIDE,
    A_WATCHED,
    BAD_ONE,
    BLOCK,
    C_ASKED,
    C_LINES,
    C_PASSES,
    C_PHASES,
    C_REQUESTS,
    C_SECTORS,
    CONSTANT,
    FENCED,
    MISALIGNED,
    NUMBER,
    R_COUNT,
    R_FIRST,
    R_KIND,
    R_ORDER,
    R_PC,
    R_TURNS,
    R_WARP,
    RECORD,
    REQUESTS,
    REQUESTS_MADE,
    SECTORS_MADE,
    SEQ,
    SHARED,
    SLOT,
    T_PASSES,
    T_REQUEST,
    T_TURNS,
    TRACED,
    VERSION,
    Tables,
)

_ATOMIC, _LOAD, _STORE = (OP[x] for x in ("ATOMIC", "LOAD", "STORE"))
_STORE_LOCAL = OP["STORE_LOCAL"]
_ADD, _MAX, _MIN, _EXCH, _CAS, _AND, _OR, _XOR, _SUB, _INC, _READ = range(11)

APART = 1 << 40  # more than elements that are watched


@apart
def bound(mask: int, R: Any, A: Any, a: int, imm: int) -> int:
    """-1, or a lane whose index lies outside its axis."""
    array, axis, count = imm // 256, imm // 32 % 8, imm % 32
    most = A[array, A_DIMS + axis] - count
    X = R[a]
    bad = 0
    for lane in range(32):
        if (X[lane] < 0 or X[lane] > most) and mask >> lane & 1:
            bad |= 1 << lane
    if bad == 0:
        return -1
    for lane in range(32):
        if bad >> lane & 1:
            return lane
    return -1


@apart
def indexed(mask: int, R: Any, A: Any, d: int, a: int, b: int, imm: int) -> int:
    """``row * width + column``; -1, or a lane whose column lies outside."""
    bad = bound(mask, R, A, b, imm)
    if bad < 0:
        length = A[imm // 256, A_DIMS + imm // 32 % 8]
        for lane in range(32):
            if mask >> lane & 1:
                R[d, lane] = R[a, lane] * length + R[b, lane]
    return bad


@apart
def private(
    op: int,
    array: int,
    d: int,
    a: int,
    b: int,
    me: int,
    mask: int,
    R: Any,
    A: Any,
    LOC: Any,
    LOV: Any,
) -> int:
    """A thread's own array; -1, or a lane that reads what it never set."""
    first = A[array, A_BASE]
    for lane in range(32):
        if mask >> lane & 1:
            at = first + R[a, lane]
            if op == _STORE_LOCAL:
                LOC[me, at, lane] = R[b, lane]
                LOV[me, at] |= 1 << lane
            else:
                if not LOV[me, at] >> lane & 1:
                    return lane
                R[d, lane] = LOC[me, at, lane]
    return -1


@apart
def combined_whole(what: int, form: int, old: int, x: int, new: int) -> int:
    """What an atomic leaves of a whole number."""
    if what == _ADD:
        return old + x
    if what == _SUB:
        return old - x
    if what == _MAX or what == _MIN:
        less = np.uint64(old) < np.uint64(x) if form == U64 else old < x
        return x if less == (what == _MAX) else old
    if what == _EXCH:
        return x
    if what == _CAS:
        return new if old == x else old
    if what == _AND:
        return old & x
    if what == _OR:
        return old | x
    if what == _XOR:
        return old ^ x
    if what == _INC:
        return 0 if np.uint64(old) >= np.uint64(x) else old + 1
    return old


@apart
def combined_real(what: int, old: float, x: float, new: float) -> float:
    """What an atomic leaves of a float."""
    if what == _ADD:
        return old + x
    if what == _SUB:
        return old - x
    if what == _MAX:
        return max(old, x)
    if what == _MIN:
        return min(old, x)
    if what == _EXCH:
        return x
    if what == _CAS:
        return new if old == x else old
    return old


@apart
def loaded(
    form: int,
    mask: int,
    base: int,
    size: int,
    count: int,
    d: int,
    a: int,
    R: Any,
    F: Any,
    M8: Any,
    M16: Any,
    M32: Any,
    M64: Any,
    MF: Any,
    MD: Any,
) -> None:
    """Values of the active lanes' elements, neighbours in neighbouring registers."""
    floating = 9 <= form <= 14
    for lane in range(32):
        if mask >> lane & 1:
            at = R[a, lane]
            for k in range(count):
                byte = base + (at + k) * size
                if form == F32:
                    F[d + k, lane] = float(MF[byte >> 2])
                elif floating:
                    F[d + k, lane] = fetched_real(form, byte, M8, M16, MF, MD)
                elif form == I32:
                    R[d + k, lane] = np.int64(np.int32(M32[byte >> 2]))
                else:
                    R[d + k, lane] = fetched_whole(form, byte, M8, M16, M32, M64)


@apart
def accessed(op: int, pc: int, me: int, mask: int, R: Any, F: Any, t: Tables) -> int:
    """A load, a store or an atomic of the active lanes."""
    W, A, H = t.W, t.A, t.H
    L, VC, G = t.L, t.VC, t.G
    C, Q, TR = t.C, t.Q, t.TR
    M8, M16, M32 = t.M8, t.M16, t.M32
    M64, MF, MD = t.M64, t.MF, t.MD
    scratch, FV, LV = t.scratch, t.FV, t.LV
    S, width, threads = t.S, t.width, t.threads
    row = t.P[pc]
    form, d, a = row[1], row[2], row[3]
    b, c, imm = row[4], row[5], row[6]
    what = 0
    array = imm
    count = 1
    if op == _ATOMIC:
        what, array = imm % 16, imm // 16
    elif c > 0:
        count = c
    size, space = A[array, A_SIZE], A[array, A_SPACE]
    slot = W[me, SLOT]
    base = A[array, A_BASE]
    shadow = 0
    if space == SHARED:
        base += slot * A[array, A_STRIDE]
        shadow = slot * A[array, A_DIMS + 7]
    at, words, ways = scratch[0], scratch[1], scratch[2]
    n, wide = 0, size * count
    start = A[array, A_BASE]
    for lane in range(32):
        if mask >> lane & 1:
            address = start + R[a, lane] * size
            if count > 1 and address % wide != 0:
                return fail(G, MISALIGNED, pc, me, lane, array, address)
            at[lane] = address
            words[n] = address
            n += 1
    # What it asks of memory.
    G[SEQ] += 1
    passes = turns = 0
    request = -1
    C[pc, C_REQUESTS] += 1
    if space == SHARED:
        straight = bank_passes(at, mask, wide, scratch[3], ways)
        passes = straight[1]
        C[pc, C_PHASES] += straight[0]
        C[pc, C_PASSES] += passes
        if op == _ATOMIC:
            sort32(words, n)
            turns = most_turns(words, n)
    elif space == CONSTANT:
        sort32(words, n)
        passes = touched(words, n, ways)[2]
        C[pc, C_PASSES] += passes
    else:
        for i in range(1, n):
            if words[i] < words[i - 1]:
                sort32(words, n)
                break
        sectors, lines, asked = touched(words, n, S[G[SECTORS_MADE] :])
        C[pc, C_SECTORS] += sectors
        C[pc, C_LINES] += lines
        C[pc, C_ASKED] += asked * wide
        passes = lines
        if op == _ATOMIC:
            turns = most_turns(words, n)
        request = G[REQUESTS_MADE]
        Q[request, R_ORDER] = W[me, REQUESTS]
        Q[request, R_WARP] = W[me, NUMBER]
        Q[request, R_KIND] = 0 if op == _LOAD else (1 if op == _STORE else 2)
        Q[request, R_FIRST] = G[SECTORS_MADE]
        Q[request, R_COUNT] = sectors
        Q[request, R_PC] = pc
        Q[request, R_TURNS] = turns
        G[REQUESTS_MADE] += 1
        G[SECTORS_MADE] += sectors
        W[me, REQUESTS] += 1
    if W[me, RECORD] >= 0:
        last = G[TRACED] - 1
        TR[last, T_REQUEST], TR[last, T_PASSES] = request, passes
        TR[last, T_TURNS] = turns
    # The values, lane by lane.
    floating = 9 <= form <= 14
    doubtful, changed = 0, False
    if A[array, A_WATCHED] or A[array, A_FRESH]:
        if op == _LOAD:
            doubtful = reads_in_order(
                mask, array, count, shadow, R[a], me, A, H, L, W, G, threads
            )
        elif op == _STORE:
            doubtful = writes_in_order(
                mask, array, count, shadow, R[a], me, A, H, L, W, G, threads
            )
        else:
            doubtful = mask
    for lane in range(32):
        if doubtful == 0:
            break
        if doubtful >> lane & 1:
            element = R[a, lane]
            bad = watched(
                op,
                array,
                element,
                count,
                lane,
                shadow,
                me,
                A,
                H,
                L,
                W,
                VC,
                G,
                width,
                threads,
            )
            if bad:
                return fail(G, bad, pc, me, lane, G[BAD_ONE], array)
    if op == _LOAD:
        loaded(form, mask, base, size, count, d, a, R, F, M8, M16, M32, M64, MF, MD)
        return 0
    for lane in range(32):
        if not mask >> lane & 1:
            continue
        element = R[a, lane]
        for k in range(count):
            byte = base + (element + k) * size
            if op == _STORE:
                if form == F32:  # the most frequent calls nothing
                    changed = changed or not MF[byte >> 2] == F[b + k, lane]
                    MF[byte >> 2] = np.float32(F[b + k, lane])
                elif floating:
                    old = fetched_real(form, byte, M8, M16, MF, MD)
                    stored_real(form, byte, F[b + k, lane], M8, M16, MF, MD)
                    changed = changed or not old == F[b + k, lane]
                else:
                    was = fetched_whole(form, byte, M8, M16, M32, M64)
                    stored_whole(form, byte, R[b + k, lane], M8, M16, M32, M64)
                    changed = changed or was != R[b + k, lane]
            elif floating:
                old = fetched_real(form, byte, M8, M16, MF, MD)
                given = F[b, lane] if b >= 0 else 0.0
                second = F[c, lane] if c >= 0 else 0.0
                new = combined_real(what, old, given, second)
                if what != _READ:
                    stored_real(form, byte, new, M8, M16, MF, MD)
                changed = changed or old != new
                scratch_real(FV, d, lane, old)
            else:
                was = fetched_whole(form, byte, M8, M16, M32, M64)
                one = R[b, lane] if b >= 0 else 0
                two = R[c, lane] if c >= 0 else 0
                left = combined_whole(what, form, was, one, two)
                if what != _READ:
                    stored_whole(form, byte, left, M8, M16, M32, M64)
                changed = changed or was != left
                scratch[4][lane] = was
    if op == _ATOMIC:
        for lane in range(32):
            if mask >> lane & 1:
                if floating:
                    F[d, lane] = FV[0, lane]
                else:
                    R[d, lane] = scratch[4][lane]
                if LV.shape[0] > 0 and A[array, A_WATCHED]:
                    element = (at[lane] - start) // size
                    place = A[array, A_SHADOW] + shadow + element
                    handed_over(place, me, what, LV, VC, W, G)
    if changed:
        G[VERSION] += 1
    return 0


@inner
def scratch_real(FV: Any, d: int, lane: int, x: float) -> None:
    """Keep what an atomic found until all lanes are through."""
    FV[0, lane] = x


@apart
def handed_over(
    place: int, me: int, what: int, LV: Any, VC: Any, W: Any, G: Any
) -> None:
    """An atomic passes on what its warp had fenced, and takes what others left there.

    ``LV``: for each element that was ever used so, how far its value tells of each
    warp; row 0 counts them, column 0 is the element. What a fence of the block passes
    on stands in a row for each block.
    """
    passed(1, place, me, what, LV, VC, W)
    if VC.shape[0] > 2 * W.shape[0]:
        mine = -place - (W[me, BLOCK] + 1) * APART
        passed(2, mine, me, what, LV, VC, W)


@apart
def passed(kind: int, place: int, me: int, what: int, LV: Any, VC: Any, W: Any) -> None:
    """What fences of one kind tell through an element."""
    n = LV[0, 0]
    found = -1
    for i in range(1, n + 1):
        if LV[i, 0] == place:
            found = i
            break
    fenced = W[me, FENCED] & kind != 0
    if found < 0:
        if not fenced or what == _READ or n + 1 >= LV.shape[0]:
            return
        found = n + 1
        LV[0, 0] = found
        LV[found, 0] = place
        for k in range(VC.shape[1]):
            LV[found, k + 1] = 0
    for k in range(VC.shape[1]):
        VC[me, k] = max(VC[me, k], LV[found, k + 1])
    if fenced and what != _READ:
        row = kind * W.shape[0] + me  # what the warp had seen at its fence
        for k in range(VC.shape[1]):
            LV[found, k + 1] = max(LV[found, k + 1], VC[row, k])

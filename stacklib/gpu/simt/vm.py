"""The machine: every warp runs a program with a counter and a stack of masks of its own.

At a branch both sides run, one after the other, each with the lanes that take it, and
the paths join where the statement ends (the immediate post-dominator: W. Fung et al.,
*Dynamic warp formation*, MICRO 2007, section 2). A warp that waits is left where it
stands, and another goes on; so warps can wait for each other. Warps of a block run in
turn, the next block begins when those before it are finished or all wait.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..lang.formats import U64
from ..lang.program import OP
from ._apart import apart, inner
from .lanes import (
    compared,
    compared_unsigned,
    converted,
    real,
    whole,
    wrapped,
)
from .memory_lanes import (
    adds,
    bank_passes,
    fetched_real,
    fetched_whole,
    most_turns,
    reads,
    sort32,
    stored_real,
    stored_whole,
    touched,
    writes,
)
from .state import (
    A_BASE,
    A_DIMS,
    A_FRESH,
    A_SHADOW,
    A_SIZE,
    A_SPACE,
    A_STRIDE,
    A_WATCHED,
    ALIVE,
    ARRIVED,
    ASLEEP,
    AT_BARRIER,
    AT_GRID,
    ATOMIC_RACE,
    B_LIVE,
    B_NUMBER,
    B_RECORD,
    BAD,
    BAD_LANE,
    BAD_ONE,
    BAD_PC,
    BAD_TWO,
    BAD_WARP,
    BARRIERS,
    BLOCK,
    BLOCK_SYNCED,
    BRANCH,
    C_ASKED,
    C_BRANCHES,
    C_LANES,
    C_LINES,
    C_PARTED,
    C_PASSES,
    C_PHASES,
    C_REQUESTS,
    C_SECTORS,
    C_WARPS,
    CAME,
    DEADLOCK,
    DEPTH,
    DIVIDES,
    DONE,
    EVENT,
    EVENTS,
    EXPECTED,
    FAILED,
    FELL,
    FENCED,
    FINISHED,
    FULL,
    GRID_EVENT,
    GRID_SYNCED,
    ISSUED,
    KIND,
    LAUNCHED,
    LIVE_GRID,
    LOCAL,
    MASK,
    MISALIGNED,
    NAMED,
    NEGATIVE_BARRIER,
    NEVER_SET,
    NEXT_BLOCK,
    NOT_ALL,
    NOT_ALL_OF_WARP,
    NUMBER,
    OTHER,
    OUTSIDE,
    PAUSED,
    PC,
    R_COUNT,
    R_FIRST,
    R_KIND,
    R_ORDER,
    R_PC,
    R_WARP,
    READ_RACE,
    READY,
    RECORD,
    REQUESTS,
    REQUESTS_MADE,
    ROUND,
    ROUNDS,
    ROUNDS_OUT,
    SECTORS_MADE,
    SEEN_AT,
    SEEN_HASH,
    SEEN_VERSION,
    SEQ,
    SHARED,
    SLOT,
    STATE,
    STEPS,
    STUCK,
    SYNCED,
    T_ARRIVE,
    T_MASK,
    T_PASSES,
    T_PC,
    T_REQUEST,
    T_TURNS,
    T_WAIT,
    T_WARP,
    TAKEN,
    TRACED,
    UNWRITTEN,
    VERSION,
    WAITING,
    WAITS_FOR,
    WAITS_PC,
    WHO,
    WRITE_RACE,
)

FULL_MASK = 4294967295
LOOK = 64  # rounds of a long loop between two looks whether it goes in a circle
MOST_ROUNDS = 4_000_000  # of one loop, before it is taken to hang
LAST_WHOLE, LAST_REAL, LAST_MOVE = (OP[x] for x in ("POPC", "CEIL", "TEST"))
LAST_MARK, LAST_BETWEEN, FIRST_SYNC = (OP[x] for x in ("CHECK", "REDUCE", "BARRIER"))
WAITS, YIELDS = 9, 8  # the warp waits; it has had its turn
_COMPARE, _FCOMPARE, _SELECT, _MOVE = (
    OP[x] for x in ("COMPARE", "FCOMPARE", "SELECT", "MOVE")
)
_CONVERT, _NOT, _TEST, _SHUFFLE = (OP[x] for x in ("CONVERT", "NOT", "TEST", "SHUFFLE"))
_VOTE, _MATCH, _REDUCE, _BOUND = (OP[x] for x in ("VOTE", "MATCH", "REDUCE", "BOUND"))
_INDEX, _LOAD, _STORE, _ATOMIC = (OP[x] for x in ("INDEX", "LOAD", "STORE", "ATOMIC"))
_LOAD_LOCAL, _STORE_LOCAL = OP["LOAD_LOCAL"], OP["STORE_LOCAL"]
_IF, _ELSE, _ENDIF, _LOOP = (OP[x] for x in ("IF", "ELSE", "ENDIF", "LOOP"))
_WHILE, _NEXT, _JUMP, _ENDLOOP = (OP[x] for x in ("WHILE", "NEXT", "JUMP", "ENDLOOP"))
_BREAK, _CONTINUE, _EXIT, _UNSET = (
    OP[x] for x in ("BREAK", "CONTINUE", "EXIT", "UNSET")
)
_SET, _CHECK, _PAD, _BARRIER = (OP[x] for x in ("SET", "CHECK", "PAD", "BARRIER"))
_WARP_BARRIER, _GRID_BARRIER = OP["WARP_BARRIER"], OP["GRID_BARRIER"]
_FENCE = OP["FENCE"]
_ADD, _MAX, _MIN, _EXCH, _CAS, _AND, _OR, _XOR, _SUB, _INC, _READ = range(11)


@inner
def count_bits(mask: int) -> int:
    """Lanes of a mask."""
    x = mask - (mask >> 1 & 0x55555555)
    x = (x & 0x33333333) + (x >> 2 & 0x33333333)
    x = (x + (x >> 4)) & 0x0F0F0F0F
    return (x * 0x01010101 & 0xFFFFFFFF) >> 24


@apart
def bits_of(mask: int, R: Any, a: int) -> int:
    """The lanes of a mask whose value is not zero."""
    held = 0
    for lane in range(32):
        if R[a, lane] != 0:
            held |= 1 << lane
    return held & mask


@apart
def fail(G: Any, why: int, pc: int, warp: int, lane: int, one: int, two: int) -> int:
    """Note what is wrong."""
    G[BAD], G[BAD_PC], G[BAD_WARP], G[BAD_LANE] = why, pc, warp, lane
    G[BAD_ONE], G[BAD_TWO] = one, two
    return FAILED


# -- between lanes ---------------------------------------------------------------


@apart
def shuffled(mask: int, R: Any, T: Any, d: int, a: int, b: int, imm: int) -> int:
    """Values of other lanes; -1, or a lane whose source is masked off."""
    how, width = imm // 64, imm % 64
    for lane in range(32):
        if mask >> lane & 1:
            by, first = R[b, lane], lane // width * width
            source = lane
            if how == 0:
                source = first + by % width
            elif how == 1:
                source = lane + by if 0 <= by and lane + by < first + width else lane
            elif how == 2:
                source = lane - by if 0 <= by and lane - by >= first else lane
            else:
                source = lane ^ (by & 31)
                source = source if source < first + width else lane
            if not mask >> source & 1:
                return lane
            T[lane] = R[a, source]
    for lane in range(32):
        if mask >> lane & 1:
            R[d, lane] = T[lane]
    return -1


@apart
def voted(mask: int, R: Any, d: int, a: int, how: int) -> None:
    """One answer of the warp's active lanes."""
    held = bits_of(mask, R, a)
    answer = held
    if how == 0:
        answer = 1 if held != 0 else 0
    elif how == 1:
        answer = 1 if held == mask else 0
    elif how == 3:
        answer = mask
    for lane in range(32):
        if mask >> lane & 1:
            R[d, lane] = answer


@apart
def matched(mask: int, R: Any, T: Any, d: int, a: int) -> None:
    """The lanes that hold the same, of each."""
    # The number of lanes is asked for: a loop of 32 known rounds in another would be
    # written out a thousand times.
    for lane in range(R.shape[1]):
        T[lane] = 0
        for other in range(R.shape[1]):
            if mask >> other & 1 and R[a, other] == R[a, lane]:
                T[lane] |= 1 << other
    for lane in range(32):
        if mask >> lane & 1:
            R[d, lane] = T[lane]


@apart
def reduced(mask: int, R: Any, d: int, a: int, how: int) -> int:
    """What the active lanes' whole numbers come to."""
    found, first = 0, True
    for lane in range(32):
        if mask >> lane & 1:
            x = R[a, lane]
            if first:
                found = x
            elif how == 0:
                found += x
            elif how == 1:
                found = min(found, x)
            else:
                found = max(found, x)
            first = False
    return found


# -- memory ----------------------------------------------------------------------


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
        return 0 if old >= x else old + 1
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


@apart
def accessed(
    op: int,
    pc: int,
    form: int,
    d: int,
    a: int,
    b: int,
    c: int,
    imm: int,
    me: int,
    mask: int,
    W: Any,
    R: Any,
    F: Any,
    A: Any,
    M8: Any,
    M16: Any,
    M32: Any,
    M64: Any,
    MF: Any,
    MD: Any,
    H: Any,
    L: Any,
    VC: Any,
    G: Any,
    C: Any,
    Q: Any,
    S: Any,
    TR: Any,
    scratch: Any,
    FV: Any,
    LV: Any,
    width: int,
    threads: int,
) -> int:
    """A load, a store or an atomic of the active lanes."""
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
        G[REQUESTS_MADE] += 1
        G[SECTORS_MADE] += sectors
        W[me, REQUESTS] += 1
    if W[me, RECORD] >= 0:
        last = G[TRACED] - 1
        TR[last, T_REQUEST], TR[last, T_PASSES] = request, passes
        TR[last, T_TURNS] = turns
    # The values, lane by lane.
    floating = 9 <= form <= 14
    watch = A[array, A_WATCHED] or A[array, A_FRESH]
    changed = False
    for lane in range(32):
        if not mask >> lane & 1:
            continue
        if watch:
            bad = watched(
                op,
                array,
                R[a, lane],
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
        for k in range(count):
            byte = base + (R[a, lane] + k) * size
            if op == _LOAD:
                if floating:
                    F[d + k, lane] = fetched_real(form, byte, M8, M16, MF, MD)
                else:
                    R[d + k, lane] = fetched_whole(form, byte, M8, M16, M32, M64)
            elif op == _STORE:
                if floating:
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
                    handed_over(
                        A[array, A_SHADOW] + shadow + R[a, lane], me, what, LV, VC, W, G
                    )
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
    warp; row 0 counts them, column 0 is the element.
    """
    n = LV[0, 0]
    found = -1
    for i in range(1, n + 1):
        if LV[i, 0] == place:
            found = i
            break
    fenced = W[me, FENCED] > 0
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
        row = VC.shape[0] // 2 + me  # what the warp had seen at its fence
        for k in range(VC.shape[1]):
            LV[found, k + 1] = max(LV[found, k + 1], VC[row, k])


# -- barriers --------------------------------------------------------------------


@inner
def column(W: Any, VC: Any, warp: int, width: int) -> int:
    """Which column of the clocks a resident warp has."""
    return W[warp, NUMBER] if VC.shape[1] > width else W[warp, LOCAL]


@apart
def met(
    who: int, first: int, W: Any, VC: Any, G: Any, width: int, whole_block: bool
) -> None:
    """Warps of a block that came to a barrier have seen all that each did before."""
    for k in range(VC.shape[1]):
        most = 0
        for w in range(width):
            if who >> w & 1:
                most = max(most, VC[first + w, k])
        for w in range(width):
            if who >> w & 1:
                VC[first + w, k] = most
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
def came_to(
    me: int,
    pc: int,
    row: Any,
    mask: int,
    W: Any,
    R: Any,
    B: Any,
    BAR: Any,
    VC: Any,
    G: Any,
    E: Any,
    TR: Any,
    width: int,
) -> int:
    """A warp at ``sync()`` or a named barrier; 1 where it must wait."""
    slot, how = W[me, SLOT], row[6]
    number, expected = 0, 0
    alive = W[me, ALIVE]
    if how:
        number, expected = R[row[3], first_lane(mask)], row[5]
        if not 0 <= number < NAMED:
            return -fail(G, NEGATIVE_BARRIER, pc, me, first_lane(mask), number, 0) - 10
    if mask != alive and how != 2:
        return -fail(G, NOT_ALL, pc, me, first_lane(alive & ~mask), number, 0) - 10
    first = slot * width
    if number == 0 and how == 0:
        for w in range(width):
            if W[first + w, STATE] == DONE and W[first + w, FELL] != 0:
                lane = first_lane(W[first + w, FELL])
                return -fail(G, NOT_ALL, pc, first + w, lane, 0, 0) - 10
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


@inner
def first_lane(mask: int) -> int:
    """The lowest lane of a mask."""
    for lane in range(32):
        if mask >> lane & 1:
            return lane
    return 0


@apart
def finished(
    me: int, mask: int, W: Any, B: Any, BAR: Any, VC: Any, G: Any, width: int
) -> int:
    """A warp is through: who waits for it need not any more; 0, or a fault."""
    W[me, STATE] = DONE
    W[me, FELL] = mask
    slot = W[me, SLOT]
    B[slot, B_LIVE] -= 1
    G[VERSION] += 1
    if BAR[slot, 0, ARRIVED] > 0 and BAR[slot, 0, EXPECTED] == 0:
        if mask != 0:
            return fail(
                G,
                NOT_ALL,
                W[waiting_one(slot, W, BAR, width), WAITS_PC],
                me,
                first_lane(mask),
                0,
                0,
            )
        if BAR[slot, 0, ARRIVED] >= B[slot, B_LIVE]:
            opened(slot, 0, W, BAR, VC, G, width)
    return 0


@inner
def waiting_one(slot: int, W: Any, BAR: Any, width: int) -> int:
    """A warp that waits at ``sync()``."""
    return slot * width + first_lane(BAR[slot, 0, WAITING])


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


# -- rows ------------------------------------------------------------------------


@apart
def hashed(me: int, R: Any, W: Any) -> int:
    """A number for all that a warp holds."""
    h = W[me, PC] * 1000003 + W[me, MASK]
    for r in range(R.shape[0]):
        for lane in range(32):
            h = (h ^ R[r, lane]) * 1099511628211
    return h


@apart
def counted(
    pc: int, me: int, mask: int, W: Any, G: Any, C: Any, TR: Any, E: Any
) -> bool:
    """Count an instruction, and log it if its warp is recorded; False for no room."""
    if W[me, RECORD] >= 0 and not logged(pc, me, mask, W, G, TR, E):
        return False
    C[pc, C_WARPS] += 1
    C[pc, C_LANES] += count_bits(mask)
    return True


@apart
def logged(pc: int, me: int, mask: int, W: Any, G: Any, TR: Any, E: Any) -> bool:
    """Log a row of a recorded warp; False for no room."""
    at = G[TRACED]
    if at + 1 >= TR.shape[0] or G[EVENTS] + 2 >= E.shape[0]:
        return False
    TR[at, T_WARP], TR[at, T_PC], TR[at, T_MASK] = W[me, RECORD], pc, mask
    TR[at, T_REQUEST] = TR[at, T_ARRIVE] = TR[at, T_WAIT] = -1
    TR[at, T_PASSES] = TR[at, T_TURNS] = 0
    G[TRACED] += 1
    return True


@apart
def uncounted(pc: int, me: int, mask: int, W: Any, G: Any, C: Any) -> int:
    """Take back an instruction that found no room for its request."""
    C[pc, C_WARPS] -= 1
    C[pc, C_LANES] -= count_bits(mask)
    if W[me, RECORD] >= 0:
        G[TRACED] -= 1
    return FULL


@apart
def moved(
    op: int,
    form: int,
    mask: int,
    R: Any,
    F: Any,
    T: Any,
    d: int,
    a: int,
    b: int,
    c: int,
    imm: int,
) -> None:
    """Moves, comparisons, selections and conversions."""
    if op == _MOVE:
        for lane in range(32):
            if mask >> lane & 1:
                R[d, lane] = R[a, lane]
    elif op == _COMPARE:
        if form == U64:
            compared_unsigned(imm, mask, R, d, a, b)
        else:
            compared(imm, form, mask, R, R, d, a, b)
    elif op == _FCOMPARE:
        compared(imm, form, mask, R, F, d, a, b)
    elif op == _SELECT:
        for lane in range(32):
            if mask >> lane & 1:
                R[d, lane] = R[b, lane] if R[a, lane] != 0 else R[c, lane]
    elif op == _NOT:
        for lane in range(32):
            if mask >> lane & 1:
                R[d, lane] = R[a, lane] == 0
    elif op == _CONVERT:
        converted(form, imm, mask, R, F, T, d, a)
    elif 9 <= form <= 14 or form == 16:
        for lane in range(32):
            if mask >> lane & 1:
                R[d, lane] = F[a, lane] != 0.0
    else:
        for lane in range(32):
            if mask >> lane & 1:
                R[d, lane] = R[a, lane] != 0


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
def between(
    op: int, form: int, mask: int, R: Any, T: Any, d: int, a: int, b: int, imm: int
) -> int:
    """Shuffles, votes, matches and reductions; -1, or a lane whose source sleeps."""
    if op == _SHUFFLE:
        return shuffled(mask, R, T, d, a, b, imm)
    if op == _VOTE:
        voted(mask, R, d, a, imm)
    elif op == _MATCH:
        matched(mask, R, T, d, a)
    else:
        found = wrapped(form, reduced(mask, R, d, a, imm))
        for lane in range(32):
            if mask >> lane & 1:
                R[d, lane] = found
    return -1


@apart
def flowed(
    op: int,
    pc: int,
    me: int,
    target: int,
    imm: int,
    held: int,
    W: Any,
    ST: Any,
    C: Any,
    counts: int,
    rounds: int,
) -> int:
    """Branches and loops: the next row, or -1 for a loop of too many rounds.

    ``held``: the active lanes whose condition holds.
    """
    mask, top = W[me, MASK], W[me, DEPTH]
    after = pc + 1
    if op == _IF:
        top += 1
        ST[me, top, KIND], ST[me, top, CAME] = BRANCH, mask
        ST[me, top, OTHER] = mask & ~held
        counted_branch(pc, mask, held, C, counts)
        mask = held
    elif op == _ELSE:
        mask = ST[me, top, OTHER]
        ST[me, top, OTHER] = 0
    elif op == _ENDIF or op == _ENDLOOP:
        mask = ST[me, top, CAME]
        top -= 1
        if target < 0:
            target = after
    elif op == _LOOP:
        top += 1
        ST[me, top, KIND], ST[me, top, CAME] = ROUND, mask
        ST[me, top, OTHER], ST[me, top, ROUNDS] = mask, 0
        target = after
    elif op == _WHILE:
        counted_branch(pc, mask, held, C, counts)
        ST[me, top, OTHER] &= ~mask | held
        mask = held
    elif op == _NEXT:
        mask = ST[me, top, OTHER]
    elif op == _JUMP:
        ST[me, top, ROUNDS] += 1
        if ST[me, top, ROUNDS] > rounds:
            return -1
        after = target
    else:
        mask = left(op, me, imm, mask, top, W, ST)
    W[me, MASK], W[me, DEPTH] = mask, top
    return after if mask != 0 else target


@inner
def counted_branch(pc: int, mask: int, held: int, C: Any, counts: int) -> None:
    """A branch, and whether the lanes part at it."""
    if counts:
        C[pc, C_BRANCHES] += 1
        C[pc, C_PARTED] += held != 0 and held != mask


@apart
def left(op: int, me: int, down: int, mask: int, top: int, W: Any, ST: Any) -> int:
    """Lanes leave a loop, a round of it, or the kernel: nothing inside waits for them."""
    first = 0 if op == _EXIT else top - down + 1
    for at in range(first, top + 1):
        ST[me, at, CAME] &= ~mask
        ST[me, at, OTHER] &= ~mask
    if op == _BREAK:
        ST[me, top - down, OTHER] &= ~mask
    if op == _EXIT:
        W[me, ALIVE] &= ~mask
    return 0


@apart
def marked(op: int, me: int, mask: int, V: Any, d: int, a: int, imm: int) -> int:
    """Which lanes have given a name a value; those that ask for one and have none."""
    if op == _UNSET:
        V[me, d] = 0
    elif op == _SET:
        if imm:
            V[me, d] = V[me, a]
        else:
            V[me, d] |= mask
    else:
        return mask & ~V[me, a]
    return 0


@apart
def ordered(
    op: int,
    pc: int,
    me: int,
    mask: int,
    imm: int,
    W: Any,
    R: Any,
    P: Any,
    B: Any,
    BAR: Any,
    VC: Any,
    G: Any,
    E: Any,
    TR: Any,
    width: int,
) -> int:
    """Barriers and fences: 0 to go on, 1 to wait, 2 where it went on, or FAILED + 10."""
    if op == _BARRIER:
        if mask == 0:
            return 0
        said = came_to(me, pc, P[pc], mask, W, R, B, BAR, VC, G, E, TR, width)
        return FAILED + 10 if said <= -10 else said
    if op == _WARP_BARRIER:
        missing = W[me, ALIVE] & ~mask
        if mask != 0 and missing != 0:
            return 10 + fail(G, NOT_ALL_OF_WARP, pc, me, first_lane(missing), 0, 0)
        G[SEQ] += 1
        W[me, SYNCED] = G[SEQ]
        return 0
    if op == _FENCE:
        fenced(me, W, VC, G, width)
        return 0
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
def step(
    me: int,
    turn: int,
    P: Any,
    W: Any,
    R: Any,
    F: Any,
    ST: Any,
    V: Any,
    B: Any,
    BAR: Any,
    A: Any,
    M8: Any,
    M16: Any,
    M32: Any,
    M64: Any,
    MF: Any,
    MD: Any,
    H: Any,
    L: Any,
    VC: Any,
    LV: Any,
    G: Any,
    C: Any,
    Q: Any,
    S: Any,
    TR: Any,
    E: Any,
    LOC: Any,
    LOV: Any,
    scratch: Any,
    FV: Any,
    T: Any,
    TF: Any,
    width: int,
    threads: int,
    rounds: int,
) -> int:
    """Run a warp until it waits, ends, or has had its turn."""
    pc = W[me, PC]
    done = bad = said = 0
    while done < turn:
        op, form, d, a, b = P[pc, 0], P[pc, 1], P[pc, 2], P[pc, 3], P[pc, 4]
        c, imm = P[pc, 5], P[pc, 6]
        mask = W[me, MASK]
        if P[pc, 8]:
            done += 1
            if not counted(pc, me, mask, W, G, C, TR, E):
                said = FULL
                break
        elif d >= 0 and W[me, RECORD] >= 0 and not logged(pc, me, mask, W, G, TR, E):
            said = FULL
            break
        if op <= LAST_WHOLE:
            bad = whole(op, form, mask, R, T, d, a, b, c, imm)
            if bad >= 0:
                said = fail(G, DIVIDES, pc, me, bad, 0, 0)
                break
        elif op <= LAST_REAL:
            real(op, form, mask, F, TF, d, a, b, c, imm)
        elif op <= LAST_MOVE:
            moved(op, form, mask, R, F, T, d, a, b, c, imm)
        elif op == _BOUND or op == _INDEX:
            at = a if op == _BOUND else b
            bad = (
                bound(mask, R, A, a, imm)
                if op == _BOUND
                else indexed(mask, R, A, d, a, b, imm)
            )
            if bad >= 0:
                said = fail(G, OUTSIDE, pc, me, bad, R[at, bad], imm)
                break
        elif op == _LOAD or op == _STORE or op == _ATOMIC:
            if G[REQUESTS_MADE] + 1 >= Q.shape[0] or G[SECTORS_MADE] + 64 >= S.shape[0]:
                said = uncounted(pc, me, mask, W, G, C)
                break
            if mask != 0:
                said = accessed(
                    op,
                    pc,
                    form,
                    d,
                    a,
                    b,
                    c,
                    imm,
                    me,
                    mask,
                    W,
                    R,
                    F,
                    A,
                    M8,
                    M16,
                    M32,
                    M64,
                    MF,
                    MD,
                    H,
                    L,
                    VC,
                    G,
                    C,
                    Q,
                    S,
                    TR,
                    scratch,
                    FV,
                    LV,
                    width,
                    threads,
                )
                if said:
                    break
            # Warps take turns, a memory instruction each: what one forgot to wait for
            # is found whoever comes first.
            pc += 1
            said = YIELDS
            break
        elif _IF <= op <= _EXIT:
            if op == _EXIT and imm == 0:
                W[me, PC] = pc
                said = finished(me, mask, W, B, BAR, VC, G, width)
                break
            held = mask
            if op == _IF or op == _WHILE:
                held = bits_of(mask, R, a)
            pc = flowed(op, pc, me, P[pc, 7], imm, held, W, ST, C, P[pc, 8], rounds)
            if pc < 0:
                pc = W[me, PC]
                said = fail(G, ROUNDS_OUT, pc, me, first_lane(mask), rounds, 0)
                break
            if op == _JUMP and W[me, STEPS] > 0:
                W[me, STEPS] += 1
                if W[me, STEPS] % LOOK == 0:
                    W[me, PC] = pc
                    if seen_before(me, R, W, G):
                        said = PAUSED
                        break
            continue
        elif op <= LAST_MARK:
            bad = marked(op, me, mask, V, d, a, imm)
            if bad:
                said = fail(G, NEVER_SET, pc, me, first_lane(bad), imm, V[me, a])
                break
        elif op <= LAST_BETWEEN:
            bad = between(op, form, mask, R, T, d, a, b, imm)
            if bad >= 0:
                said = fail(G, ASLEEP, pc, me, bad, 0, 0)
                break
        elif op == _LOAD_LOCAL or op == _STORE_LOCAL:
            C[pc, C_REQUESTS] += 1
            bad = own(op, imm, d, a, b, me, mask, R, A, LOC, LOV)
            if bad >= 0:
                said = fail(G, UNWRITTEN, pc, me, bad, R[a, bad], imm)
                break
        elif op >= FIRST_SYNC:
            W[me, PC] = pc
            bad = ordered(op, pc, me, mask, imm, W, R, P, B, BAR, VC, G, E, TR, width)
            if bad >= 10:
                said = FAILED
                break
            if bad == 1:
                said = WAITS
                break
            if bad == 2:
                pc = W[me, PC]
                continue
        pc += 1
    G[ISSUED] += done
    W[me, TAKEN] += done
    if W[me, TAKEN] >= turn:
        W[me, STEPS] = max(W[me, STEPS], 1)
    if said == WAITS or W[me, STATE] == DONE:
        return 0 if said != FAILED else FAILED
    W[me, PC] = pc
    return said if said else PAUSED


@apart
def fenced(me: int, W: Any, VC: Any, G: Any, width: int) -> None:
    """What the warp has done and seen until here may be passed on from here."""
    W[me, FENCED] = 1
    G[SEQ] += 1
    half = VC.shape[0] // 2
    if VC.shape[0] < 2 * W.shape[0]:
        return
    for k in range(VC.shape[1]):
        VC[half + me, k] = VC[me, k]
    VC[half + me, column(W, VC, me, width)] = G[SEQ]


@apart
def own(
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
def seen_before(me: int, R: Any, W: Any, G: Any) -> bool:
    """Whether a warp comes round to where it was, nothing having changed meanwhile.

    R. Brent, *An improved Monte Carlo factorization algorithm*, BIT 1980, section 2.
    """
    now = hashed(me, R, W)
    if W[me, SEEN_VERSION] == G[VERSION] and W[me, SEEN_HASH] == now:
        W[me, STUCK] = 1
        return True
    if W[me, SEEN_VERSION] != G[VERSION]:
        W[me, SEEN_VERSION], W[me, SEEN_HASH], W[me, SEEN_AT] = G[VERSION], now, 1
        W[me, STUCK], W[me, STEPS] = 0, 1
        return False
    if W[me, STEPS] > 2 * W[me, SEEN_AT]:
        W[me, SEEN_HASH], W[me, SEEN_AT] = now, W[me, STEPS]
    return False


@apart
def begun(
    slot: int,
    block: int,
    W: Any,
    RR: Any,
    V: Any,
    B: Any,
    BAR: Any,
    A: Any,
    H: Any,
    L: Any,
    VC: Any,
    LOV: Any,
    SP: Any,
    grid: Any,
    dims: Any,
    G: Any,
    width: int,
    threads: int,
    record: int,
    start: int,
) -> None:
    """A block begins: who its threads are, nothing in shared memory."""
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
                for c in range(6):
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
        W[me, SYNCED] = W[me, BLOCK_SYNCED] = start
        W[me, GRID_SYNCED] = start
        for k in range(VC.shape[1]):
            VC[me, k] = 0
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
            else:
                D[lane] = w


@inner
def run(
    blocks: int,
    units: int,
    kept: int,
    P: Any,
    W: Any,
    RR: Any,
    FF: Any,
    ST: Any,
    V: Any,
    B: Any,
    BAR: Any,
    A: Any,
    M8: Any,
    M16: Any,
    M32: Any,
    M64: Any,
    MF: Any,
    MD: Any,
    H: Any,
    L: Any,
    VC: Any,
    LV: Any,
    G: Any,
    C: Any,
    Q: Any,
    S: Any,
    TR: Any,
    E: Any,
    LOC: Any,
    LOV: Any,
    SP: Any,
    grid: Any,
    dims: Any,
    scratch: Any,
    FV: Any,
    width: int,
    threads: int,
    rounds: int,
    turn: int,
    budget: int,
) -> int:
    """Run blocks until all are finished, a table is full, or something is wrong.

    Blocks that one unit runs, every ``units``-th, are recorded, ``kept`` of them.
    """
    slots = B.shape[0]
    until = G[ISSUED] + budget
    while True:
        moved, stuck, live, free = False, 0, 0, -1
        for slot in range(slots):
            if B[slot, B_LIVE] == 0:
                if free < 0:
                    free = slot
                continue
            again = True
            while again:
                again = False
                for w in range(width):
                    me = slot * width + w
                    if W[me, STATE] != READY or W[me, STUCK]:
                        continue
                    before = G[VERSION]
                    said = step(
                        me,
                        turn,
                        P,
                        W,
                        RR[me],
                        FF[me],
                        ST,
                        V,
                        B,
                        BAR,
                        A,
                        M8,
                        M16,
                        M32,
                        M64,
                        MF,
                        MD,
                        H,
                        L,
                        VC,
                        LV,
                        G,
                        C,
                        Q,
                        S,
                        TR,
                        E,
                        LOC,
                        LOV,
                        scratch,
                        FV,
                        scratch[5],
                        FV[1],
                        width,
                        threads,
                        rounds,
                    )
                    if said == FAILED or said == FULL:
                        return said
                    moved = True
                    if G[VERSION] != before:
                        unstick(W)
                    if W[me, STATE] != READY or said == 0:
                        again = True
                if G[ISSUED] > until:
                    return PAUSED
            for w in range(width):
                me = slot * width + w
                live += W[me, STATE] != DONE
                stuck += W[me, STATE] != DONE and (
                    W[me, STATE] != READY or W[me, STUCK] != 0
                )
            if B[slot, B_LIVE] == 0 and free < 0:
                free = slot
        if G[LIVE_GRID] > 0 and G[LIVE_GRID] == live and G[NEXT_BLOCK] == blocks:
            grid_met(W, G, VC)
            continue
        if free >= 0 and G[NEXT_BLOCK] < blocks and stuck == live:
            block = G[NEXT_BLOCK]
            record = -1
            if block % units == 0 and block // units < kept:
                record = block // units
            B[free, B_RECORD] = record
            begun(
                free,
                block,
                W,
                RR,
                V,
                B,
                BAR,
                A,
                H,
                L,
                VC,
                LOV,
                SP,
                grid,
                dims,
                G,
                width,
                threads,
                record,
                0,
            )
            G[NEXT_BLOCK] += 1
            continue
        if live == 0:
            return FINISHED
        if stuck == live and not moved:
            return DEADLOCK
        if stuck == live and free < 0:
            return DEADLOCK


@inner
def unstick(W: Any) -> None:
    """Something changed: who went round in a circle may find it."""
    for w in range(W.shape[0]):
        W[w, STUCK] = 0

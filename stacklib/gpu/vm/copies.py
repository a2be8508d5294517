"""Copies to shared memory that go on while the thread does.

The values are there at once; that they have landed is known to a thread when it has
waited, and an element that is touched before is a race, whoever touches it. PTX ISA
9.0, sections 9.7.9.25 (``cp.async``, groups) and 9.7.9.27 (``cp.async.bulk.tensor``:
elements outside the tensor are zero, and count as bytes).
"""

from __future__ import annotations

from typing import Any

from ._apart import apart, inner
from .access import watched
from .basics import count_bits, fail, first_lane
from .mbarriers import event_of, named, settled
from .memory_lanes import sort32, touched
from .program import BARRIER_SPAN, OP
from .state import (
    A_BASE,
    A_DIMS,
    A_SHADOW,
    A_SIZE,
    A_STRIDE,
    A_WATCHED,
    BAD_ONE,
    BLOCK,
    BOX_BARRIERS,
    BOX_DST,
    BOX_RANK,
    BOX_SRC,
    BOXES,
    C_ASKED,
    C_LINES,
    C_REQUESTS,
    C_SECTORS,
    COPYING,
    EVENTS,
    FULL,
    LOCAL,
    M_BYTES,
    M_COPIES,
    MANY_START,
    MB_INDEX,
    MB_OF_BLOCK,
    MB_WARPS,
    MISALIGNED,
    NUMBER,
    R_COUNT,
    R_FIRST,
    R_KIND,
    R_ORDER,
    R_PC,
    R_WARP,
    RECORD,
    REQUESTS,
    REQUESTS_MADE,
    RING,
    SECTORS_MADE,
    SEQ,
    SLOT,
    T_ARRIVE,
    T_PASSES,
    T_REQUEST,
    TRACED,
    V_COPIES,
    V_EVENTS,
    V_GROUPS,
    WRITER,
    WRITTEN_AT,
    X_ARRAY,
    X_COUNT,
    X_ELEMENT,
    X_FIRST,
    X_GROUP,
    X_MASK,
    X_ME,
    X_NEXT,
    X_PC,
    X_THREAD,
    Tables,
)

_LOAD, _STORE, _COMMIT = OP["LOAD"], OP["STORE"], OP["COMMIT"]
NEVER = 1 << 62  # when a copy that nobody waits for will have written


@apart
def asked(
    pc: int,
    me: int,
    sectors: int,
    lines: int,
    size: int,
    W: Any,
    G: Any,
    C: Any,
    Q: Any,
) -> int:
    """Note a request to global memory; its number."""
    C[pc, C_REQUESTS] += 1
    C[pc, C_SECTORS] += sectors
    C[pc, C_LINES] += lines
    C[pc, C_ASKED] += size
    request = G[REQUESTS_MADE]
    Q[request, R_ORDER], Q[request, R_WARP] = W[me, REQUESTS], W[me, NUMBER]
    Q[request, R_KIND], Q[request, R_PC] = 0, pc
    Q[request, R_FIRST], Q[request, R_COUNT] = G[SECTORS_MADE], sectors
    G[REQUESTS_MADE] += 1
    G[SECTORS_MADE] += sectors
    W[me, REQUESTS] += 1
    return request


@apart
def taken(CP: Any) -> int:
    """A row for a copy that begins; 0 for none."""
    at = CP[0, 0]
    if at:
        CP[0, 0] = CP[at, X_NEXT]
        return at
    if CP[0, 1] + 1 >= CP.shape[0]:
        return 0
    CP[0, 1] += 1
    return CP[0, 1]


@inner
def moved_bytes(to: int, first: int, size: int, M8: Any) -> None:
    """Copy bytes."""
    for k in range(size):
        M8[to + k] = M8[first + k]


@apart
def copied(pc: int, me: int, mask: int, R: Any, t: Tables) -> int:
    """The active lanes' copies begin (``cp.async``)."""
    W, A, H = t.W, t.A, t.H
    L, VC, G = t.L, t.VC, t.G
    MB, CP, TR = t.MB, t.CP, t.TR
    C, Q, S = t.C, t.Q, t.S
    E, M8, width = t.E, t.M8, t.width
    threads = t.threads
    a, b, imm = t.P[pc, 3], t.P[pc, 4], t.P[pc, 6]
    count, src, dst = imm % 32, (imm >> 5) % 4096, imm >> 17
    size, slot = A[dst, A_SIZE], W[me, SLOT]
    shadow = slot * A[dst, A_DIMS + 7]
    base = A[dst, A_BASE] + slot * A[dst, A_STRIDE]
    words, n = t.scratch[1], 0
    row = taken(CP) if A[dst, A_WATCHED] else 1
    if row == 0:
        return FULL
    G[SEQ] += 1
    at = G[MB_WARPS] + me
    for lane in range(32):
        if not mask >> lane & 1:
            continue
        to, first = R[a, lane], R[b, lane]
        near, far = A[dst, A_BASE] + to * size, A[src, A_BASE] + first * size
        if far % (count * size) or near % (count * size):
            wrong, address = (src, far) if far % (count * size) else (dst, near)
            return fail(G, MISALIGNED, pc, me, lane, wrong, address)
        bad = watched(
            _LOAD, src, first, count, lane, 0, me, A, H, L, W, VC, G, width, threads
        )
        if bad:
            return fail(G, bad, pc, me, lane, G[BAD_ONE], src)
        bad = watched(
            _STORE, dst, to, count, lane, shadow, me, A, H, L, W, VC, G, width, threads
        )
        if bad:
            return fail(G, bad, pc, me, lane, G[BAD_ONE], dst)
        moved_bytes(base + to * size, far, count * size, M8)
        words[n] = far
        n += 1
        if A[dst, A_WATCHED]:
            CP[row, X_ELEMENT + lane] = to
            CP[row, X_GROUP + lane] = MB[at, V_GROUPS + lane]
            for k in range(count):
                place = A[dst, A_SHADOW] + shadow + to + k
                H[place, WRITER], H[place, WRITTEN_AT] = COPYING, NEVER
    if A[dst, A_WATCHED]:
        CP[row, X_MASK], CP[row, X_PC], CP[row, X_ARRAY] = mask, pc, dst
        CP[row, X_COUNT], CP[row, X_ME] = count, me
        CP[row, X_THREAD] = W[me, BLOCK] * threads + W[me, LOCAL] * 32 + 1
        CP[row, X_FIRST] = A[dst, A_SHADOW] + shadow
        CP[row, X_NEXT], MB[at, V_COPIES] = MB[at, V_COPIES], row
    sort32(words, n)
    sectors, lines, distinct = touched(words, n, S[G[SECTORS_MADE] :])
    request = asked(pc, me, sectors, lines, distinct * count * size, W, G, C, Q)
    if W[me, RECORD] >= 0:
        last = G[TRACED] - 1
        TR[last, T_REQUEST], TR[last, T_PASSES] = request, lines
        group = MB[at, V_GROUPS + first_lane(mask)]
        TR[last, T_ARRIVE] = event_of_group(at, group, MB, G)
        E[TR[last, T_ARRIVE]] += 1
    return 0


@apart
def event_of_group(at: int, group: int, MB: Any, G: Any) -> int:
    """The event that a warp's group of copies is for the replay."""
    place = V_EVENTS + group % RING
    if MB[at, place] == 0:
        MB[at, place] = G[EVENTS] + 1
        G[EVENTS] += 1
    return MB[at, place] - 1


@apart
def grouped(
    op: int, me: int, mask: int, imm: int, W: Any, MB: Any, CP: Any, H: Any, G: Any
) -> int:
    """Make a group of the copies so far, or wait for all but the last groups.

    Returns the event that the warp waits for, -1 for none.
    """
    at = G[MB_WARPS] + me
    if op == _COMMIT:
        for lane in range(32):
            if mask >> lane & 1:
                MB[at, V_GROUPS + lane] += 1
        MB[at, V_EVENTS + MB[at, V_GROUPS + first_lane(mask)] % RING] = 0
        return -1
    G[SEQ] += 1
    row, last = MB[at, V_COPIES], 0
    while row:
        after = CP[row, X_NEXT]
        waited(row, me, mask, at, imm, W, MB, CP, H, G)
        if CP[row, X_MASK] == 0:
            if last:
                CP[last, X_NEXT] = after
            else:
                MB[at, V_COPIES] = after
            CP[row, X_COUNT], CP[row, X_NEXT], CP[0, 0] = 0, CP[0, 0], row
        else:
            last = row
        row = after
    newest = MB[at, V_GROUPS + first_lane(mask)] - imm - 1
    for group in range(newest, max(-1, newest - RING), -1):
        if MB[at, V_EVENTS + group % RING]:
            return MB[at, V_EVENTS + group % RING] - 1
    return -1


@apart
def waited(
    row: int,
    me: int,
    mask: int,
    at: int,
    pending: int,
    W: Any,
    MB: Any,
    CP: Any,
    H: Any,
    G: Any,
) -> None:
    """The lanes' copies in groups that are waited for have landed."""
    for lane in range(32):
        if not mask & CP[row, X_MASK] >> lane & 1:
            continue
        if CP[row, X_GROUP + lane] >= MB[at, V_GROUPS + lane] - pending:
            continue
        CP[row, X_MASK] &= ~(1 << lane)
        for k in range(CP[row, X_COUNT]):
            place = CP[row, X_FIRST] + CP[row, X_ELEMENT + lane] + k
            H[place, WRITER], H[place, WRITTEN_AT] = CP[row, X_THREAD] + lane, G[SEQ]


@apart
def box_row(
    n: int, A: Any, box: int, R: Any, b: int, lane: int
) -> tuple[int, int, int]:
    """Of a row of a box: its first element in the array, and which of it are inside."""
    rank, src = A[box, BOX_RANK], A[box, BOX_SRC]
    first, rest, inside = 0, n, True
    step = A[src, A_DIMS + rank - 1]
    for axis in range(rank - 2, -1, -1):
        at = R[b + axis, lane] + rest % A[box, A_DIMS + axis]
        rest //= A[box, A_DIMS + axis]
        inside = inside and 0 <= at < A[src, A_DIMS + axis]
        first += at * step
        step *= A[src, A_DIMS + axis]
    column = R[b + rank - 1, lane]
    low = max(0, -column)
    high = min(A[box, A_DIMS + rank - 1], A[src, A_DIMS + rank - 1] - column)
    if not inside or high < low:
        high = low = 0
    return first + column, low, high


@apart
def box_copied(pc: int, me: int, mask: int, R: Any, t: Tables) -> int:
    """One thread starts the copy of a box (``cp.async.bulk.tensor``)."""
    W, A, H = t.W, t.A, t.H
    L, VC, G = t.L, t.VC, t.G
    MB, CP, TR = t.MB, t.CP, t.TR
    C, Q, S = t.C, t.Q, t.S
    E, M8, width = t.E, t.M8, t.width
    threads = t.threads
    a, b, c = t.P[pc, 3], t.P[pc, 4], t.P[pc, 5]
    box = G[BOXES] + t.P[pc, 6]
    lane = first_lane(mask)
    if mask != 1 << lane:
        return fail(G, MANY_START, pc, me, lane, count_bits(mask), 0)
    number = named(A[box, BOX_BARRIERS], c, lane, R)
    if number < 0:
        return fail(
            G, MB_INDEX, pc, me, lane, R[c, lane], A[box, BOX_BARRIERS] // BARRIER_SPAN
        )
    dst, src = A[box, BOX_DST], A[box, BOX_SRC]
    size, slot = A[dst, A_SIZE], W[me, SLOT]
    shadow, across = slot * A[dst, A_DIMS + 7], A[box, A_DIMS + A[box, BOX_RANK] - 1]
    rows = 1
    for axis in range(A[box, BOX_RANK] - 1):
        rows *= A[box, A_DIMS + axis]
    room = rows * (across * size // 32 + 2)
    copy = taken(CP) if A[dst, A_WATCHED] else 1
    if copy == 0 or G[SECTORS_MADE] + room >= S.shape[0]:
        return FULL
    G[SEQ] += 1
    base = A[dst, A_BASE] + slot * A[dst, A_STRIDE]
    sectors, last, moved = 0, -1, 0
    for n in range(rows):
        first, low, high = box_row(n, A, box, R, b, lane)
        to = R[a, lane] + n * across
        bad, from_ = 0, first + low
        if high > low:
            count = high - low
            bad = watched(
                _LOAD, src, from_, count, lane, 0, me, A, H, L, W, VC, G, width, threads
            )
        if bad:
            return fail(G, bad, pc, me, lane, G[BAD_ONE], src)
        bad = watched(
            _STORE, dst, to, across, lane, shadow, me, A, H, L, W, VC, G, width, threads
        )
        if bad:
            return fail(G, bad, pc, me, lane, G[BAD_ONE], dst)
        for k in range(across * size):
            M8[base + to * size + k] = 0
        far = A[src, A_BASE] + (first + low) * size
        moved_bytes(base + (to + low) * size, far, (high - low) * size, M8)
        moved += (high - low) * size
        for sector in range(far // 32, (far + (high - low) * size + 31) // 32):
            if high > low and sector != last:
                S[G[SECTORS_MADE] + sectors] = sector
                sectors, last = sectors + 1, sector
    if A[dst, A_WATCHED]:
        for k in range(rows * across):
            place = A[dst, A_SHADOW] + shadow + R[a, lane] + k
            H[place, WRITER], H[place, WRITTEN_AT] = COPYING, NEVER
    request = asked(pc, me, sectors, -(-sectors // 4), moved, W, G, C, Q)
    row = slot * G[MB_OF_BLOCK] + number
    if W[me, RECORD] >= 0:
        at = G[TRACED] - 1
        TR[at, T_REQUEST], TR[at, T_PASSES] = request, -(-sectors // 4)
        TR[at, T_ARRIVE] = event_of(row, MB, G)
        E[TR[at, T_ARRIVE]] += 1
    if A[dst, A_WATCHED]:
        noted(copy, pc, me, lane, dst, rows * across, W, MB, CP, row, threads)
        CP[copy, X_FIRST] = A[dst, A_SHADOW] + shadow + R[a, lane]
    MB[row, M_BYTES] -= rows * across * size
    return settled(row, number, pc, me, lane, MB, CP, H, W, VC, G, width)


@inner
def noted(
    copy: int,
    pc: int,
    me: int,
    lane: int,
    dst: int,
    count: int,
    W: Any,
    MB: Any,
    CP: Any,
    row: int,
    threads: int,
) -> None:
    """A copy is under way until the phase of a barrier is complete."""
    neighbour = W[me, LOCAL] * 32 + (lane ^ 1)
    if neighbour >= threads:
        neighbour = W[me, LOCAL] * 32 + lane
    CP[copy, X_ME], CP[copy, X_PC], CP[copy, X_ARRAY] = me, pc, dst
    CP[copy, X_COUNT], CP[copy, X_MASK] = count, 1 << lane
    CP[copy, X_THREAD] = W[me, BLOCK] * threads + neighbour
    CP[copy, X_NEXT], MB[row, M_COPIES] = MB[row, M_COPIES], copy

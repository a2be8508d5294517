"""Barriers in shared memory: arrivals and bytes complete a phase, waits name it.

PTX ISA 9.0, section 9.7.13.15: a phase is complete when no arrival and no byte is
pending; the next begins at once. Who waits for a parity waits while the current phase
has it. An arrival releases what its warp did before, and a wait acquires what all who
arrived in the completed phases did.
"""

from __future__ import annotations

from typing import Any

from ._apart import apart, inner
from .barriers import column
from .basics import fail
from .program import BARRIER_SPAN, OP
from .state import (
    AT_MBARRIER,
    CLUSTER,
    CLUSTER_SIZE,
    COPYING,
    EVENTS,
    LOCAL,
    M_BYTES,
    M_CLOCK,
    M_COPIES,
    M_COUNT,
    M_EVENT,
    M_LAST,
    M_PENDING,
    M_PHASE,
    M_WHO,
    MB_BYTES,
    MB_INDEX,
    MB_OF_BLOCK,
    MB_PARITY,
    MB_TOO_MANY,
    MB_TOO_MUCH,
    MB_WARPS,
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
    V_COPIES,
    VERSION,
    WAITS_PC,
    WRITER,
    WRITTEN_AT,
    X_COUNT,
    X_FIRST,
    X_ME,
    X_NEXT,
    X_THREAD,
    Tables,
)

_MB_EXPECT, _MB_WAIT = OP["MB_EXPECT"], OP["MB_WAIT"]
MOST_BYTES = 1 << 20  # PTX ISA 9.0, 9.7.13.15.1: range of the count of bytes


@inner
def named(code: int, a: int, lane: int, R: Any) -> int:
    """Number of the barrier that a lane names, -1 for an index outside its list."""
    if a < 0:
        return code % BARRIER_SPAN
    index = R[a, lane]
    return code % BARRIER_SPAN + index if 0 <= index < code // BARRIER_SPAN else -1


@apart
def released(row: int, me: int, MB: Any, W: Any, VC: Any, G: Any, width: int) -> None:
    """What a warp did and saw is passed on when the phase is complete."""
    for k in range(VC.shape[1]):
        MB[row, M_CLOCK + k] = max(MB[row, M_CLOCK + k], VC[me, k])
    MB[row, M_CLOCK + column(W, VC, me, width)] = G[SEQ] + 1
    MB[row, M_WHO] |= 1 << W[me, LOCAL]


@apart
def acquired(row: int, me: int, MB: Any, W: Any, VC: Any, width: int) -> None:
    """A warp sees what all did who came to the phases that are complete."""
    done = M_CLOCK + VC.shape[1]
    for k in range(VC.shape[1]):
        VC[me, k] = max(VC[me, k], MB[row, done + k])
    W[me, SYNCED] = max(W[me, SYNCED], MB[row, done + column(W, VC, me, width)])


@apart
def landed(
    row: int, MB: Any, CP: Any, H: Any, W: Any, VC: Any, G: Any, width: int
) -> None:
    """The copies of a phase have landed: as if their warps had written the elements.

    The writer is a neighbour of the thread that started the copy, for that one has to
    wait like the others.
    """
    at = MB[row, M_COPIES]
    while at:
        for k in range(CP[at, X_COUNT]):
            place = CP[at, X_FIRST] + k
            if H[place, WRITER] == COPYING:
                H[place, WRITER], H[place, WRITTEN_AT] = CP[at, X_THREAD] + 1, G[SEQ]
        mine = M_CLOCK + column(W, VC, CP[at, X_ME], width)
        MB[row, mine] = max(MB[row, mine], G[SEQ] + 1)
        after = CP[at, X_NEXT]
        CP[at, X_COUNT], CP[at, X_NEXT], CP[0, 0] = 0, CP[0, 0], at
        at = after
    MB[row, M_COPIES] = 0


@apart
def completed(
    row: int,
    number: int,
    slot: int,
    MB: Any,
    CP: Any,
    H: Any,
    W: Any,
    VC: Any,
    G: Any,
    width: int,
) -> None:
    """The phase is complete: who waits for it goes on, the next begins."""
    G[SEQ] += 1
    landed(row, MB, CP, H, W, VC, G, width)
    # An element that several warps read has the time of the last: who arrived counts
    # as seen until now.
    for w in range(width):
        if MB[row, M_WHO] >> w & 1:
            MB[row, M_CLOCK + column(W, VC, slot * width + w, width)] = G[SEQ] + 1
    MB[row, M_WHO] = 0
    for k in range(VC.shape[1]):
        MB[row, M_CLOCK + VC.shape[1] + k] = MB[row, M_CLOCK + k]
    code = 2 * number + MB[row, M_PHASE] % 2
    MB[row, M_PHASE] += 1
    MB[row, M_PENDING] = MB[row, M_COUNT]
    MB[row, M_LAST], MB[row, M_EVENT] = MB[row, M_EVENT], -1
    for w in range(slot * width, slot * width + width):
        if W[w, STATE] != AT_MBARRIER:
            continue
        left, at = False, G[MB_WARPS] + w
        for lane in range(32):
            if MB[at, lane] == code:
                MB[at, lane] = -1
                acquired(row, w, MB, W, VC, width)
            left = left or MB[at, lane] >= 0
        if not left:
            W[w, STATE], W[w, STUCK] = READY, 0
            W[w, PC] += 1
    G[VERSION] += 1


@apart
def event_of(row: int, MB: Any, G: Any) -> int:
    """The event that the current phase is for the replay."""
    if MB[row, M_EVENT] < 0:
        MB[row, M_EVENT] = G[EVENTS]
        G[EVENTS] += 1
    return MB[row, M_EVENT]


@apart
def settled(
    row: int,
    number: int,
    pc: int,
    me: int,
    lane: int,
    MB: Any,
    CP: Any,
    H: Any,
    W: Any,
    VC: Any,
    G: Any,
    width: int,
) -> int:
    """Complete the phase if nothing is pending; 0, or a fault."""
    if MB[row, M_PENDING] > 0 or MB[row, M_BYTES] > 0:
        return 0
    if MB[row, M_BYTES] < 0:
        return fail(G, MB_TOO_MUCH, pc, me, lane, number, -MB[row, M_BYTES])
    completed(row, number, W[me, SLOT], MB, CP, H, W, VC, G, width)
    return 0


@apart
def arrived(
    pc: int, me: int, mask: int, size: int, a: int, imm: int, R: Any, t: Tables
) -> int:
    """Each active lane arrives; ``size``: register of the bytes it expects, or -1."""
    W, MB, CP = t.W, t.MB, t.CP
    H, VC, G = t.H, t.VC, t.G
    E, TR, width = t.E, t.TR, t.width
    for lane in range(32):
        if not mask >> lane & 1:
            continue
        number = named(imm, a, lane, R)
        if number < 0:
            return fail(G, MB_INDEX, pc, me, lane, R[a, lane], imm // BARRIER_SPAN)
        row = W[me, SLOT] * G[MB_OF_BLOCK] + number
        if MB[row, M_PENDING] == 0:
            return fail(G, MB_TOO_MANY, pc, me, lane, number, MB[row, M_COUNT])
        if size >= 0:
            if not 0 <= R[size, lane] < MOST_BYTES:
                return fail(G, MB_BYTES, pc, me, lane, number, R[size, lane])
            MB[row, M_BYTES] += R[size, lane]
        if W[me, RECORD] >= 0 and TR[G[TRACED] - 1, T_ARRIVE] < 0:
            TR[G[TRACED] - 1, T_ARRIVE] = event_of(row, MB, G)
            E[MB[row, M_EVENT]] += 1
        released(row, me, MB, W, VC, G, width)
        MB[row, M_PENDING] -= 1
        if settled(row, number, pc, me, lane, MB, CP, H, W, VC, G, width):
            return 1
    G[VERSION] += 1
    return 0


@apart
def waited(
    pc: int, me: int, mask: int, b: int, a: int, imm: int, R: Any, t: Tables
) -> int:
    """Which lanes must wait for a phase: 0 none, 1 some, or a fault and 10."""
    W, MB, VC = t.W, t.MB, t.VC
    G, TR, width = t.G, t.TR, t.width
    waits, at = False, G[MB_WARPS] + me
    for lane in range(32):
        MB[at, lane] = -1
        if not mask >> lane & 1:
            continue
        number, parity = named(imm, a, lane, R), R[b, lane]
        if number < 0:
            return 10 + fail(G, MB_INDEX, pc, me, lane, R[a, lane], imm // BARRIER_SPAN)
        if parity != 0 and parity != 1:
            return 10 + fail(G, MB_PARITY, pc, me, lane, number, parity)
        row = W[me, SLOT] * G[MB_OF_BLOCK] + number
        event = MB[row, M_LAST]
        if MB[row, M_PHASE] % 2 == parity:
            MB[at, lane] = 2 * number + parity
            waits = True
            if W[me, RECORD] >= 0:
                event = event_of(row, MB, G)
        else:
            acquired(row, me, MB, W, VC, width)
        if W[me, RECORD] >= 0:
            TR[G[TRACED] - 1, T_WAIT] = max(TR[G[TRACED] - 1, T_WAIT], event)
    if waits:
        W[me, STATE], W[me, WAITS_PC] = AT_MBARRIER, pc
    return 1 if waits else 0


@apart
def at_mbarrier(
    op: int, pc: int, me: int, mask: int, imm: int, R: Any, t: Tables
) -> int:
    """Arrive or wait: 0 to go on, 1 to wait, or FAILED + 10."""
    a, b = t.P[pc, 3], t.P[pc, 4]
    if op == _MB_WAIT:
        return waited(pc, me, mask, b, a, imm, R, t)
    size = b if op == _MB_EXPECT else -1
    bad = arrived(pc, me, mask, size, a, imm, R, t)
    return 10 + bad if bad else 0


@apart
def given_back(at: int, CP: Any) -> None:
    """Copies that nobody waited for: their rows are free again."""
    while at:
        after = CP[at, X_NEXT]
        CP[at, X_COUNT], CP[at, X_NEXT], CP[0, 0] = 0, CP[0, 0], at
        at = after


@apart
def begun_anew(
    slot: int, width: int, W: Any, MB: Any, CP: Any, G: Any, clocks: int
) -> None:
    """A block begins: its barriers stand at their first phase, no copy is under way.

    The last row of the table has the arrivals of each barrier.
    """
    for w in range(slot * width, slot * width + width):
        W[w, CLUSTER_SIZE] = G[CLUSTER]
    if G[MB_WARPS] < 0:
        return
    many, counts = G[MB_OF_BLOCK], MB[MB.shape[0] - 1]
    for n in range(many):
        row = slot * many + n
        given_back(MB[row, M_COPIES], CP)
        for k in range(M_CLOCK + 2 * clocks):
            MB[row, k] = 0
        MB[row, M_COUNT] = MB[row, M_PENDING] = counts[n]
        MB[row, M_EVENT] = MB[row, M_LAST] = -1
    for w in range(slot * width, slot * width + width):
        row = G[MB_WARPS] + w
        given_back(MB[row, V_COPIES], CP)
        for k in range(MB.shape[1]):
            MB[row, k] = 0
        for lane in range(32):
            MB[row, lane] = -1

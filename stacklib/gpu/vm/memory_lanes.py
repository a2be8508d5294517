"""What a request of thirty-two lanes touches: sectors, banks, elements, hazards."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ._apart import apart, inner
from .formats import BF16, BOOL, E4M3, E5M2, F16, F32, F64, I8, I16, I32, U8, U16, U32
from .rounding import narrow
from .state import (
    ATOMIC_BY,
    BLOCK_SYNCED,
    CLUSTER_SIZE,
    CLUSTER_SYNCED,
    GRID_SYNCED,
    LOCAL,
    MANY,
    NOBODY,
    NUMBER,
    OF_BLOCK,
    OF_WARP,
    READER,
    SYNCED,
    THREAD,
    WARPS_HERE,
    WRITER,
    WRITTEN_AT,
)

LINE, SECTOR, BANKS = 128, 32, 32


@apart
def sort32(x: Any, n: int) -> None:
    """The first so many in order."""
    for i in range(1, n):
        v = x[i]
        j = i - 1
        while j >= 0 and x[j] > v:
            x[j + 1] = x[j]
            j -= 1
        x[j + 1] = v


@apart
def touched(at: Any, n: int, out: Any) -> tuple[int, int, int]:
    """Sectors (into ``out``), lines and distinct addresses of sorted addresses."""
    sectors = lines = distinct = 0
    for i in range(n):
        if i == 0 or at[i] != at[i - 1]:
            distinct += 1
        sector = at[i] // SECTOR
        if i == 0 or sector != at[i - 1] // SECTOR:
            out[sectors] = sector
            sectors += 1
        if i == 0 or at[i] // LINE != at[i - 1] // LINE:
            lines += 1
    return sectors, lines, distinct


@apart
def bank_passes(
    at: Any, mask: int, width: int, words: Any, ways: Any
) -> tuple[int, int]:
    """Phases and passes over shared memory of addresses by lane.

    Lanes go together as far as their words fill 128 bytes; a pass serves each bank
    once, and every lane that wants the same word.
    """
    each = max(1, width // 4)
    together = 32 // each
    phases = passes = 0
    for first in range(0, 32, together):
        n = 0
        for lane in range(first, first + together):
            if mask >> lane & 1:
                for k in range(each):
                    words[n] = at[lane] // 4 + k
                    n += 1
        if n == 0:
            continue
        phases += 1
        passes += most_ways(words, n, ways)
    return phases, passes


@inner
def most_ways(words: Any, n: int, ways: Any) -> int:
    """Most distinct words in one bank."""
    straight = True
    for i in range(1, n):
        if words[i] < words[i - 1]:
            straight = False
            break
    if straight and words[n - 1] - words[0] < BANKS:
        return 1
    if not straight:
        sort32(words, n)
    for bank in range(BANKS):
        ways[bank] = 0
    most = 0
    for i in range(n):
        if i == 0 or words[i] != words[i - 1]:
            bank = words[i] & 31
            ways[bank] += 1
            most = max(most, ways[bank])
    return most


@inner
def most_turns(at: Any, n: int) -> int:
    """Most lanes that meet at one of sorted addresses."""
    most = run = 0
    for i in range(n):
        run = run + 1 if i > 0 and at[i] == at[i - 1] else 1
        most = max(most, run)
    return most


# -- values in memory -----------------------------------------------------------


@apart
def fetched_whole(form: int, at: int, M8: Any, M16: Any, M32: Any, M64: Any) -> Any:
    """A whole number at a byte address."""
    if form == I32:
        return np.int64(np.int32(M32[at >> 2]))
    if form == U32:
        return np.int64(M32[at >> 2])
    if form == U8:
        return np.int64(M8[at])
    if form == BOOL:
        return 1 if M8[at] != 0 else 0
    if form == I8:
        return np.int64(np.int8(M8[at]))
    if form == I16:
        return np.int64(np.int16(M16[at >> 1]))
    if form == U16:
        return np.int64(M16[at >> 1])
    return M64[at >> 3]


@apart
def stored_whole(
    form: int, at: int, x: int, M8: Any, M16: Any, M32: Any, M64: Any
) -> None:
    """Put a whole number at a byte address."""
    if form == I32 or form == U32:
        M32[at >> 2] = np.uint32(x & 4294967295)
    elif form == U8 or form == I8:
        M8[at] = np.uint8(x & 255)
    elif form == BOOL:
        M8[at] = np.uint8(x != 0)
    elif form == I16 or form == U16:
        M16[at >> 1] = np.uint16(x & 65535)
    else:
        M64[at >> 3] = x


@apart
def fetched_real(form: int, at: int, M8: Any, M16: Any, MF: Any, MD: Any) -> float:
    """A float at a byte address."""
    if form == F32:
        return float(MF[at >> 2])
    if form == F64:
        return float(MD[at >> 3])
    if form == F16:
        return decoded(np.int64(M16[at >> 1]), 10, 5, 15, True)
    if form == BF16:
        return decoded(np.int64(M16[at >> 1]), 7, 8, 127, True)
    if form == E5M2:
        return decoded(np.int64(M8[at]), 2, 5, 15, True)
    return decoded(np.int64(M8[at]), 3, 4, 7, False)


@apart
def stored_real(
    form: int, at: int, x: float, M8: Any, M16: Any, MF: Any, MD: Any
) -> None:
    """Put a float at a byte address, rounded to its format."""
    if form == F32:
        MF[at >> 2] = np.float32(x)
    elif form == F64:
        MD[at >> 3] = x
    elif form == F16:
        M16[at >> 1] = np.uint16(encoded(narrow(x, form), 10, 5, 15, True))
    elif form == BF16:
        M16[at >> 1] = np.uint16(encoded(narrow(x, form), 7, 8, 127, True))
    elif form == E5M2:
        M8[at] = np.uint8(encoded(narrow(x, form), 2, 5, 15, True))
    elif form == E4M3:
        M8[at] = np.uint8(encoded(narrow(x, form), 3, 4, 7, False))


@apart
def decoded(code: int, digits: int, width: int, bias: int, ieee: bool) -> float:
    """The number of a code of sign, exponent and significand."""
    top = (1 << width) - 1
    e = code >> digits & top
    m = code & ((1 << digits) - 1)
    if e == top and ieee:
        x = np.inf if m == 0 else np.nan
    elif e == top and m == (1 << digits) - 1:
        x = np.nan
    elif e == 0:
        x = m * 2.0 ** (1 - bias - digits)
    else:
        x = (m + (1 << digits)) * 2.0 ** (e - bias - digits)
    return -x if code >> (digits + width) & 1 else x


@apart
def encoded(x: float, digits: int, width: int, bias: int, ieee: bool) -> int:
    """The code of a number that the format has."""
    sign = 1 << (digits + width) if np.signbit(x) else 0
    top = (1 << width) - 1
    y = abs(x)
    if x != x:
        return (
            (top << digits | 1 << (digits - 1))
            if ieee
            else ((1 << (digits + width)) - 1)
        )
    if y == np.inf:
        return sign | top << digits
    if y < 2.0 ** (1 - bias):
        return sign | int(y * 2.0 ** (bias - 1 + digits))
    e = int(np.floor(np.log2(y)))
    if 2.0**e > y:
        e -= 1
    if 2.0 ** (e + 1) <= y:
        e += 1
    m = int(y * 2.0 ** (digits - e))
    return sign | (e + bias) << digits | (m - (1 << digits))


# -- who touched an element ------------------------------------------------------


class Asks(NamedTuple):
    """A warp that touches an element: its number here, and what it has seen."""

    W: Any  # warps
    VC: Any  # how far each warp has seen each other
    me: int
    width: int  # warps of a block
    threads: int


@inner
def unordered(warp: int, then: int, by: Asks) -> bool:
    """Whether what a warp of the grid did then is not ordered before this warp.

    ``warp``: counted over the grid; ``then``: its number among all requests. A barrier,
    a fence and an atomic, or a barrier in memory tell a warp how far it has seen each
    other (``VC``); L. Lamport, *Time, clocks and the ordering of events*, 1978.
    """
    W, VC, me, width = by.W, by.VC, by.me, by.width
    if W[me, GRID_SYNCED] > then:
        return False
    mine, per = W[me, NUMBER], VC.shape[1]
    if warp == mine and W[me, SYNCED] > then:
        return False
    if per > width:  # every warp of the grid has a column
        return VC[me, warp] <= then
    block = mine - W[me, LOCAL]
    if not block <= warp < block + width:
        return True
    return VC[me, warp - block] <= then


@inner
def together(kind: int, number: int, block: int, size: int) -> bool:
    """Whether those whom a code names, a block or many, are of a block's cluster."""
    if size < 2:
        return False
    if kind == OF_BLOCK:
        return number // size == block // size
    return kind == MANY and number - 1 == block // size


@apart
def races_with(code: int, then: int, thread: int, by: Asks) -> bool:
    """Whether those whom a code names are not ordered before a thread."""
    if code == NOBODY:
        return False
    W, me, width = by.W, by.me, by.width
    kind, number = code % 4, code // 4 - 1
    if kind == THREAD:
        if number == thread:
            return False
        warp = number // by.threads * width + number % by.threads // 32
        return unordered(warp, then, by)
    if kind == OF_WARP:
        return unordered(number, then, by)
    if W[me, GRID_SYNCED] > then:
        return False
    block = W[me, NUMBER] // width
    if kind == OF_BLOCK and number == block:
        return W[me, BLOCK_SYNCED] <= then
    if together(kind, number, block, W[me, CLUSTER_SIZE]):
        return W[me, CLUSTER_SYNCED] <= then
    return True


@apart
def noted(code: int, then: int, thread: int, by: Asks) -> int:
    """Who touched it by now: those not ordered before this thread, and it."""
    mine = 4 * (thread + 1) + THREAD
    if code == NOBODY or code == mine:
        return mine
    if not races_with(code, then, thread, by):
        return mine
    W, me, width = by.W, by.me, by.width
    kind, number = code % 4, code // 4 - 1
    warp = W[me, NUMBER]
    if kind == THREAD:
        number = number // by.threads * width + number % by.threads // 32
        kind = OF_WARP
    if kind == OF_WARP:
        if number == warp:
            return 4 * (warp + 1) + OF_WARP
        number, kind = number // width, OF_BLOCK
    block, size = warp // width, W[me, CLUSTER_SIZE]
    if kind == OF_BLOCK and number == block:
        return 4 * (number + 1) + OF_BLOCK
    if together(kind, number, block, size):
        return 4 * (block // size + 2) + MANY
    return 4 + MANY


@inner
def others_race(which: int, H: Any, at: int, thread: int, by: Asks) -> bool:
    """Whether those who read an element, or combined with it, are not ordered before.

    Several warps of a block are each asked for: a barrier may put some in order.
    """
    code, then = H[at, which], H[at, which + 1]
    if not races_with(code, then, thread, by):
        return False
    W, VC, me, width = by.W, by.VC, by.me, by.width
    block = W[me, NUMBER] // width
    if code % 4 != OF_BLOCK or code // 4 - 1 != block or H[at, WARPS_HERE] == 0:
        return True
    for w in range(width):
        if H[at, WARPS_HERE] >> w & 1:
            if w != W[me, LOCAL] and VC[me, column(VC, W, me, w, width)] <= then:
                return True
    return False


@inner
def column(VC: Any, W: Any, me: int, w: int, width: int) -> int:
    """Which column of the clocks a warp of this block has."""
    return W[me, NUMBER] - W[me, LOCAL] + w if VC.shape[1] > width else w


@inner
def here(which: int, other: int, H: Any, at: int, thread: int, local: int) -> None:
    """A warp has read an element, or combined with it."""
    if H[at, which] == 4 * (thread + 1) + THREAD and H[at, other] == NOBODY:
        H[at, WARPS_HERE] = 0
    H[at, WARPS_HERE] |= 1 << local


@inner
def written_race(H: Any, at: int, thread: int, by: Asks) -> bool:
    """Whether the last write of an element is not ordered before a thread."""
    it = H[at, WRITER]
    return it != NOBODY and races_with(4 * it, H[at, WRITTEN_AT], thread, by)


@inner
def joins(
    which: int, other: int, H: Any, at: int, thread: int, seq: int, by: Asks
) -> bool:
    """Note one who reads, or combines; whether a write or the other is unordered."""
    bad = written_race(H, at, thread, by) or others_race(other, H, at, thread, by)
    H[at, which] = noted(H[at, which], H[at, which + 1], thread, by)
    H[at, which + 1] = seq
    here(which, other, H, at, thread, by.W[by.me, LOCAL])
    return bad


@apart
def reads(
    H: Any,
    at: int,
    thread: int,
    seq: int,
    W: Any,
    VC: Any,
    me: int,
    width: int,
    threads: int,
) -> bool:
    """Note a read; whether another's write is not ordered before it."""
    by = Asks(W, VC, me, width, threads)
    return joins(READER, ATOMIC_BY, H, at, thread, seq, by)


@apart
def writes(
    H: Any,
    at: int,
    thread: int,
    seq: int,
    W: Any,
    VC: Any,
    me: int,
    width: int,
    threads: int,
) -> bool:
    """Note a write; whether another's access is not ordered before it."""
    by = Asks(W, VC, me, width, threads)
    bad = written_race(H, at, thread, by) or others_race(READER, H, at, thread, by)
    bad = bad or others_race(ATOMIC_BY, H, at, thread, by)
    H[at, WRITER], H[at, WRITTEN_AT] = thread + 1, seq
    H[at, READER] = H[at, ATOMIC_BY] = NOBODY
    H[at, WARPS_HERE] = 0
    return bad


@apart
def adds(
    H: Any,
    at: int,
    thread: int,
    seq: int,
    W: Any,
    VC: Any,
    me: int,
    width: int,
    threads: int,
) -> bool:
    """Note an atomic; whether another's read or write is not ordered before it."""
    by = Asks(W, VC, me, width, threads)
    return joins(ATOMIC_BY, READER, H, at, thread, seq, by)

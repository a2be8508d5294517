"""What lanes of a warp tell each other: shuffles, votes, matches, reductions."""

from __future__ import annotations

from typing import Any

from ._apart import apart
from .basics import bits_of
from .formats import U64
from .lanes import wrapped
from .program import OP

_MATCH, _SHUFFLE, _VOTE = (OP[x] for x in ("MATCH", "SHUFFLE", "VOTE"))


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
def reduced(form: int, mask: int, R: Any, d: int, a: int, how: int) -> int:
    """What the active lanes' whole numbers come to."""
    found, first = 0, True
    sign = -9223372036854775807 - 1 if form == U64 else 0  # flipped, they have an order
    for lane in range(32):
        if mask >> lane & 1:
            x = R[a, lane]
            if first:
                found = x
            elif how == 0:
                found += x
            elif how == 1:
                found = min(found ^ sign, x ^ sign) ^ sign
            else:
                found = max(found ^ sign, x ^ sign) ^ sign
            first = False
    return found


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
        found = wrapped(form, reduced(form, mask, R, d, a, imm))
        for lane in range(32):
            if mask >> lane & 1:
                R[d, lane] = found
    return -1

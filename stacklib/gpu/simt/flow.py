"""Branches and loops: the stack of masks of a warp, and moves between registers."""

from __future__ import annotations

from typing import Any

from ..lang.formats import U64
from ..lang.program import OP
from ._apart import apart, inner
from .lanes import compared, compared_unsigned, converted
from .state import (
    ALIVE,
    BRANCH,
    C_BRANCHES,
    C_PARTED,
    CAME,
    DEPTH,
    KIND,
    MASK,
    OTHER,
    ROUND,
    ROUNDS,
)

_BREAK, _COMPARE, _CONVERT = (OP[x] for x in ("BREAK", "COMPARE", "CONVERT"))
_ELSE, _ENDIF, _ENDLOOP = (OP[x] for x in ("ELSE", "ENDIF", "ENDLOOP"))
_EXIT, _FCOMPARE, _IF = (OP[x] for x in ("EXIT", "FCOMPARE", "IF"))
_JUMP, _LOOP, _MOVE = (OP[x] for x in ("JUMP", "LOOP", "MOVE"))
_NEXT, _NOT, _SELECT = (OP[x] for x in ("NEXT", "NOT", "SELECT"))
_SET, _UNSET, _WHILE = (OP[x] for x in ("SET", "UNSET", "WHILE"))


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
    """Lanes leave a loop, a round of it, or the kernel: nothing inside waits for it."""
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

"""The machine: each warp runs a program with a counter and a stack of masks of its own.

At a branch both sides run, one after the other, each with the lanes that take it, and
the paths join where the statement ends (the immediate post-dominator: W. Fung et al.,
*Dynamic warp formation*, MICRO 2007, section 2). A warp that waits is left where it
stands, and another goes on; so warps can wait for each other. Warps of a block run in
turn, the next block begins when those before it are finished or all wait.
"""

from __future__ import annotations

from ._apart import apart
from .access import accessed, bound, indexed, private
from .barriers import finished, grid_met
from .basics import bits_of, count_bits, fail, first_lane
from .blocks import begun, unstick
from .clusters import clusters_met, free_slot
from .exchange import between
from .far import far
from .flow import flowed, marked, moved
from .lanes import real, whole
from .looks import logged, seen_before, uncounted
from .mbarriers import begun_anew
from .parted import ended, met_again, turned_round
from .program import OP
from .state import (
    ASLEEP,
    B_LIVE,
    B_RECORD,
    C_LANES,
    C_REQUESTS,
    C_WARPS,
    CLUSTER,
    DEADLOCK,
    DIVIDES,
    DONE,
    FAILED,
    FINISHED,
    FULL,
    ISSUED,
    LIVE_GRID,
    MASK,
    NEVER_SET,
    NEXT_BLOCK,
    OUTSIDE,
    PAUSED,
    PC,
    READY,
    RECORD,
    REQUESTS_MADE,
    ROUNDS_OUT,
    SECTORS_MADE,
    SKIPPED,
    STATE,
    STEPS,
    STRIDE,
    STUCK,
    TAKEN,
    TOGETHER,
    UNWRITTEN,
    VERSION,
    Own,
    Tables,
)
from .waiting import ordered

_ATOMIC, _BOUND, _EXIT = (OP[x] for x in ("ATOMIC", "BOUND", "EXIT"))
_IF, _INDEX, _JUMP = (OP[x] for x in ("IF", "INDEX", "JUMP"))
_LOAD, _LOAD_LOCAL, _STORE = (OP[x] for x in ("LOAD", "LOAD_LOCAL", "STORE"))
_STORE_LOCAL, _WHILE = (OP[x] for x in ("STORE_LOCAL", "WHILE"))
WAITS, YIELDS = 9, 8  # the warp waits; it has had its turn
LOOK = 64  # rounds of a long loop between two looks whether it goes in a circle
PATIENCE = 4096  # rounds of lanes where some pass values, before others go on
MOST_ROUNDS = 4_000_000  # of one loop, before it is taken to hang
LAST_WHOLE, LAST_REAL, LAST_MOVE = (OP[x] for x in ("POPC", "CEIL", "TEST"))
LAST_MARK, LAST_BETWEEN, FIRST_SYNC = (OP[x] for x in ("CHECK", "REDUCE", "BARRIER"))
FIRST_FAR = OP["COPY_ASYNC"]
MEETINGS = tuple(
    OP[x] for x in ("BARRIER", "WARP_BARRIER", "GRID_BARRIER", "CLUSTER_BARRIER")
)


@apart
def step(me: int, turn: int, rounds: int, own: Own, t: Tables) -> int:
    """Run a warp until it waits, ends, or has had its turn."""
    P, W, B = t.P, t.W, t.B
    A, VC, G = t.A, t.VC, t.G
    C, Q, S = t.C, t.Q, t.S
    R, F = own.RR[me], own.FF[me]
    T, TF = t.scratch[5], t.FV[1]
    E, TR, width = t.E, t.TR, t.width
    V, ST, BAR = own.V, own.ST, own.BAR
    LOC, LOV = own.LOC, own.LOV
    pc, recorded = W[me, PC], W[me, RECORD] >= 0
    done = bad = said = 0
    while done < turn:
        op, form, d, a, b = P[pc, 0], P[pc, 1], P[pc, 2], P[pc, 3], P[pc, 4]
        c, imm = P[pc, 5], P[pc, 6]
        mask = W[me, MASK]
        if P[pc, 8]:
            done += 1
            if recorded and not logged(pc, me, mask, W, G, TR, E):
                said = FULL
                break
            C[pc, C_WARPS] += 1
            C[pc, C_LANES] += count_bits(mask)
        elif recorded and d >= 0 and not logged(pc, me, mask, W, G, TR, E):
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
                said = accessed(op, pc, me, mask, R, F, t)
                if said:
                    break
            # Warps take turns, a store or an atomic each: what one forgot to wait for
            # is found whoever comes first.
            if op != _LOAD:
                pc += 1
                said = YIELDS
                break
        elif _IF <= op <= _EXIT:
            if op == _EXIT and imm == 0:
                if ended(me, pc, W, ST, G):
                    pc = W[me, PC]
                    continue
                W[me, PC] = pc
                finished(me, mask, W, B, BAR, VC, G, width)
                break
            held, jump = mask, pc
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
                    circle = seen_before(me, R, W, G)
                    if circle or (t.LV.shape[0] > 1 and W[me, STEPS] % PATIENCE == 0):
                        if turned_round(me, pc, jump + 1, W, ST, G):
                            pc = W[me, PC]
                        elif circle:
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
            bad = private(op, imm, d, a, b, me, mask, R, A, LOC, LOV)
            if bad >= 0:
                said = fail(G, UNWRITTEN, pc, me, bad, R[a, bad], imm)
                break
        elif op >= FIRST_FAR:
            if G[REQUESTS_MADE] + 1 >= Q.shape[0] or G[SECTORS_MADE] + 64 >= S.shape[0]:
                said = uncounted(pc, me, mask, W, G, C)
                break
            if mask != 0:
                said = far(op, pc, me, mask, R, F, t)
                if said == FULL:
                    uncounted(pc, me, mask, W, G, C)
                if said:
                    break
            pc += 1
            said = YIELDS
            break
        elif op >= FIRST_SYNC:
            if op in MEETINGS and met_again(me, pc, W, ST, G):
                pc = W[me, PC]
                continue
            mask = W[me, MASK]
            W[me, PC] = pc
            bad = ordered(op, pc, me, mask, imm, R, BAR, t)
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


def run(
    blocks: int,
    units: int,
    kept: int,
    own: Own,
    t: Tables,
    rounds: int,
    turn: int,
    budget: int,
) -> int:
    """Run blocks until all are finished, a table is full, or something is wrong.

    Blocks that one unit runs, every ``units``-th, are recorded, ``kept`` of them: those
    that begin together, and the last ones.
    """
    W, B, G = t.W, t.B, t.G
    VC, MB, CP = t.VC, t.MB, t.CP
    width = t.width
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
                    said = step(me, turn, rounds, own, t)
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
        if G[CLUSTER] > 1:
            if clusters_met(W, B, VC, G, width):
                continue
            free = free_slot(slots, B, G)
        if free >= 0 and G[NEXT_BLOCK] < blocks and stuck == live:
            block = G[NEXT_BLOCK]
            record = -1
            if block % units == 0:
                record = block // units
                if record >= G[TOGETHER]:
                    record = max(G[TOGETHER] - 1, record - G[SKIPPED])
                    if record == G[TOGETHER] - 1:
                        record = -1
                if record >= kept:
                    record = -1
            B[free, B_RECORD] = record
            begun(free, block, record, own, t)
            begun_anew(free, width, W, MB, CP, G, VC.shape[1])
            G[NEXT_BLOCK] += G[STRIDE]
            continue
        if live == 0:
            return FINISHED
        if stuck == live and not moved:
            return DEADLOCK
        if stuck == live and free < 0:
            return DEADLOCK

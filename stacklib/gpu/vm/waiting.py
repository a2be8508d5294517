"""Which instruction makes a warp wait, and for whom."""

from __future__ import annotations

from typing import Any

from ._apart import apart
from .barriers import at_grid, came_to, fenced, warp_met
from .clusters import at_cluster, mapped
from .copies import grouped
from .mbarriers import at_mbarrier
from .program import OP
from .state import FAILED, RECORD, T_WAIT, TRACED, Tables

_BARRIER, _FENCE, _WARP_BARRIER = (OP[x] for x in ("BARRIER", "FENCE", "WARP_BARRIER"))
_COMMIT, _WAIT_GROUP, _MAP_RANK = (OP[x] for x in ("COMMIT", "WAIT_GROUP", "MAP_RANK"))
_CLUSTER_BARRIER, _MB_ARRIVE = OP["CLUSTER_BARRIER"], OP["MB_ARRIVE"]


@apart
def ordered(
    op: int, pc: int, me: int, mask: int, imm: int, R: Any, BAR: Any, t: Tables
) -> int:
    """0 to go on, 1 to wait, 2 where it went on already, or FAILED + 10."""
    W, B, G = t.W, t.B, t.G
    E, TR, MB = t.E, t.TR, t.MB
    H, VC, CP = t.H, t.VC, t.CP
    P, width = t.P, t.width
    if op == _WARP_BARRIER:
        return warp_met(pc, me, mask, W, G)
    if mask == 0:
        return 0
    if op == _BARRIER:
        said = came_to(me, pc, mask, R, BAR, t)
        return FAILED + 10 if said <= -10 else said
    if op == _FENCE:
        fenced(1 if imm else 2, me, W, VC, G, width)
        return 0
    if op == _COMMIT or op == _WAIT_GROUP:
        event = grouped(op, me, mask, imm, W, MB, CP, H, G)
        if event >= 0 and W[me, RECORD] >= 0:
            TR[G[TRACED] - 1, T_WAIT] = event
        return 0
    if op == _CLUSTER_BARRIER:
        return at_cluster(pc, me, mask, W, B, G, E, TR)
    if op == _MAP_RANK:
        bad = mapped(pc, me, mask, P[pc, 3], R, MB, G)
        return 10 + bad if bad else 0
    if op >= _MB_ARRIVE:
        return at_mbarrier(op, pc, me, mask, imm, R, t)
    return at_grid(pc, me, mask, W, G, E, TR)

"""What the recorded warps issued, as the replay of a multiprocessor reads it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from stacklib.memory.warp._fast import soon

from ..issue.streams import KIND, NEEDS, Streams
from ..vm import state as at
from ..vm._apart import entry
from ..vm.program import OP
from .contention import shared_out

if TYPE_CHECKING:
    from .machine import Machine

_LOAD, _STORE = OP["LOAD"], OP["STORE"]


def linked(
    TR: Any, order: Any, P: Any, kinds: Any, last: Any, needs: Any, kept: Any
) -> int:
    """Fill, for each issued row, the earlier ones of its warp whose results it needs.

    ``last``: by register, which instruction of the warp wrote it; rows that no GPU
    issues hand on what their operands waited for. Returns how many were issued.
    """
    n, warp, place = 0, -1, 0
    for row in order:
        if TR[row, at.T_WARP] != warp:
            warp, place = TR[row, at.T_WARP], 0
            last[:] = -1
        pc = TR[row, at.T_PC]
        op, d = P[pc, 0], P[pc, 2]
        wide = P[pc, 5] if (op == _LOAD or op == _STORE) and P[pc, 5] > 0 else 1
        latest, found = -1, 0
        issued = kinds[pc] >= 0
        for k in range(3):
            reg = P[pc, 3 + k]
            if reg < 0 or (k == 2 and (op == _LOAD or op == _STORE)):
                continue
            many = wide if op == _STORE and k == 1 else 1
            for one in range(many):
                by = last[reg + one]
                latest = max(latest, by)
                if issued and by >= 0 and found < needs.shape[1]:
                    needs[n, found] = by
                    found += 1
        if issued:
            latest = place
            kept[n] = row
            place += 1
            n += 1
        if d >= 0:
            for one in range(wide if op == _LOAD else 1):
                last[d + one] = latest
    return n


def streams_of(machine: Machine, answered: Any, turns: float = 0.0) -> Streams:
    """The recorded blocks of one unit.

    ``answered``: (requests, 3) sectors of each that the L1, the L2, the memory gave;
    ``turns``: lanes of all units whose atomics meet at one line of the L2.
    """
    t = machine.tables
    g, rows = t["G"], machine.program.rows
    trace = t["TR"][: g[at.TRACED]]
    order = np.argsort(trace[:, at.T_WARP], kind="stable")
    kinds = np.array([KIND.get(k, -1) for k in machine.program.kinds], np.int64)
    needs: Any = np.full((len(trace), NEEDS), -1, np.int64)
    kept: Any = np.zeros(len(trace), np.int64)
    last: Any = np.full(machine.program.registers + 16, -1, np.int64)
    link = soon(linked, len(trace), entry)
    n = link(trace, order, rows, kinds, last, needs, kept)
    kept = kept[:n]
    warp = trace[kept, at.T_WARP]
    starts: Any = np.flatnonzero(np.diff(warp, prepend=-1))
    pc = trace[kept, at.T_PC]
    kind, lanes = kinds[pc], np.bitwise_count(trace[kept, at.T_MASK]).astype(np.int64)
    atomic = kind == KIND["atomic_global"]
    turned = np.where(
        atomic, shared_out(lanes * atomic, turns), trace[kept, at.T_TURNS]
    )
    request, asked = _requests(trace, kept, turned, answered)
    first: Any = np.append(starts, n)
    return Streams(
        first,
        warp[starts] // machine.width,
        kind,
        needs[:n],
        rows[pc, 9],
        lanes,
        request,
        trace[kept, at.T_ARRIVE],
        trace[kept, at.T_WAIT],
        asked,
        t["E"][: max(1, g[at.EVENTS])],
    )


def _requests(trace: Any, kept: Any, turns: Any, answered: Any) -> tuple[Any, Any]:
    """Row of each instruction among what memory was asked for, equal rows once."""
    request: Any = np.full(len(kept), -1, np.int64)
    asks = trace[kept, at.T_REQUEST] >= 0
    asks |= trace[kept, at.T_PASSES] > 0
    if not asks.any():
        return request, np.zeros((1, 5), np.int64)
    those = kept[asks]
    number = trace[those, at.T_REQUEST]
    rows: Any = np.zeros((len(those), 5), np.int64)
    rows[:, 0], rows[:, 4] = trace[those, at.T_PASSES], turns[asks]
    far = number >= 0
    if answered is not None and far.any():
        rows[far, 1:4] = answered[number[far]]
    sizes = tuple(rows.max(axis=0) + 1)
    codes = np.ravel_multi_index(tuple(rows.T), sizes)
    once, request[asks] = np.unique(codes, return_inverse=True)
    return request, np.stack(np.unravel_index(once, sizes), axis=1)

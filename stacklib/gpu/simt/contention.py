"""Atomics of all units at one line of the L2: they take turns there.

A line lives in one slice of the L2, which takes a sector of a request after the other
and, within one, adds lanes to the same word one after the other: whole numbers one a
cycle, floats more slowly. So a warp that adds to one word holds the line for 32 lanes,
and one that adds to 32 words beside each other for four sectors. One unit is replayed,
so its atomics are charged the turns of all units at the line that is held longest.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from stacklib.hardware import efficiency
from stacklib.memory.warp.coalescing import LINE, SECTOR

from ..vm import state as at
from ..vm.formats import FORMS
from ..vm.program import FIELDS
from .machine import Machine

ATOMIC = 2  # the kind of a request


def turns(machine: Machine, rounds: int) -> float:
    """Turns of a sector that the line is held for of which atomics ask most.

    ``rounds``: blocks of every unit that count, the first ones.
    """
    t = machine.tables
    log = t["Q"][: t["G"][at.REQUESTS_MADE]]
    block = log[:, at.R_WARP] // machine.width
    log = log[(log[:, at.R_KIND] == ATOMIC) & (block // machine.units < rounds)]
    if not len(log):
        return 0.0
    form = t["P"][log[:, at.R_PC], FIELDS.index("form")]
    names = "atomic_lane", "atomic_lane_float"
    whole, real = (efficiency(name) / efficiency("atomic_turn") for name in names)
    rate: Any = np.array([real if f.floating else whole for f in FORMS])
    each = log[:, at.R_TURNS] * rate[form]
    many = log[:, at.R_COUNT]
    within = np.arange(many.sum()) - np.repeat(many.cumsum() - many, many)
    sectors = t["S"][np.repeat(log[:, at.R_FIRST], many) + within]
    _, line = np.unique(sectors // (LINE // SECTOR), return_inverse=True)
    return float(np.bincount(line, np.repeat(np.maximum(1, each), many)).max())


def shared_out(lanes: Any, whole: float) -> Any:
    """Turns of each instruction: its lanes' part of ``whole``, one at least."""
    part = lanes * (whole / max(1, int(lanes.sum())))
    return np.maximum(1, np.rint(part)).astype(np.int64)

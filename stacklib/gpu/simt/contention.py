"""Atomics of all units at one line of the L2: they take turns there.

A line lives in one slice of the L2, which adds one lane after the other. One unit is
replayed, so its atomics are charged the turns of all units that meet at the line which
most of them ask for.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from stacklib.memory.warp.coalescing import LINE, SECTOR

from ..vm import state as at
from .machine import Machine

ATOMIC = 2  # the kind of a request


def turns(machine: Machine, rounds: int) -> float:
    """Lanes that meet at the line that most atomics ask for.

    ``rounds``: blocks of every unit that count, the first ones.
    """
    t = machine.tables
    log = t["Q"][: t["G"][at.REQUESTS_MADE]]
    block = log[:, at.R_WARP] // machine.width
    log = log[(log[:, at.R_KIND] == ATOMIC) & (block // machine.units < rounds)]
    if not len(log):
        return 0.0
    counts = t["C"][log[:, at.R_PC]]
    lanes = counts[:, at.C_LANES] / np.maximum(1, counts[:, at.C_WARPS])
    many = log[:, at.R_COUNT]
    within = np.arange(many.sum()) - np.repeat(many.cumsum() - many, many)
    sectors = t["S"][np.repeat(log[:, at.R_FIRST], many) + within]
    _, line = np.unique(sectors // (LINE // SECTOR), return_inverse=True)
    return float(np.bincount(line, np.repeat(lanes / np.maximum(1, many), many)).max())


def shared_out(lanes: Any, whole: float) -> Any:
    """Turns of each instruction: its lanes' part of ``whole``, one at least."""
    part = lanes * (whole / max(1, int(lanes.sum())))
    return np.maximum(1, np.rint(part)).astype(np.int64)

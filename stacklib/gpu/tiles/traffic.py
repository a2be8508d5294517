"""What tiles ask of the memory system, kept as the caches read it."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..simt.requests import KINDS, Traffic
from ..vm import state as at

SUMS = ("requests", "sectors", "lines", "asked", "line_sectors")
_NONE = np.iinfo(np.int64).max


@dataclass(slots=True)
class Tally:
    """Sums over the requests of a launch, and the requests in order."""

    sums: Traffic = field(default_factory=Traffic)
    rows: list[Any] = field(default_factory=list)  # by operation: (n, columns)
    sectors: list[Any] = field(default_factory=list)

    def add(self, order: int, kind: str, warps: Any, counts: Any, sectors: Any) -> None:
        """List the requests of an operation: who asks, and for how many sectors."""
        rows: Any = np.zeros((len(warps), at.REQUEST_COLUMNS), np.int64)
        rows[:, at.R_ORDER], rows[:, at.R_KIND] = order, KINDS.index(kind)
        rows[:, at.R_WARP], rows[:, at.R_COUNT] = warps, counts
        self.rows.append(rows)
        self.sectors.append(sectors)

    def finished(self) -> Traffic:
        """The traffic of the whole launch."""
        if self.rows:
            self.sums.log = np.concatenate(self.rows)
            ends = np.cumsum(self.sums.log[:, at.R_COUNT])
            self.sums.log[1:, at.R_FIRST] = ends[:-1]
            self.sums.touched = np.concatenate(self.sectors)
        return self.sums

    def mark(self) -> Tally:
        """As it is now, to go back to."""
        sums = Traffic()
        for name in SUMS:
            setattr(sums, name, copy.deepcopy(getattr(self.sums, name)))
        return Tally(sums, list(self.rows), list(self.sectors))

    def back_to(self, kept: Tally) -> None:
        """Forget what was asked for since."""
        self.sums, self.rows, self.sectors = kept.sums, kept.rows, kept.sectors


def distinct(numbers: Any, mask: Any) -> tuple[Any, Any]:
    """Distinct numbers of each row, ascending: ``(row numbers, values)``, flat.

    ``numbers``: (rows, n) sectors; ``mask``: (rows, n) which count.
    """
    ordered = np.where(mask, numbers, _NONE)
    if (ordered[:, 1:] < ordered[:, :-1]).any():
        ordered = np.sort(ordered, axis=1)
    new = ordered != _NONE
    new[:, 1:] &= ordered[:, 1:] != ordered[:, :-1]
    found = np.flatnonzero(new)
    return found // new.shape[1], ordered.ravel()[found]

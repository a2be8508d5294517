"""What tiles ask of the memory system, counted as it is asked."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import Any

import numpy as np

KINDS = ("load", "store", "atomic")
SUMS = ("requests", "sectors", "lines", "asked", "line_sectors")
_NONE = np.iinfo(np.int64).max


@dataclass(slots=True)
class Traffic:
    """Sums over the requests of a launch, and the sectors they touched in order."""

    requests: dict[str, int] = field(default_factory=dict)
    sectors: dict[str, int] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)
    asked: dict[str, int] = field(default_factory=dict)
    line_sectors: dict[int, list[int]] = field(default_factory=dict)
    trace: list[tuple[int, str, Any, Any]] = field(default_factory=list)

    @property
    def log(self) -> list[tuple[int, str, Any, Any]]:
        """The trace, under the name that the caches ask for."""
        return self.trace

    def add(self, name: str, kind: str, count: int) -> None:
        """Add to one of the sums by kind."""
        sums = getattr(self, name)
        sums[kind] = sums.get(kind, 0) + count

    def flat(self) -> tuple[Any, Any, Any, Any]:
        """Order, warp, sector and kind of every sector asked for."""
        parts = [
            (np.full(len(w), n), w, s, np.full(len(w), KINDS.index(k)))
            for n, k, w, s in self.trace
        ]
        order, warp, sector, kind = map(np.concatenate, zip(*parts, strict=True))
        return order, warp, sector, kind

    def mark(self) -> Traffic:
        """As it is now, to go back to."""
        kept = copy.copy(self)
        for name in SUMS:
            setattr(kept, name, copy.deepcopy(getattr(self, name)))
        kept.trace = list(self.trace)
        return kept

    def back_to(self, kept: Traffic) -> None:
        """Forget what was asked for since."""
        for name in (*SUMS, "trace"):
            setattr(self, name, getattr(kept, name))


def distinct(numbers: Any, mask: Any) -> tuple[Any, Any]:
    """Distinct numbers of each row, ascending: ``(row numbers, values)``, flat.

    ``numbers``: (rows, n) sectors; ``mask``: (rows, n) which count.
    """
    ordered = np.where(mask, numbers, _NONE)
    if (ordered[:, 1:] < ordered[:, :-1]).any():
        ordered = np.sort(ordered, axis=1)
    new = ordered != _NONE
    new[:, 1:] &= ordered[:, 1:] != ordered[:, :-1]
    at = np.flatnonzero(new)
    return at // new.shape[1], ordered.ravel()[at]

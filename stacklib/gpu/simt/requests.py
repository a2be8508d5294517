"""What memory instructions ask of the memory system, counted as they are issued."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

NONE = np.iinfo(np.int64).max


@dataclass(slots=True)
class Traffic:
    """Sums over the requests of a launch, and the sectors they touched in order."""

    requests: dict[str, int] = field(default_factory=dict)
    sectors: dict[str, int] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)
    asked: dict[str, int] = field(default_factory=dict)
    shared_requests: dict[str, int] = field(default_factory=dict)
    phases: dict[str, int] = field(default_factory=dict)
    passes: dict[str, int] = field(default_factory=dict)
    line_sectors: dict[int, list[int]] = field(default_factory=dict)
    line_passes: dict[int, list[int]] = field(default_factory=dict)
    trace: list[tuple[int, str, Any, Any]] = field(default_factory=list)

    def add(self, field_name: str, kind: str, count: int) -> None:
        """Add to one of the sums by kind."""
        sums = getattr(self, field_name)
        sums[kind] = sums.get(kind, 0) + count


def distinct(numbers: Any, mask: Any) -> tuple[Any, Any]:
    """Distinct numbers of each row, ascending: ``(row numbers, values)``, flat.

    ``numbers``: (rows, n) sector, line or word numbers; ``mask``: (rows, n) which
    count.
    """
    ordered = np.where(mask, numbers, NONE)
    if (ordered[:, 1:] < ordered[:, :-1]).any():
        ordered = np.sort(ordered, axis=1)
    new = ordered != NONE
    new[:, 1:] &= ordered[:, 1:] != ordered[:, :-1]
    at = np.flatnonzero(new)  # far quicker than nonzero of two axes
    return at // new.shape[1], ordered.ravel()[at]

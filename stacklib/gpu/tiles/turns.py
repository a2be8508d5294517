"""Atomics: lanes that meet at an element take turns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .formats import decoded, rounded
from .types import DType

Turns = tuple[Any, Any, Any]


def in_turn(how: Any, flat: Any, at: Any, given: Any, dtype: DType) -> Turns:
    """Each lane's result of ``flat[at] = how(flat[at], given)``, one by one.

    Returns what each lane found, the places touched, and what stands there at the end;
    ``flat``, as stored, is left as it is. ``at``, ``given``: (n,).
    """
    order = np.argsort(at, kind="stable")
    places, first = np.unique(at[order], return_index=True)
    lengths: Any = np.diff(np.append(first, len(at)))
    now = np.array(decoded(flat[places], dtype))
    groups = _Groups(order, first, lengths, dtype)
    ladder = isinstance(how, np.ufunc) and not dtype.form
    few = ladder and len(places) < lengths.max(initial=0)
    with np.errstate(all="ignore"):
        old = (groups.by_place if few else groups.by_turn)(how, now, given)
    return old, places, now


@dataclass(frozen=True, slots=True)
class _Groups:
    """Lanes by the place they meet at: each place's begin at ``first`` in ``order``."""

    order: Any
    first: Any
    lengths: Any
    dtype: DType

    def by_turn(self, how: Any, now: Any, given: Any) -> Any:
        """All places at once, their first lane, their second, and so on."""
        old = np.empty_like(given)
        for turn in range(int(self.lengths.max(initial=0))):
            mine = self.lengths > turn
            who = self.order[self.first[mine] + turn]
            old[who] = now[mine]
            extra = (who,) if getattr(how, "by_turn", False) else ()
            now[mine] = rounded(how(now[mine], given[who], *extra), self.dtype)
        return old

    def by_place(self, how: Any, now: Any, given: Any) -> Any:
        """Each place with all its lanes, where there are few places and many lanes."""
        old = np.empty_like(given)
        for n, (start, length) in enumerate(zip(self.first, self.lengths, strict=True)):
            who = self.order[start : start + length]
            steps = how.accumulate(np.concatenate([now[n : n + 1], given[who]]))
            old[who], now[n] = steps[:-1], steps[-1]
        return old

"""Atomics: lanes that meet at an element take turns."""

from __future__ import annotations

from typing import Any

import numpy as np

from .formats import rounded
from .types import DType

Turns = tuple[Any, Any, Any]


def in_turn(how: Any, flat: Any, at: Any, given: Any, dtype: DType) -> Turns:
    """Each lane's result of ``flat[at] = how(flat[at], given)``, one by one.

    Returns what each lane found, the places touched, and what stands there at the end;
    ``flat`` is left as it is. ``at``, ``given``: (n,).
    """
    order = np.argsort(at, kind="stable")
    places, first = np.unique(at[order], return_index=True)
    lengths: Any = np.diff(np.append(first, len(at)))
    ladder = isinstance(how, np.ufunc) and not dtype.form
    if ladder and len(places) < lengths.max(initial=0):
        return _by_place(how, flat, given, order, places, first, lengths)
    return _by_turn(how, flat, given, dtype, order, places, first, lengths)


def _by_turn(
    how: Any,
    flat: Any,
    given: Any,
    dtype: DType,
    order: Any,
    places: Any,
    first: Any,
    lengths: Any,
) -> Turns:
    """All places at once, their first lane, their second, and so on."""
    old, now = np.empty_like(given), flat[places]
    with np.errstate(all="ignore"):
        for turn in range(int(lengths.max(initial=0))):
            mine = lengths > turn
            who = order[first[mine] + turn]
            old[who] = now[mine]
            extra = (who,) if getattr(how, "by_turn", False) else ()
            now[mine] = rounded(how(now[mine], given[who], *extra), dtype)
    return old, places, now


def _by_place(
    how: Any, flat: Any, given: Any, order: Any, places: Any, first: Any, lengths: Any
) -> Turns:
    """Each place with all its lanes, where there are few places and many lanes."""
    old, now = np.empty_like(given), flat[places]
    with np.errstate(all="ignore"):
        for n, (start, length) in enumerate(zip(first, lengths, strict=True)):
            who = order[start : start + length]
            steps = how.accumulate(np.concatenate([now[n : n + 1], given[who]]))
            old[who], now[n] = steps[:-1], steps[-1]
    return old, places, now

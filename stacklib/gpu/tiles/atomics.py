"""Atomics: lanes that meet at an element take turns, in the order of programs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .access import Access, op_of, word
from .formats import codes, decoded, rounded
from .machine import error
from .tile import Tile, as_tile, cast, spread
from .types import DType

SEMANTICS = ("acquire", "release", "acq_rel", "relaxed")
SCOPES = ("gpu", "cta", "sys")
Turns = tuple[Any, Any, Any]


def _atomics(name: str, how: Any) -> Any:
    def atomic(
        pointer: Any, val: Any, mask: Any = None, sem: Any = None, scope: Any = None
    ) -> Tile:
        word(sem, SEMANTICS)
        word(scope, SCOPES)
        access = Access(f"atomic_{name}", pointer, mask)
        _has_atomic(name, access.dtype)
        value = spread(cast(as_tile(val), access.dtype), access.shape)
        return _in_turn(access, how, value, (pointer.op, value.op, op_of(mask)), sem)

    atomic.__name__ = f"atomic_{name}"
    atomic.__doc__ = f"Combine with what stands there ({name}); what was there."
    return atomic


def _has_atomic(name: str, dtype: DType) -> None:
    half = dtype.is_floating() and dtype.bits == 16
    if dtype.bits < 16 or (half and name != "add") or dtype.name in ("int16", "uint16"):
        raise error(f"tl.atomic_{name} of {dtype}: GPUs have none")
    if dtype.is_floating() and name in ("and", "or", "xor"):
        raise error(f"tl.atomic_{name} of {dtype}: whole numbers are needed")


def _in_turn(
    access: Access, how: Any, value: Tile, needs: tuple[int, ...], sem: Any
) -> Tile:
    """Lanes one after another, in the order of programs."""
    access.look("atomic")
    at, me, lanes = access.everyone()
    given = np.broadcast_to(value.data, lanes.shape)[lanes]
    old, places, last = in_turn(how, access.array.flat, at, given, access.dtype)
    access.now.put(access.array.flat, places, codes(last, access.dtype))
    if not access.shape and sem != "relaxed" and access.array.races is not None:
        _ordering(access, at, me)
    found = np.zeros(lanes.shape, access.dtype.held)
    found[lanes] = old
    op = access.count("atomic", needs, found)
    return Tile(found, access.dtype, op)


def _ordering(access: Access, at: Any, me: Any) -> None:
    order = access.now.memory.order
    before = len(order.events)
    order.note(me - 1, at * access.array.dtype.itemsize + access.array.base)

    def back() -> None:
        del order.events[before:]

    access.now.undo.append(back)


def _xchg(old: Any, new: Any) -> Any:
    return new


atomic_add = _atomics("add", np.add)
atomic_max = _atomics("max", np.fmax)
atomic_min = _atomics("min", np.fmin)
atomic_and = _atomics("and", np.bitwise_and)
atomic_or = _atomics("or", np.bitwise_or)
atomic_xor = _atomics("xor", np.bitwise_xor)
atomic_xchg = _atomics("xchg", _xchg)


def atomic_cas(
    pointer: Any, cmp: Any, val: Any, sem: Any = None, scope: Any = None
) -> Tile:
    """Put ``val`` where ``cmp`` stands; what stood there before."""
    word(sem, SEMANTICS)
    word(scope, SCOPES)
    access = Access("atomic_cas", pointer, None)
    if access.dtype.bits < 16:
        raise error(f"tl.atomic_cas of {access.dtype}: 16, 32 or 64 bits are needed")
    expected, new = (
        spread(cast(as_tile(x), access.dtype), access.shape) for x in (cmp, val)
    )
    lead = (len(access.now), *access.shape)
    expects = np.broadcast_to(expected.data, lead).reshape(-1)

    def swap(old: Any, given: Any, turn: Any) -> Any:
        return np.where(old == expects[turn], given, old)

    swap.by_turn = True  # type: ignore[attr-defined]
    return _in_turn(access, swap, new, (pointer.op, expected.op, new.op), sem)


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

"""``tl.load`` and ``tl.store``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .access import Access, op_of, word
from .block_pointers import BlockPointer, padding
from .formats import codes, decoded
from .machine import error
from .tile import Tile, as_tile, cast, spread

CACHE = (".ca", ".cg", ".cv", ".wb", ".cs", ".wt")
EVICTION = ("evict_last", "evict_first")


def load(
    pointer: Any,
    mask: Any = None,
    other: Any = None,
    boundary_check: Sequence[Any] = (),
    padding_option: Any = "",
    cache_modifier: Any = "",
    eviction_policy: Any = "",
    volatile: Any = False,
) -> Tile:
    """Elements at addresses; ``other``, or zero, where the mask leaves one out."""
    word(cache_modifier, CACHE)
    word(eviction_policy, EVICTION)
    if isinstance(pointer, BlockPointer):
        if mask is not None or other is not None:
            raise error("a block pointer takes boundary_check in place of a mask")
        outside = padding(padding_option, pointer.dtype.element_ty)
        pointer, mask = pointer.reach(boundary_check)
        other = None if mask is None else float("nan") if outside == "nan" else 0
    elif boundary_check or padding_option:
        raise error("boundary_check belongs to block pointers: use a mask")
    if other is not None and mask is None:
        raise error("tl.load with `other` and no mask")
    access = Access("load", pointer, mask)
    access.look("read")
    values = decoded(access.array.flat[access.at], access.dtype)
    if access.mask is not None:
        rest: Any = 0
        if other is not None:
            rest = spread(cast(as_tile(other), access.dtype), access.shape).data
        values = np.where(access.mask, values, rest).astype(values.dtype)
    op = access.count("load", (pointer.op, op_of(mask)), values)
    return Tile(values, access.dtype, op)


def store(
    pointer: Any,
    value: Any,
    mask: Any = None,
    boundary_check: Sequence[Any] = (),
    cache_modifier: Any = "",
    eviction_policy: Any = "",
) -> None:
    """Write elements to addresses, but where the mask leaves one out."""
    word(cache_modifier, CACHE)
    word(eviction_policy, EVICTION)
    if isinstance(pointer, BlockPointer):
        if mask is not None:
            raise error("a block pointer takes boundary_check in place of a mask")
        pointer, mask = pointer.reach(boundary_check)
    elif boundary_check:
        raise error("boundary_check belongs to block pointers: use a mask")
    access = Access("store", pointer, mask)
    given = cast(as_tile(value), access.dtype)
    stored = codes(spread(given, access.shape).data, access.dtype)
    access.count("store", (pointer.op, given.op, op_of(mask)))
    at, _, lanes = access.everyone()
    values = np.broadcast_to(stored, lanes.shape)[lanes]
    if access.array.races is not None:
        _twice(access, at, lanes, values)
    access.look("write")
    access.now.put(access.array.flat, at, values)
    if access.array.written is not None:
        access.now.put(access.array.written, at, True)


def _twice(access: Access, at: Any, lanes: Any, values: Any) -> None:
    """Two lanes of one store that meet at an element are named."""
    if not len(at) or (np.diff(at) > 0).all():
        return
    order = np.argsort(at, kind="stable")
    same = at[order][1:] == at[order][:-1]
    if same.any():
        bad: Any = np.zeros(len(at), bool)
        pair = order[np.argmax(same)], order[np.argmax(same) + 1]
        bad[pair[1]] = True
        equal = values[pair[0]] == values[pair[1]]
        says = "is stored twice by one tl.store"
        if equal:
            says += f" (the same value, {values[pair[0]].item()!r})"
        raise access._wrong(bad, lanes, f"{says}: let one element of one program do it")

"""``tl.load`` and ``tl.store``; tensor descriptors, which load and store tiles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .access import Access, op_of, word
from .block_pointers import BlockPointer, padding
from .formats import codes, decoded
from .machine import error
from .tile import Tile, as_tile, cast, spread
from .types import DType

CACHE = (".ca", ".cg", ".cv", ".wb", ".cs", ".wt")
ALIGNED = 16  # bytes: the corner, the strides and a row of a descriptor's tile
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


class TensorDescriptor:
    """An array whose tiles of one shape are loaded and stored by their corners.

    On Hopper they go through the copy engine (TMA), which takes no addresses of
    threads; here these are counted as for a block pointer, so sectors are exact and
    instructions those of a GPU without TMA.
    """

    __slots__ = ("_corner", "_padding")

    def __init__(self, corner: BlockPointer, padding: str) -> None:
        self._corner, self._padding = corner, padding

    @property
    def dtype(self) -> DType:
        """Type of the elements."""
        found: DType = self._corner.dtype.element_ty
        return found

    @property
    def block_shape(self) -> tuple[int, ...]:
        """Sizes of a tile."""
        return self._corner.block_shape

    def load(self, offsets: Any) -> Tile:
        """The tile with this corner; zero, or NaN, outside of the array."""
        every = range(len(self.block_shape))
        return load(
            self._corner.at(offsets), boundary_check=every, padding_option=self._padding
        )

    def store(self, offsets: Any, value: Any) -> None:
        """Write the tile with this corner; what lies outside is dropped."""
        every = range(len(self.block_shape))
        store(self._corner.at(offsets), value, boundary_check=every)


def make_tensor_descriptor(
    base: Any, shape: Any, strides: Any, block_shape: Any, padding_option: str = "zero"
) -> TensorDescriptor:
    """Describe an array to the copy engine, which asks for rows of 16 bytes."""
    word = "make_tensor_descriptor"
    made = BlockPointer(word, base, shape, strides, [0] * len(shape), block_shape)
    near = as_tile(strides[-1])
    if (near.data != 1).any():
        raise error(f"tl.{word}: the last of its strides is {near.data[0]}, not 1")
    size = made.dtype.element_ty.itemsize
    if made.block_shape[-1] * size < ALIGNED:
        raise error(
            f"tl.{word}: rows of {made.block_shape[-1]} elements are "
            f"{made.block_shape[-1] * size} bytes; {ALIGNED} at least"
        )
    starts = [("the pointer", made.base.data)]
    starts += [("a stride", stride.data * size) for stride in made.strides[:-1]]
    for what, data in starts:
        if (data % ALIGNED).any():
            raise error(f"tl.{word}: {what} is no multiple of {ALIGNED} bytes")
    return TensorDescriptor(made, padding(padding_option, made.dtype.element_ty))

"""Block pointers: a tile of an array, named by its corner.

Addresses and masks come from the corner, as Triton's pass ``RewriteTensorPointer``
makes them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .arithmetic import add, bitwise, compare, multiply
from .machine import error
from .shapes import arange, expand_dims
from .tile import Tile, as_tile, cast, known, sizes
from .types import DType, Pointer, int32, int64

PADDING = ("", "zero", "nan")


class BlockPointer:
    """A tile of an array of some axes: where it lies, and its sizes."""

    __slots__ = ("base", "block_shape", "offsets", "shape", "strides")

    def __init__(
        self, word: str, base: Any, shape: Any, strides: Any, offsets: Any, block: Any
    ) -> None:
        if not isinstance(base, Tile) or not isinstance(base.dtype, Pointer):
            raise error(f"tl.{word} of {base!r}: a pointer is needed")
        if base.shape:
            raise error(f"tl.{word} of a tile of {list(base.shape)} pointers: one")
        self.base = base
        self.block_shape = sizes(block, f"tl.{word}")
        self.shape = _each(word, "shape", shape, int64, len(self.block_shape))
        self.strides = _each(word, "strides", strides, int64, len(self.block_shape))
        self.offsets = _each(word, "offsets", offsets, int32, len(self.block_shape))

    @property
    def dtype(self) -> Any:
        """The pointer's type; ``dtype.element_ty`` is that of the elements."""
        return self.base.dtype

    type = dtype

    def at(self, offsets: Any) -> BlockPointer:
        """The tile with another corner."""
        parts = (self.base, self.shape, self.strides, offsets, self.block_shape)
        return BlockPointer("advance", *parts)

    def reach(self, axes: Any) -> tuple[Tile, Tile | None]:
        """Addresses of the elements, and which lie inside along these axes."""
        pointer, mask = self.base, None
        checked = _checked(axes, len(self.block_shape))
        for axis, extent in enumerate(self.block_shape):
            lanes = add(cast(self.offsets[axis], int64), arange(0, extent))
            if len(self.block_shape) > 1:
                others = [n for n in range(len(self.block_shape)) if n != axis]
                lanes = expand_dims(lanes, others)
            pointer = add(pointer, multiply(lanes, self.strides[axis]))
            if axis in checked:
                least = compare(np.greater_equal, lanes, 0)
                most = compare(np.less, lanes, self.shape[axis])
                inside = _and(least, most)
                mask = inside if mask is None else _and(mask, inside)
        return pointer, mask


def make_block_ptr(
    base: Any, shape: Any, strides: Any, offsets: Any, block_shape: Any, order: Any
) -> BlockPointer:
    """A pointer to a tile of an array. ``order``: its axes, the nearest first."""
    made = BlockPointer("make_block_ptr", base, shape, strides, offsets, block_shape)
    given = [known(n, "an axis of `order`") for n in order]
    if sorted(given) != list(range(len(made.block_shape))):
        raise error(
            f"order = {given}: a tile of {list(made.block_shape)} has the axes "
            f"{list(range(len(made.block_shape)))}, each once"
        )
    return made


def advance(base: Any, offsets: Any) -> BlockPointer:
    """A block pointer so many elements on, by axis."""
    if not isinstance(base, BlockPointer):
        raise error(f"tl.advance of {base!r}: tl.make_block_ptr makes what it moves")
    steps = _each("advance", "offsets", offsets, int32, len(base.block_shape))
    return base.at([add(a, b) for a, b in zip(base.offsets, steps, strict=True)])


def padding(given: Any, dtype: DType) -> str:
    """What stands outside of the array, checked."""
    if given not in PADDING:
        raise error(f"padding_option = {given!r}: one of {', '.join(PADDING[1:])}")
    if given == "nan" and not dtype.is_floating():
        raise error(f"padding_option = 'nan' of {dtype}, which has none")
    return str(given)


def _each(word: str, what: str, given: Any, dtype: DType, axes: int) -> tuple[Any, ...]:
    """One whole number for each axis."""
    found = [as_tile(n) for n in given]
    if len(found) != axes:
        raise error(f"tl.{word}: {len(found)} {what} for a tile of {axes} axes")
    for tile in found:
        if tile.shape or not tile.dtype.is_int():
            raise error(f"tl.{word}: {tile!r} among its {what}: whole numbers")
    return tuple(cast(tile, dtype) for tile in found)


def _and(a: Tile, b: Tile) -> Tile:
    return bitwise(np.bitwise_and, "&", a, b)


def _checked(axes: Any, most: int) -> set[int]:
    given = axes if isinstance(axes, list | tuple | range) else (axes,)
    found = [known(n, "an axis of `boundary_check`") for n in given]
    if len({*found}) < len(found) or not {*found} <= {*range(most)}:
        raise error(f"boundary_check = {found}: axes of a tile of {most}, each once")
    return {*found}

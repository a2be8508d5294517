"""Tiles made, and seen in another shape."""

from __future__ import annotations

from typing import Any

import numpy as np

from .arithmetic import operands
from .machine import batch, count, error
from .tile import Tile, as_tile, cast, each, known, sizes, spread, wrap
from .types import DType, int32
from .work import one


def program_id(axis: Any) -> Tile:
    """Which program this is along an axis of the grid."""
    at = known(axis, "the axis of tl.program_id")
    if at not in (0, 1, 2):
        raise error(f"tl.program_id({at}): axes are 0, 1 and 2")
    return Tile(batch().place(at), int32)


def num_programs(axis: Any) -> Tile:
    """How many programs there are along an axis of the grid."""
    at = known(axis, "the axis of tl.num_programs")
    if at not in (0, 1, 2):
        raise error(f"tl.num_programs({at}): axes are 0, 1 and 2")
    return wrap(batch().grid[at], (), int32)


def arange(start: Any, end: Any) -> Tile:
    """``start, start + 1, ..., end - 1``; as many as a power of two."""
    first, last = known(start, "tl.arange's start"), known(end, "tl.arange's end")
    if last <= first:
        raise error(f"tl.arange({first}, {last}): the end comes after the start")
    sizes(last - first, "tl.arange")
    return Tile(np.arange(first, last, dtype=np.int32)[None], int32)


def full(shape: Any, value: Any, dtype: Any) -> Tile:
    """One number everywhere."""
    target = dtype
    if not isinstance(target, DType):
        raise error(f"a tile of {dtype!r}: a type such as tl.float32 is needed")
    found, value = sizes(shape, "a tile"), value
    if isinstance(value, Tile):
        if value.numel != 1:
            raise error(f"tl.full of a tile of {list(value.shape)}: one number")
        single = Tile(value.data.reshape(-1), value.dtype, value.op)
        return spread(cast(single, target), found)
    return wrap(value, found, target)


def zeros(shape: Any, dtype: Any) -> Tile:
    """Zero everywhere."""
    return full(shape, 0, dtype)


def zeros_like(input: Any) -> Tile:
    """Zero everywhere, in the shape and type of another tile."""
    tile = as_tile(input)
    return full(tile.shape, 0, tile.dtype)


def _axis(axis: Any, most: int) -> int:
    at = known(axis, "an axis")
    if not -most <= at < most:
        raise error(f"axis {at} of a tile of {most} axes")
    return at % most


def expand_dims(input: Any, axis: Any) -> Tile:
    """One more axis of size 1, or several."""
    tile = as_tile(input)
    given = axis if isinstance(axis, list | tuple) else [axis]
    most = len(tile.shape) + len(given)
    data = tile.data
    for at in sorted(_axis(a, most) for a in given):
        data = np.expand_dims(data, at + 1)
    return Tile(data, tile.dtype, tile.op, tile.home)


def item(tile: Tile, index: Any) -> Tile:
    """``x[:, None]``: axes of size 1 put in; nothing else can be taken from a tile."""
    parts = index if isinstance(index, tuple) else (index,)
    kept = [p for p in parts if p is not None]
    if any(p != slice(None) for p in kept) or len(kept) > len(tile.shape):
        raise error(
            f"a tile of {list(tile.shape)} is indexed by {index!r}: only `:` and None "
            "are; load what is needed, or use tl.where and tl.sum"
        )
    if not kept and not tile.shape:
        return expand_dims(tile, list(range(len(parts))))
    places = [at for at, p in enumerate(parts) if p is None]
    return expand_dims(tile, places)


def _given(shape: tuple[Any, ...]) -> Any:
    """Sizes given one by one, or as one tuple."""
    one = len(shape) == 1 and isinstance(shape[0], list | tuple)
    return shape[0] if one else shape


def reshape(input: Any, *shape: Any, can_reorder: bool = False) -> Tile:
    """The same elements in another shape."""
    tile, found = as_tile(input), sizes(_given(shape), "tl.reshape")
    if count(found) != tile.numel:
        raise error(f"{list(tile.shape)} in the shape {list(found)}: counts differ")
    return Tile(tile.data.reshape(-1, *found), tile.dtype, tile.op, tile.home)


def ravel(x: Any, can_reorder: bool = False) -> Tile:
    """All elements along one axis."""
    return reshape(x, as_tile(x).numel)


def broadcast_to(input: Any, *shape: Any) -> Tile:
    """Sizes of 1 repeated until the tile has a shape."""
    return spread(as_tile(input), sizes(_given(shape), "tl.broadcast_to"))


def broadcast(input: Any, other: Any) -> tuple[Tile, Tile]:
    """Two tiles in the shape they meet at."""
    from .tile import meeting

    left, right = as_tile(input), as_tile(other)
    shape = meeting(left, right)
    return spread(left, shape), spread(right, shape)


def permute(input: Any, *dims: Any) -> Tile:
    """Axes in another order."""
    tile = as_tile(input)
    order = [known(d, "an axis of tl.permute") for d in _given(dims)]
    if sorted(order) != list(range(len(tile.shape))):
        raise error(f"axes {order} of a tile of {list(tile.shape)}: each once")
    data = tile.data.transpose(0, *(d + 1 for d in order))
    return Tile(data, tile.dtype, tile.op, tile.home)


def trans(input: Any, *dims: Any) -> Tile:
    """The last two axes exchanged, or axes in a given order."""
    tile = as_tile(input)
    if dims:
        return permute(tile, *dims)
    most = len(tile.shape)
    if most < 2:
        raise error(f"tl.trans of a tile of {list(tile.shape)}: two axes are needed")
    return permute(tile, *range(most - 2), most - 1, most - 2)


def join(a: Any, b: Any) -> Tile:
    """Two tiles side by side along a new last axis."""
    left, right = broadcast(*operands(a, b))
    return each("move", lambda x, y: _stacked(x, y), left.dtype, left, right)


def _stacked(x: Any, y: Any) -> Any:
    return np.stack(np.broadcast_arrays(x, y), axis=-1)


def split(a: Any) -> tuple[Tile, Tile]:
    """The two halves of a last axis of size 2."""
    tile = as_tile(a)
    if not tile.shape or tile.shape[-1] != 2:
        raise error(f"tl.split of a tile of {list(tile.shape)}: its last axis is 2")
    return tuple(  # type: ignore[return-value]
        Tile(tile.data[..., half], tile.dtype, tile.op) for half in (0, 1)
    )


def cat(input: Any, other: Any, can_reorder: bool = False, dim: Any = 0) -> Tile:
    """Two tiles one behind the other."""
    left, right = as_tile(input), as_tile(other)
    at = _axis(dim, len(left.shape))
    if left.dtype is not right.dtype or left.shape != right.shape:
        raise error(f"tl.cat of {left!r} and {right!r}: both must be alike")
    lead = max(len(left.data), len(right.data))
    parts = [np.broadcast_to(t.data, (lead, *t.shape)) for t in (left, right)]
    data = np.concatenate(parts, axis=at + 1)
    needs = (left.op, right.op)
    op = batch().note("move", data[0].size, left.dtype.bits, needs, one("move"))
    return Tile(data, left.dtype, op)


def interleave(a: Any, b: Any) -> Tile:
    """Elements of two tiles in turn."""
    both = join(a, b)
    *front, last, two = both.shape if len(both.shape) > 1 else (1, 2)
    return reshape(both, *front, last * two)


def flip(x: Any, dim: Any = None) -> Tile:
    """Elements along an axis in reverse."""
    tile = as_tile(x)
    at = _axis(len(tile.shape) - 1 if dim is None else dim, len(tile.shape))
    return each("shuffle", lambda a: np.flip(a, at + 1), tile.dtype, tile)


def squeeze(x: Any, dim: Any) -> Tile:
    """Without an axis of size 1."""
    tile = as_tile(x)
    at = _axis(dim, len(tile.shape))
    if tile.shape[at] != 1:
        raise error(f"tl.squeeze of axis {at} of {list(tile.shape)}: its size is not 1")
    return reshape(tile, (*tile.shape[:at], *tile.shape[at + 1 :]))


def swizzle2d(i: Any, j: Any, size_i: Any, size_j: Any, size_g: Any) -> tuple[Any, Any]:
    """Places of a grid in groups of ``size_g`` rows, down the columns of each."""
    from .arithmetic import add, floor_divide, multiply, remainder, subtract
    from .functions import minimum

    place, group = add(multiply(i, size_j), j), multiply(size_g, size_j)
    first = multiply(floor_divide(place, group), size_g)
    rows = minimum(subtract(size_i, first), size_g)
    within = remainder(place, group)
    return add(first, remainder(within, rows)), floor_divide(within, rows)

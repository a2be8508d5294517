"""Many elements into one: sums, maxima, running sums, sorting.

The order in which a sum is taken is NumPy's, not that of any GPU's threads: floats
agree to rounding.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .formats import rounded
from .functions import _wide
from .machine import batch, error
from .shapes import _axis, expand_dims
from .tile import Tile, as_tile, cast, known, spread
from .types import DType, float32, int32, uint32
from .work import one

Combine = Callable[..., Any]


def _along(x: Tile, axis: Any) -> tuple[Tile, int, bool]:
    """The tile, the axis of its data, and whether all axes were meant."""
    if axis is None:
        flat = x.data.reshape(len(x.data), -1)
        return Tile(flat, x.dtype, x.op), 1, True
    return x, _axis(axis, len(x.shape)) + 1, False


def _kept(data: Any, x: Tile, axis: int, everything: bool, keep: Any) -> Any:
    if not keep:
        return data
    if everything:
        return data.reshape(-1, *(1 for _ in x.shape))
    return np.expand_dims(data, axis)


def _note(x: Tile, data: Any, kind: str, along: int) -> int:
    bits, detail = x.dtype.bits, (x.shape, along - 1, data[0].size)
    return batch().note(kind, x.numel, bits, (x.op,), detail=detail)


def _reduced(x: Tile, axis: Any, keep: Any, how: Callable[[Any, int], Any]) -> Tile:
    """One number along an axis, recorded."""
    if not x.shape:
        raise error("a reduction of a single value: a tile with an axis is needed")
    inner, at, everything = _along(x, axis)
    with np.errstate(all="ignore"):
        data = how(inner.data, at)
        if isinstance(x.dtype, DType):
            data = rounded(np.asarray(data), x.dtype)
    op = _note(inner, data, "reduce", at)
    return Tile(_kept(data, x, at, everything, keep), x.dtype, op)


def _summed(x: Tile, dtype: Any) -> Tile:
    """Whole numbers of less than 32 bits are added up in 32."""
    if dtype is not None:
        return cast(x, dtype)
    if x.dtype.is_int() and x.dtype.bits < 32:
        signed = isinstance(x.dtype, DType) and x.dtype.is_int_signed()
        return cast(x, int32 if signed else uint32)
    return x


def sum_(
    input: Any, axis: Any = None, keep_dims: Any = False, dtype: Any = None
) -> Tile:
    """The sum along an axis, or of all elements."""
    x = _summed(as_tile(input), dtype)
    return _reduced(x, axis, keep_dims, lambda a, at: a.sum(axis=at, dtype=a.dtype))


def _of_bits(word: str, how: Any) -> Callable[..., Tile]:
    def function(input: Any, axis: Any = None, keep_dims: Any = False) -> Tile:
        x = as_tile(input)
        if not x.dtype.is_int():
            raise error(f"tl.{word} of {x.dtype}: whole numbers are needed")
        return _reduced(x, axis, keep_dims, lambda a, at: how.reduce(a, axis=at))

    function.__name__ = word
    function.__doc__ = f"{how.__name__} along an axis, or of all elements."
    return function


xor_sum = _of_bits("xor_sum", np.bitwise_xor)
reduce_or = _of_bits("reduce_or", np.bitwise_or)


def _least32(input: Any) -> Tile:
    x = _wide(as_tile(input))
    if x.dtype.bits >= 32:
        return x
    return cast(x, float32 if x.dtype.is_floating() else int32)


def _extreme(word: str, ufunc: Any, place: Any) -> tuple[Combine, Combine]:
    """``max`` and ``argmax``, or ``min`` and ``argmin``."""
    worst = -np.inf if word == "max" else np.inf

    def best(
        input: Any,
        axis: Any = None,
        return_indices: Any = False,
        return_indices_tie_break_left: Any = True,
        keep_dims: Any = False,
    ) -> Any:
        if return_indices:
            x = _wide(as_tile(input))
            where = at(x, axis, return_indices_tie_break_left, keep_dims)
            value = _reduced(x, axis, keep_dims, lambda a, n: ufunc.reduce(a, axis=n))
            return value, where
        x = _least32(input)
        return _reduced(x, axis, keep_dims, lambda a, n: ufunc.reduce(a, axis=n))

    def at(
        input: Any, axis: Any, tie_break_left: Any = True, keep_dims: Any = False
    ) -> Tile:
        def first(a: Any, n: int) -> Any:
            safe = np.where(np.isnan(a), worst, a) if a.dtype.kind == "f" else a
            return place(safe, axis=n).astype(np.int32)

        x = as_tile(input)
        inner, along, everything = _along(x, axis)
        data = first(inner.data, along)
        op = _note(inner, data, "reduce", along)
        return Tile(_kept(data, x, along, everything, keep_dims), int32, op)

    best.__name__, at.__name__ = word, f"arg{word}"
    best.__doc__ = f"The {word} along an axis or of all; a number wins over NaN."
    at.__doc__ = f"Where along an axis the {word} is, the first of equals."
    return best, at


max_, argmax = _extreme("max", np.fmax, np.argmax)
min_, argmin = _extreme("min", np.fmin, np.argmin)


def _several(input: Any) -> tuple[tuple[Tile, ...], bool]:
    many = isinstance(input, tuple | list)
    return tuple(as_tile(x) for x in (input if many else (input,))), many


def _asked(combine: Combine, left: list[Tile], right: list[Tile]) -> list[Tile]:
    """What a combining function makes of two groups."""
    made = combine(*left, *right)
    made = made if isinstance(made, tuple | list) else (made,)
    return [cast(as_tile(m), x.dtype) for m, x in zip(made, left, strict=True)]  # type: ignore[arg-type]


def _part(tiles: list[Tile], at: int, take: slice) -> list[Tile]:
    index = (slice(None),) * at + (take,)
    return [Tile(t.data[index], t.dtype, t.op) for t in tiles]


def reduce(input: Any, axis: Any, combine_fn: Combine, keep_dims: Any = False) -> Any:
    """Elements along an axis joined, neighbours first, by a function of two."""
    given, many = _several(input)
    parts = [_along(x, axis) for x in given]
    left, at = [p[0] for p in parts], parts[0][1]
    while left[0].data.shape[at] > 1:
        evens = _part(left, at, slice(0, None, 2))
        left = _asked(combine_fn, evens, _part(left, at, slice(1, None, 2)))
    done = [
        Tile(_kept(t.data.squeeze(at), x, at, p[2], keep_dims), t.dtype, t.op)
        for t, x, p in zip(left, given, parts, strict=True)
    ]
    return tuple(done) if many else done[0]


def associative_scan(
    input: Any, axis: Any, combine_fn: Combine, reverse: Any = False
) -> Any:
    """Running results along an axis of a function of two, in ladder steps."""
    given, many = _several(input)
    at = _axis(axis, len(given[0].shape)) + 1
    turn = (slice(None),) * at + (slice(None, None, -1),)
    back = bool(reverse)
    run = [Tile(t.data[turn] if back else t.data, t.dtype, t.op) for t in given]
    step, length = 1, run[0].data.shape[at]
    while step < length:
        late = _part(run, at, slice(step, None))
        joined = _asked(combine_fn, _part(run, at, slice(0, length - step)), late)
        run = [
            Tile(_behind(old.data, new.data, at, step), old.dtype, new.op)
            for old, new in zip(run, joined, strict=True)
        ]
        step *= 2
    run = [Tile(t.data[turn] if back else t.data, t.dtype, t.op) for t in run]
    return tuple(run) if many else run[0]


def _behind(old: Any, new: Any, at: int, step: int) -> Any:
    """The first ``step`` of the old along an axis, then the new."""
    lead = max(len(old), len(new))
    head = old[(slice(None),) * at + (slice(0, step),)]
    parts = (np.broadcast_to(x, (lead, *x.shape[1:])) for x in (head, new))
    return np.concatenate(tuple(parts), axis=at)


def _running(x: Tile, axis: Any, reverse: Any, ufunc: Any) -> Tile:
    at = _axis(axis, len(x.shape)) + 1
    turn = (slice(None),) * at + (slice(None, None, -1),)
    data = x.data[turn] if reverse else x.data
    with np.errstate(all="ignore"):
        data = rounded(ufunc.accumulate(data, axis=at), x.dtype)  # type: ignore[arg-type]
    data = data[turn] if reverse else data
    return Tile(data, x.dtype, _note(x, data, "scan", at))


def cumsum(input: Any, axis: Any = 0, reverse: Any = False, dtype: Any = None) -> Tile:
    """Running sums along an axis."""
    return _running(_summed(_wide(as_tile(input)), dtype), axis, reverse, np.add)


def cumprod(input: Any, axis: Any = 0, reverse: Any = False) -> Tile:
    """Running products along an axis."""
    return _running(_wide(as_tile(input)), axis, reverse, np.multiply)


def softmax(x: Any, dim: Any = None, keep_dims: Any = False) -> Tile:
    """Exponentials over their sum along an axis, the first by default.

    Along another axis than the first ``keep_dims`` is needed, as in Triton.
    """
    from .arithmetic import divide, subtract
    from .functions import exp

    tile = as_tile(x)
    axis = 0 if dim is None else dim
    powers = exp(subtract(tile, max_(tile, axis, keep_dims=keep_dims)))
    return divide(powers, sum_(powers, axis, keep_dims=keep_dims))


def sort(x: Any, dim: Any = None, descending: Any = False) -> Tile:
    """Elements in order along the last axis."""
    tile = as_tile(x)
    last = len(tile.shape) - 1
    if dim is not None and _axis(dim, last + 1) != last:
        raise error(f"tl.sort along axis {dim!r}: only the last is sorted")
    data = np.sort(tile.data, axis=-1)
    data = data[..., ::-1] if descending else data
    return Tile(data, tile.dtype, _note(tile, data, "sort", last + 1))


def topk(x: Any, k: Any, dim: Any = None) -> Tile:
    """The largest elements along the last axis, in falling order."""
    ordered = sort(x, dim, descending=True)
    most = known(k, "k of tl.topk")
    if most & (most - 1) or not 1 <= most <= ordered.shape[-1]:
        raise error(f"tl.topk of {most}: a power of two up to {ordered.shape[-1]}")
    return Tile(ordered.data[..., :most], ordered.dtype, ordered.op)


def histogram(input: Any, num_bins: Any, mask: Any = None) -> Tile:
    """How many elements have each value below ``num_bins``."""
    x, bins = as_tile(input), known(num_bins, "tl.histogram's bins")
    if len(x.shape) != 1 or not x.dtype.is_int():
        raise error(f"tl.histogram of {x!r}: one axis of whole numbers is needed")
    counts = expand_dims(spread(x, x.shape), 1).data == np.arange(bins)
    if mask is not None:
        counts = counts & expand_dims(spread(as_tile(mask), x.shape), 1).data
    data = counts.sum(axis=1, dtype=np.int32)
    return Tile(data, int32, _note(x, data, "reduce", 1))


def gather(src: Any, index: Any, axis: Any) -> Tile:
    """Elements taken along an axis by their numbers."""
    x, at = as_tile(src), as_tile(index)
    along = _axis(axis, len(x.shape)) + 1
    if len(x.shape) != len(at.shape) or not at.dtype.is_int():
        raise error(f"tl.gather of {x!r} by {at!r}: as many axes, and whole numbers")
    if ((at.data < 0) | (at.data >= x.data.shape[along])).any():
        raise error(f"tl.gather reaches outside the {x.data.shape[along]} elements")
    lead = max(len(x.data), len(at.data))
    both = [np.broadcast_to(t.data, (lead, *t.shape)) for t in (x, at)]
    data = np.take_along_axis(both[0], both[1].astype(np.int64), along)
    work = one("shuffle")
    op = batch().note("shuffle", at.numel, x.dtype.bits, (x.op, at.op), work)
    return Tile(data, x.dtype, op)

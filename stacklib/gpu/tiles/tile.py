"""A tile: a block of values of every program that runs.

Its data have one axis more than its shape says, in front: the programs, or 1 where all
programs have the same values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .formats import converted, rounded
from .machine import batch, choose, count, error
from .types import Block, DType, Pointer, Type, of_number
from .work import Work, one

MOST_ELEMENTS = 1 << 20  # of a tile: Triton refuses more


class constexpr:
    """Annotation of what is known before the program runs; called, it gives that."""

    def __new__(cls, value: Any) -> Any:
        return value


class Tile:
    """A block of values; ``shape`` is () for a single one."""

    __slots__ = ("data", "dtype", "home", "known", "op")
    __hash__ = None  # type: ignore[assignment]

    def __init__(
        self, data: Any, dtype: Type, op: int = -1, home: Any = None, known: Any = None
    ) -> None:
        self.data, self.dtype, self.op = data, dtype, op
        self.home = home  # the array that a pointer was made from
        self.known = known  # the number it has in every program, given by keyword

    @property
    def shape(self) -> tuple[int, ...]:
        """Sizes of a program's block."""
        return tuple(self.data.shape[1:])

    @property
    def numel(self) -> int:
        """Elements of a program's block."""
        return count(self.shape)

    @property
    def type(self) -> Block | Type:
        """Type of the elements, with the shape where it is a block."""
        return Block(self.dtype, self.shape) if self.shape else self.dtype

    def __repr__(self) -> str:
        return f"{self.dtype}{list(self.shape)}"

    def __bool__(self) -> bool:
        if self.shape:
            raise error(
                f"the truth of a tile of shape {self.shape}: a condition takes one "
                "value; tl.max or tl.sum make one of many, tl.where chooses by element"
            )
        batch().decide(self.op)
        return bool(choose(self.data != 0))

    def __index__(self) -> int:
        if self.shape or not self.dtype.is_int():
            raise error(f"{self!r} as a number of turns or a place: one whole number")
        return int(choose(self.data))

    def __iter__(self) -> Any:
        raise error("a tile's elements cannot be gone through one by one")


def wrap(value: Any, shape: tuple[int, ...], dtype: DType) -> Tile:
    """A tile that holds one number everywhere, the same in all programs."""
    data = rounded(np.full((1, *shape), value).astype(_safe(dtype)), dtype)
    return Tile(data, dtype)


def _safe(dtype: DType) -> Any:
    """NumPy's type through which a Python number gets into a type."""
    return np.float64 if dtype.form else dtype.held


def plain(x: Any) -> bool:
    """Whether it is a plain Python (or NumPy) number."""
    return isinstance(x, bool | int | float | np.number | np.bool_)


def pythonic(x: Any) -> Any:
    """A NumPy number as Python's own."""
    return x.item() if isinstance(x, np.generic) else x


def as_tile(x: Any, dtype: DType | None = None) -> Tile:
    """A tile as it is, a number as a tile of one value."""
    x = pythonic(x)
    if isinstance(x, Tile):
        return x
    if not plain(x):
        raise error(f"{x!r}, a {type(x).__name__}, where a tile or a number is needed")
    return wrap(x, (), dtype or of_number(x))


def known(x: Any, what: str) -> int:
    """A whole number that must be known before the program runs."""
    x = pythonic(x)
    x = x.known if isinstance(x, Tile) and x.known is not None else x
    if isinstance(x, Tile):
        raise error(
            f"{what} is {x!r}, known only while the program runs: make it a "
            "tl.constexpr parameter, or write `name: tl.constexpr = ...`"
        )
    if isinstance(x, bool) or not isinstance(x, int):
        raise error(f"{what} is {x!r}: a whole number is needed")
    return x


def sizes(shape: Any, what: str = "a shape") -> tuple[int, ...]:
    """A tile's shape: powers of two."""
    given = shape if isinstance(shape, list | tuple) else (shape,)
    found = tuple(known(n, f"a size of {what}") for n in given)
    for n in found:
        if n < 1 or n & (n - 1):
            up = 1 << max(0, n - 1).bit_length()
            raise error(
                f"{what} of {list(found)}: {n} is no power of two; take {up} and mask "
                "what is too much"
            )
    if count(found) > MOST_ELEMENTS:
        raise error(f"{what} of {list(found)}: a tile has at most {MOST_ELEMENTS:,}")
    return found


def align(*tiles: Tile) -> list[Any]:
    """Data of tiles, with as many axes each."""
    most = max(t.data.ndim for t in tiles)
    return [
        t.data.reshape(t.data.shape[:1] + (1,) * (most - t.data.ndim) + t.shape)
        for t in tiles
    ]


def meeting(*tiles: Tile) -> tuple[int, ...]:
    """The shape that tiles meet at: sizes that differ must be 1."""
    most = max(len(t.shape) for t in tiles)
    padded = [(1,) * (most - len(t.shape)) + t.shape for t in tiles]
    met = []
    for at, lengths in enumerate(zip(*padded, strict=True)):
        real = {n for n in lengths if n != 1}
        if len(real) > 1:
            shapes = " and ".join(str(list(t.shape)) for t in tiles)
            raise error(f"tiles of {shapes} do not fit: axis {at} differs")
        met.append(real.pop() if real else 1)
    return tuple(met)


def each(
    kind: str,
    how: Callable[..., Any],
    dtype: Type,
    *tiles: Tile,
    work: Work = (),
    home: Any = None,
) -> Tile:
    """An operation on every element, recorded. ``dtype``: that of the result."""
    shape = meeting(*tiles)
    with np.errstate(all="ignore"):
        found = how(*align(*tiles))
        if isinstance(dtype, DType):
            found = rounded(found, dtype)
    now = batch()
    needs = tuple(t.op for t in tiles)
    bits, detail = dtype.bits, None
    if isinstance(dtype, Pointer):  # one address for the 16 bytes a thread loads
        bits, detail = 4 * dtype.element_ty.itemsize, "address"
    op = now.note(kind, count(shape), bits, needs, work or one(kind), detail=detail)
    return Tile(found, dtype, op, home)


def cast(x: Tile, dtype: DType) -> Tile:
    """A tile's values in another type."""
    if x.dtype is dtype:
        return x
    if not isinstance(x.dtype, DType):
        raise error(f"a {x.dtype} as {dtype}: only whole numbers of 64 bits hold it")
    source = x.dtype
    free = source.is_int() and dtype.is_int() and dtype.bits <= source.bits
    kind = "free" if free else "convert"
    packed = one(kind, 0.5 if dtype.is_floating() and dtype.bits < 32 else 1)
    return each(kind, lambda a: converted(a, source, dtype), dtype, x, work=packed)


def spread(x: Tile, shape: tuple[int, ...]) -> Tile:
    """A tile of another shape, sizes of 1 repeated."""
    if x.shape == shape:
        return x
    if len(x.shape) > len(shape):
        raise error(f"a tile of {list(x.shape)} in the shape {list(shape)}")
    (data,) = align(Tile(x.data.reshape(_padded(x, shape)), x.dtype))
    try:
        wide = np.broadcast_to(data, (x.data.shape[0], *shape))
    except ValueError:
        raise error(f"a tile of {list(x.shape)} in the shape {list(shape)}") from None
    return Tile(wide, x.dtype, x.op, x.home)


def _padded(x: Tile, shape: Sequence[int]) -> tuple[int, ...]:
    return x.data.shape[:1] + (1,) * (len(shape) - len(x.shape)) + x.shape

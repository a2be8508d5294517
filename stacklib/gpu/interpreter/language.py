"""Triton's functions on tiles of plain numbers."""

from __future__ import annotations

import builtins
import math
import operator
from collections.abc import Callable
from typing import Any

from .launch import name_of, now, places_of, within
from .tile import FLOAT, INT, Tile, each, meeting, spread

float32, int32 = FLOAT, INT
KEYS, FACTORS, ROUNDS = (0x9E3779B9, 0xBB67AE85), (0xD2511F53, 0xCD9E8D57), 10
WORD = 0xFFFFFFFF


def program_id(axis: int) -> int:
    """Place of this program along an axis of the grid."""
    return now().place[axis] if axis < len(now().grid) else 0


def num_programs(axis: int) -> int:
    """Programs along an axis of the grid."""
    return now().grid[axis] if axis < len(now().grid) else 1


def cdiv(a: int, b: int) -> int:
    """``a / b``, rounded up."""
    return -(-a // b)


# -- tiles -------------------------------------------------------------------------


def arange(start: int, end: int) -> Tile:
    """Whole numbers from ``start`` up to ``end``, a power of two of them."""
    return Tile(_sides([end - start]), range(start, end))


def full(shape: Any, value: Any, dtype: str) -> Tile:
    """One number everywhere."""
    sides = _sides(shape)
    return Tile(sides, [value] * math.prod(sides))


def zeros(shape: Any, dtype: str) -> Tile:
    """Zero everywhere."""
    return full(shape, 0 if dtype == INT else 0.0, dtype)


def _sides(shape: Any) -> tuple[int, ...]:
    for n in shape:
        if type(n) is not int or n < 1 or n & (n - 1):
            raise ValueError(f"a tile of {list(shape)}: {n!r} is no power of two")
    return tuple(shape)


def trans(x: Tile) -> Tile:
    """A matrix with its axes exchanged."""
    rows, columns = x.shape
    return Tile(
        (columns, rows), [v for j in range(columns) for v in x.data[j::columns]]
    )


def where(condition: Any, a: Any, b: Any) -> Any:
    """``a`` where the condition holds, else ``b``."""
    return each(lambda c, x, y: x if c else y, condition, a, b)


def maximum(a: Any, b: Any) -> Any:
    """The larger, element by element."""
    return each(builtins.max, a, b)


def minimum(a: Any, b: Any) -> Any:
    """The smaller, element by element."""
    return each(builtins.min, a, b)


def exp(x: Any) -> Any:
    """e to the power of each element."""
    now().counts.exponentials += len(x.data) if isinstance(x, Tile) else 1
    return each(_exp, x)


def log(x: Any) -> Any:
    """Natural logarithm of each element."""
    return each(lambda v: math.log(v) if v > 0 else -math.inf, x)


def rsqrt(x: Any) -> Any:
    """One over the square root."""
    return each(lambda v: 1 / math.sqrt(v), x)


def _exp(x: float) -> float:
    try:
        return math.exp(x)
    except OverflowError:
        return math.inf


# -- many to one --------------------------------------------------------------------


def sum(x: Tile, axis: int) -> Any:
    """Sums along an axis."""
    return _along(x, axis, math.fsum)


def max(x: Tile, axis: int) -> Any:
    """The largest along an axis."""
    return _along(x, axis, builtins.max)


def argmax(x: Tile, axis: int) -> Any:
    """Place of the largest along an axis, the first if several are."""
    return _along(x, axis, lambda row: row.index(builtins.max(row)))


def _along(x: Tile, axis: int, how: Callable[[list[Any]], Any]) -> Any:
    if not 0 <= axis < len(x.shape):
        raise ValueError(f"axis = {axis!r} of a tile {list(x.shape)}")
    if len(x.shape) == 1:
        return how(list(x.data))
    rows, columns = x.shape
    if axis == 0:
        return Tile((columns,), [how(list(x.data[j::columns])) for j in range(columns)])
    starts = range(0, rows * columns, columns)
    return Tile((rows,), [how(list(x.data[i : i + columns])) for i in starts])


def dot(a: Tile, b: Tile, acc: Tile | None = None) -> Tile:
    """``acc + a @ b`` of two matrices."""
    (rows, deep), (too, columns) = a.shape, b.shape
    if deep != too:
        raise ValueError(f"tl.dot of {list(a.shape)} and {list(b.shape)}")
    across = [b.data[j::columns] for j in range(columns)]
    found = []
    for i in range(0, rows * deep, deep):
        row = a.data[i : i + deep]
        found += [builtins.sum(map(operator.mul, row, column)) for column in across]
    now().counts.multiply_adds += rows * deep * columns
    made = Tile((rows, columns), found)
    return made if acc is None else acc + made  # type: ignore[operator]


# -- memory -----------------------------------------------------------------------


def load(pointer: Any, mask: Any = True, other: Any = 0) -> Any:
    """Numbers at addresses; ``other`` where the mask leaves one out."""
    array, places = places_of(pointer, "load")
    taken = []

    def one(place: int, wanted: bool, rest: Any) -> Any:
        if not wanted:
            return rest
        found = array.values[within(array, place, "load")]
        if found is None:
            raise ValueError(f"tl.load: element {place:,} of {name_of(array)} is unset")
        taken.append(place)
        return found

    shape = _shape(places, mask)
    given = (places, mask, other)
    data = list(map(one, *(spread(x, shape) for x in given)))
    now().counts.read[name_of(array)] += array.size * len(taken)
    return Tile(shape, data) if shape else data[0]


def store(pointer: Any, value: Any, mask: Any = True) -> None:
    """Write numbers to addresses, but where the mask leaves one out."""
    array, places = places_of(pointer, "store")
    shape = _shape(places, mask, value)
    for place, new, wanted in zip(
        *(spread(x, shape) for x in (places, value, mask)), strict=True
    ):
        if wanted:
            array.values[within(array, place, "store")] = array.rounded(new)
            now().counts.written[name_of(array)] += array.size


def _shape(*given: Any) -> tuple[int, ...]:
    shapes = [x.shape for x in given if isinstance(x, Tile)]
    return meeting(*shapes) if shapes else ()


# -- random numbers -----------------------------------------------------------------


def rand(seed: int, offset: Any) -> Any:
    """A number from 0 up to 1 for each offset: Philox, Triton's to the last bit."""
    return each(lambda at: _uniform(_philox(seed, at)), offset)


def _philox(seed: int, counter: int) -> int:
    a, b, c, d = counter & WORD, 0, 0, 0
    k0, k1 = seed & WORD, seed >> 32 & WORD
    for _ in range(ROUNDS):
        of_a, of_c = divmod(FACTORS[0] * a, 1 << 32), divmod(FACTORS[1] * c, 1 << 32)
        a, b, c, d = of_c[0] ^ b ^ k0, of_c[1], of_a[0] ^ d ^ k1, of_a[1]
        k0, k1 = k0 + KEYS[0] & WORD, k1 + KEYS[1] & WORD
    return a


def _uniform(word: int) -> float:
    signed = word - (1 << 32) if word >> 31 else word
    return (-signed - 1 if signed < 0 else signed) * 4.6566127342e-10

"""A tile of a program: its shape and its values, row by row."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import cache
from math import prod
from typing import Any

Shape = tuple[int, ...]


class Tile:
    """A block of numbers; a single one is a plain Python number instead."""

    __slots__ = ("data", "shape")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, shape: Shape, data: Sequence[Any]) -> None:
        self.shape, self.data = shape, data

    def __bool__(self) -> bool:
        raise ValueError(f"the truth of a tile {list(self.shape)}: tl.where chooses")

    def __getitem__(self, places: Any) -> Tile:
        """``[:, None]`` and its like: axes of size one."""
        left, shape = list(self.shape), []
        for place in places if isinstance(places, tuple) else (places,):
            if place is not None and place != slice(None):
                raise ValueError(f"tile[{place!r}]: only `:` and None pick of a tile")
            shape.append(1 if place is None else left.pop(0))
        return Tile((*shape, *left), self.data)

    def to(self, dtype: str) -> Tile:
        """The same numbers, without fractions if int32."""
        return Tile(self.shape, [int(x) for x in self.data]) if dtype == INT else self


FLOAT, INT = "fp32", "int32"
TWO = "add sub mul truediv floordiv mod pow lt le gt ge eq ne and_ or_ xor"


def _invert(x: Any) -> Any:
    return not x if isinstance(x, bool) else ~x


def _attach() -> None:
    for word in TWO.split():
        how, name = getattr(operator, word), word.strip("_")
        setattr(Tile, f"__{name}__", lambda a, b, how=how: each(how, a, b))
        setattr(Tile, f"__r{name}__", lambda a, b, how=how: each(how, b, a))
    for name, how in (("neg", operator.neg), ("invert", _invert)):
        setattr(Tile, f"__{name}__", lambda a, how=how: each(how, a))


def each(how: Callable[..., Any], *given: Any) -> Any:
    """Element by element, sizes of one spread over the others."""
    shapes = [x.shape for x in given if isinstance(x, Tile)]
    if not shapes:
        return how(*given)
    shape = meeting(*shapes)
    return Tile(shape, list(map(how, *(spread(x, shape) for x in given))))


def meeting(*shapes: Shape) -> Shape:
    """The shape that shapes meet at: sizes that differ must be one."""
    most = max(map(len, shapes))
    padded = [(1,) * (most - len(shape)) + shape for shape in shapes]
    found = tuple(max(sizes) for sizes in zip(*padded, strict=True))
    for shape in padded:
        if any(n not in (1, m) for n, m in zip(shape, found, strict=True)):
            said = " and ".join(str(list(s)) for s in shapes)
            raise ValueError(f"tiles of {said} do not meet: sizes are equal, or one")
    return found


def spread(x: Any, shape: Shape) -> Sequence[Any]:
    """The values of a tile, or of a number, at each place of a shape."""
    if not isinstance(x, Tile):
        return [x] * prod(shape)
    if x.shape == shape:
        return x.data
    return [x.data[i] for i in _places(x.shape, meeting(x.shape, shape))]


@cache
def _places(small: Shape, large: Shape) -> list[int]:
    """For each place of the large shape, the one of the small that it shows."""
    small = (1,) * (len(large) - len(small)) + small
    places, step = [0], prod(small)
    for have, want in zip(small, large, strict=True):
        step //= have
        places = [
            p + (i * step if have > 1 else 0) for p in places for i in range(want)
        ]
    return places


_attach()

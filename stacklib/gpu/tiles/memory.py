"""Arrays in global memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from .formats import decoded
from .races import Order, Races
from .traffic import Tally
from .types import DType

ALIGNMENT = 256  # of every array, as cudaMalloc gives


class Array:
    """An argument that programs see as a pointer."""

    def __init__(
        self, name: str, values: Any, dtype: DType, base: int, written: bool
    ) -> None:
        self.name, self.dtype, self.base = name, dtype, base
        self.values = values  # as stored: codes where NumPy has no type
        self.flat = values.transpose(by_stride(values)).reshape(-1)  # as they lie
        self.written: Any = None if written else np.zeros(self.flat.size, bool)
        self.races: Races | None = None

    @property
    def end(self) -> int:
        """The address behind its last byte."""
        return self.base + self.flat.nbytes

    def result(self) -> Any:
        """Its values, in its shape."""
        return decoded(self.values, self.dtype)


def by_stride(values: Any) -> tuple[int, ...]:
    """Axes of an array, those with the farthest neighbours first."""
    axes = range(values.ndim)
    return tuple(sorted(axes, key=lambda axis: -values.strides[axis]))


def in_one_piece(values: Any) -> bool:
    """Whether elements lie side by side, in whatever order of axes."""
    return bool(values.transpose(by_stride(values)).flags.c_contiguous)


class Memory:
    """Global memory of a launch."""

    def __init__(self, check: bool) -> None:
        self.check = check
        self.arrays: list[Array] = []
        self.order = Order()
        self.tally = Tally()
        self.base = ALIGNMENT

    def place(self, name: str, values: Any, dtype: DType, written: bool) -> Array:
        """Put an array behind those there are."""
        made = Array(name, values, dtype, self.base, written)
        if self.check:
            made.races = Races(made.flat.size, self.order)
        self.base = -(-(made.end + 1) // ALIGNMENT) * ALIGNMENT
        self.arrays.append(made)
        return made

    def home(self, address: int) -> Array | None:
        """The array an address lies in."""
        inside = (a for a in self.arrays if a.base <= address < a.end)
        return next(inside, None)

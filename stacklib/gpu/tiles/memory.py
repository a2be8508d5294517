"""Arrays in global memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from .races import Order, Races
from .traffic import Tally
from .types import DType

ALIGNMENT = 256  # of every array, as cudaMalloc gives


class Array:
    """Memory that arguments lie in, which programs see as pointers."""

    def __init__(
        self, name: str, flat: Any, dtype: DType, base: int, written: bool
    ) -> None:
        self.name, self.dtype, self.base = name, dtype, base
        self.flat = flat  # as stored: codes where NumPy has no type
        self.written: Any = None if written else np.zeros(flat.size, bool)
        self.races: Races | None = None

    @property
    def end(self) -> int:
        """The address behind its last byte."""
        return self.base + self.flat.nbytes


class Memory:
    """Global memory of a launch."""

    def __init__(self, check: bool) -> None:
        self.check = check
        self.arrays: list[Array] = []
        self.order = Order()
        self.tally = Tally()
        self.base = ALIGNMENT

    def place(
        self, name: str, flat: Any, dtype: DType, written: bool, offset: int = 0
    ) -> Array:
        """Put memory behind what there is. ``offset``: bytes into its allocation."""
        made = Array(name, flat, dtype, self.base + offset % ALIGNMENT, written)
        if self.check:
            made.races = Races(made.flat.size, self.order)
        self.base = -(-(made.end + 1) // ALIGNMENT) * ALIGNMENT
        self.arrays.append(made)
        return made

    def home(self, address: int) -> Array | None:
        """The array an address lies in."""
        inside = (a for a in self.arrays if a.base <= address < a.end)
        return next(inside, None)

"""What a kernel sees: who it is, shared memory, barriers, shuffles, atomics.

The first parameter of every kernel is a ``Thread``. Its names are CUDA's in small
letters: ``thread.x`` is ``threadIdx.x``, ``sync()`` is ``__syncthreads()``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .arrays import DeviceArray, layout
from .hazards import Hazards
from .lanes import Lanes
from .machine import Machine

REDUCTIONS = {"add": np.add, "max": np.maximum, "min": np.minimum}


@dataclass(frozen=True, slots=True)
class Dim:
    """Three numbers, or three values a lane: ``x`` varies fastest."""

    x: Any
    y: Any = 1
    z: Any = 1


def split(number: Any, size: Dim) -> Dim:
    """A linear number as its three coordinates."""
    return Dim(number % size.x, number // size.x % size.y, number // size.x // size.y)


class Thread:
    """The context of a kernel: every member is a value a lane, or acts on lanes."""

    def __init__(
        self, machine: Machine, grid: Dim, block: Dim, shared: SharedMemory
    ) -> None:
        self._machine, self._shared = machine, shared
        self.block_dim, self.grid_dim = block, grid
        every, shape = machine.launched, machine.launched.shape

        def value(numbers: Any) -> Lanes:
            return machine.lanes(np.broadcast_to(numbers, shape), every, weak=True)

        mine, here = split(machine.thread, block), split(machine.block[:, None], grid)
        self.thread = Dim(value(mine.x), value(mine.y), value(mine.z))
        self.block = Dim(value(here.x), value(here.y), value(here.z))
        self.lane = value(machine.thread % 32)
        self.warp = value(machine.thread // 32)

    # -- shared memory and order ---------------------------------------------

    def shared(
        self, shape: int | tuple[int, ...], dtype: Any = np.float32
    ) -> DeviceArray:
        """An array that the threads of a block share; it holds nothing yet."""
        return self._shared.array(self._machine, shape, dtype)

    def sync(self) -> None:
        """A barrier for the block; every thread that has not returned must come."""
        self._machine.barrier()

    def syncwarp(self) -> None:
        """A barrier for the warp."""
        self._machine.barrier(warp_only=True)

    # -- between lanes -------------------------------------------------------

    def shuffle(self, value: Any, source: Any) -> Lanes:
        """The value of lane ``source`` of the same warp."""
        return self._machine.shuffle(value, source)

    def shuffle_down(self, value: Any, delta: Any) -> Lanes:
        """The value of the lane ``delta`` above; its own where there is none."""
        return self._shifted(value, delta)

    def shuffle_up(self, value: Any, delta: Any) -> Lanes:
        """The value of the lane ``delta`` below; its own where there is none."""
        return self._shifted(value, -self._machine.array(delta))

    def _shifted(self, value: Any, delta: Any) -> Lanes:
        source: Any = np.arange(32) + self._machine.array(delta)
        source = np.where((source < 0) | (source > 31), np.arange(32), source)
        return self._machine.shuffle(value, source)

    def shuffle_xor(self, value: Any, bits: Any) -> Lanes:
        """The value of the lane whose number differs in these bits."""
        return self._machine.shuffle(value, np.arange(32) ^ self._machine.array(bits))

    def any(self, test: Any) -> Lanes:
        """Whether the test holds for some active lane of the warp."""
        return self._machine.vote(test, lambda held: held.any(axis=1))

    def all(self, test: Any) -> Lanes:
        """Whether it holds for every active lane of the warp."""
        return self._machine.vote(test, lambda held: held.all(axis=1), True)

    def ballot(self, test: Any) -> Lanes:
        """A bit for each active lane of the warp for which the test holds."""
        bits = 1 << np.arange(32, dtype=np.int64)
        return self._machine.vote(test, lambda held: (held * bits).sum(axis=1))

    # -- atomics -------------------------------------------------------------

    def atomic_add(self, array: DeviceArray, index: Any, value: Any) -> Lanes:
        """Add to an element; what stood there before."""
        return array.atomic(np.add, index, value)

    def atomic_max(self, array: DeviceArray, index: Any, value: Any) -> Lanes:
        """Keep the larger; what stood there before."""
        return array.atomic(np.maximum, index, value)

    def atomic_min(self, array: DeviceArray, index: Any, value: Any) -> Lanes:
        """Keep the smaller; what stood there before."""
        return array.atomic(np.minimum, index, value)

    # -- functions -----------------------------------------------------------

    def exp(self, value: Any) -> Lanes:
        """e to the power of the value."""
        return self._machine.compute(np.exp, "special", value)

    def log(self, value: Any) -> Lanes:
        """Natural logarithm."""
        return self._machine.compute(np.log, "special", value)

    def sqrt(self, value: Any) -> Lanes:
        """Square root."""
        return self._machine.compute(np.sqrt, "special", value)

    def min(self, first: Any, other: Any) -> Lanes:
        """The smaller of two."""
        return self._machine.compute(np.minimum, "arithmetic", first, other)

    def max(self, first: Any, other: Any) -> Lanes:
        """The larger of two."""
        return self._machine.compute(np.maximum, "arithmetic", first, other)

    def popcount(self, value: Any) -> Lanes:
        """Bits that are set."""
        return self._machine.compute(np.bitwise_count, "arithmetic", value)

    def to(self, dtype: Any, value: Any) -> Lanes:
        """The value in another format, rounded or cut as NumPy does."""
        kind = np.dtype(dtype)
        convert: Callable[[Any], Any] = lambda v: np.asarray(v).astype(kind)  # noqa: E731
        made = self._machine.compute(convert, "arithmetic", value)
        made.weak = False
        return made


class SharedMemory:
    """Shared memory of the blocks of a batch: arrays one behind the other.

    ``limit``: bytes a block may have.
    """

    def __init__(self, limit: int, check: bool) -> None:
        self.limit, self.check = limit, check
        self.used = 0
        self.made = 0

    def array(
        self, machine: Machine, shape: int | tuple[int, ...], dtype: Any
    ) -> DeviceArray:
        """The next array; see `Thread.shared`."""
        if not machine.full:
            raise machine.error("shared memory is declared by all threads together")
        try:
            sizes, kind = layout(shape, dtype)
        except (TypeError, ValueError) as wrong:
            raise machine.error(f"shared({shape!r}): {wrong}") from None
        base = -(-self.used // 16) * 16
        size = math.prod(sizes)
        self.used = base + size * kind.itemsize
        if self.used > self.limit:
            raise machine.error(
                f"a block declares {self.used:,} B of shared memory; it may have "
                f"{self.limit:,} B"
            )
        blocks = machine.warps // machine.warps_of_block
        values = np.zeros((blocks, *sizes), kind)
        self.made += 1
        hazards = Hazards(blocks * size, False, machine.threads) if self.check else None
        array = DeviceArray(
            f"shared array {self.made}", "shared", values, base, hazards
        )
        return array.bind(machine)

"""The obvious slow way to run a kernel: each of its threads is a thread of Python.

The kernel is called as it was written, with plain numbers in place of lanes, and the
barriers are Python's own. Nothing is counted. `launch` must leave the same arrays.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

SECONDS = 20  # a barrier waits for the others, before it is taken to hang


class _Shared:
    """Shared arrays of one block, each made by whichever thread comes first."""

    def __init__(self) -> None:
        self.arrays: dict[int, Any] = {}
        self.lock = threading.Lock()

    def get(self, number: int, shape: Any, dtype: Any) -> Any:
        with self.lock:
            if number not in self.arrays:
                self.arrays[number] = np.zeros(shape, dtype)
            return self.arrays[number]


class OneThread:
    """What the kernel sees in place of a `Thread`: the same names, single numbers."""

    exp, log, sqrt = (staticmethod(f) for f in (math.exp, math.log, math.sqrt))
    sin, cos, tanh = (staticmethod(f) for f in (math.sin, math.cos, math.tanh))
    exp2, log2 = (staticmethod(f) for f in (np.exp2, np.log2))
    min, max = staticmethod(min), staticmethod(max)

    def __init__(
        self, grid: Any, block: Any, at: Any, here: Any, barrier: Any, shared: _Shared
    ) -> None:
        self.grid_dim, self.block_dim = grid, block
        self.thread, self.block = at, here
        number = at.x + block.x * (at.y + block.y * at.z)
        self.lane, self.warp = number % 32, number // 32
        self._barrier, self._shared, self._declared = barrier, shared, 0

    def sync(self) -> None:
        """Wait for the block."""
        self._barrier.wait(timeout=SECONDS)

    def shared(self, shape: Any, dtype: Any = np.float32) -> Any:
        """The block's next shared array."""
        self._declared += 1
        return self._shared.get(self._declared, shape, np.dtype(dtype))

    @staticmethod
    def local(shape: Any, dtype: Any = np.float32) -> Any:
        """An array of this thread."""
        return np.zeros(shape, np.dtype(dtype))

    @staticmethod
    def to(dtype: Any, value: Any) -> Any:
        """The value in another format."""
        return np.asarray(value).astype(np.dtype(dtype))[()]

    @staticmethod
    def popc(value: Any) -> int:
        """Bits that are set in an int of 32."""
        return (int(value) & 0xFFFFFFFF).bit_count()

    @staticmethod
    def load(array: Any, index: Any, count: int) -> tuple[Any, ...]:
        """Neighbours."""
        *rest, last = index if isinstance(index, tuple) else (index,)
        return tuple(array[(*rest, last + k)] for k in range(count))

    @staticmethod
    def store(array: Any, index: Any, values: Any) -> None:
        """Neighbours."""
        *rest, last = index if isinstance(index, tuple) else (index,)
        for k, value in enumerate(values):
            array[(*rest, last + k)] = value

    def atomic_add(self, array: Any, index: Any, value: Any) -> Any:
        """Add; what stood there before."""
        with self._shared.lock:
            old = array[index]
            array[index] = old + value
        return old


def run_one_by_one(
    kernel: Callable[..., None],
    grid: int | Sequence[int],
    block: int | Sequence[int],
    *args: Any,
) -> None:
    """Run a kernel block by block; the arrays are changed in place."""
    blocks, threads = _sizes(grid), _sizes(block)
    waits = "sync" in kernel.__code__.co_names
    for here in _places(blocks):
        shared, all_of_it = _Shared(), list(_places(threads))
        barrier = threading.Barrier(len(all_of_it)) if waits else None
        contexts = [
            OneThread(blocks, threads, at, here, barrier, shared) for at in all_of_it
        ]
        if not waits:
            for context in contexts:
                kernel(context, *args)
            continue
        running = [threading.Thread(target=kernel, args=(c, *args)) for c in contexts]
        for thread in running:
            thread.start()
        for thread in running:
            thread.join()


def _sizes(size: int | Sequence[int]) -> Any:
    given = [size] if isinstance(size, int) else list(size)
    x, y, z = (*given, 1, 1)[:3]
    return SimpleNamespace(x=x, y=y, z=z)


def _places(size: Any) -> Iterator[Any]:
    for z in range(size.z):
        for y in range(size.y):
            for x in range(size.x):
                yield SimpleNamespace(x=x, y=y, z=z)

"""The obvious slow way to run a kernel: each of its threads is a thread of Python.

The kernel is called as it was written, with plain numbers in place of lanes, and the
barriers are Python's own. Nothing is counted. `launch` must leave the same arrays.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from types import CodeType, SimpleNamespace
from typing import Any

import numpy as np

from ..vm.formats import find
from .codes import decoded, encoded
from .one_warp import SECONDS, Exchanges, Meeting


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


class OneThread(Exchanges):
    """What the kernel sees in place of a `Thread`: the same names, single numbers."""

    exp, log, sqrt = (staticmethod(f) for f in (math.exp, math.log, math.sqrt))
    sin, cos, tanh = (staticmethod(f) for f in (math.sin, math.cos, math.tanh))
    exp2, log2 = (staticmethod(f) for f in (np.exp2, np.log2))
    min, max = staticmethod(min), staticmethod(max)

    def __init__(
        self,
        grid: Any,
        block: Any,
        at: Any,
        here: Any,
        barrier: Any,
        shared: _Shared,
        meetings: dict[int, Meeting],
        lanes: int,
    ) -> None:
        self.grid_dim, self.block_dim = grid, block
        self.thread, self.block = at, here
        number = at.x + block.x * (at.y + block.y * at.z)
        self.lanes = lanes
        self.lane, self.warp = number % lanes, number // lanes
        self.meeting = meetings[self.warp]
        self._barrier, self._shared, self._declared = barrier, shared, 0

    def sync(self) -> None:
        """Wait for the block."""
        self.meeting.left(for_barrier=True)
        self._barrier.wait(timeout=SECONDS)

    def bar_sync(self, number: int, threads: int) -> None:
        """Wait for the block, all of which is meant."""
        self.sync()

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
        form = find(dtype)
        given = np.asarray(value)
        with np.errstate(over="ignore"):
            if form.dtype.name == form.name:
                return given.astype(form.dtype)[()]
        return decoded(encoded(given.reshape(1), form), form)[0]

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

    def _atomic(self, array: Any, index: Any, new: Callable[[Any], Any]) -> Any:
        with self._shared.lock:
            old = array[index]
            array[index] = new(old)
        return old

    def atomic_add(self, array: Any, index: Any, value: Any) -> Any:
        """Add; what stood there before."""
        return self._atomic(array, index, lambda old: old + value)

    def atomic_sub(self, array: Any, index: Any, value: Any) -> Any:
        """Take from it; what stood there before."""
        return self._atomic(array, index, lambda old: old - value)

    def atomic_max(self, array: Any, index: Any, value: Any) -> Any:
        """Keep the larger; what stood there before."""
        return self._atomic(array, index, lambda old: max(old, value))

    def atomic_min(self, array: Any, index: Any, value: Any) -> Any:
        """Keep the smaller; what stood there before."""
        return self._atomic(array, index, lambda old: min(old, value))

    def atomic_exch(self, array: Any, index: Any, value: Any) -> Any:
        """Put it there; what stood there before."""
        return self._atomic(array, index, lambda old: value)

    def atomic_xor(self, array: Any, index: Any, value: Any) -> Any:
        """Flip bits; what stood there before."""
        return self._atomic(array, index, lambda old: int(old) ^ int(value))

    def atomic_or(self, array: Any, index: Any, value: Any) -> Any:
        """Set bits; what stood there before."""
        return self._atomic(array, index, lambda old: int(old) | int(value))

    def atomic_and(self, array: Any, index: Any, value: Any) -> Any:
        """Keep bits; what stood there before."""
        return self._atomic(array, index, lambda old: int(old) & int(value))

    def atomic_inc(self, array: Any, index: Any, value: Any) -> Any:
        """Count up to the value, read without a sign, then from 0; what stood there."""
        most = int(value) % 2**64
        return self._atomic(array, index, lambda n: (n + 1) * (int(n) % 2**64 < most))

    def atomic_cas(self, array: Any, index: Any, expected: Any, new: Any) -> Any:
        """Put ``new`` where ``expected`` stands; what stood there before."""
        return self._atomic(array, index, lambda old: new if old == expected else old)


MEETINGS = frozenset(
    ["sync", "bar_sync", *(n for n in vars(Exchanges) if not n.startswith("_"))]
)


def run_one_by_one(
    kernel: Callable[..., None],
    grid: int | Sequence[int],
    block: int | Sequence[int],
    *args: Any,
    lanes: int = 32,
) -> None:
    """Run a kernel block by block; the arrays are changed in place.

    ``lanes`` are those of a warp: 64 on AMD's GPUs for computing.
    """
    blocks, threads = _sizes(grid), _sizes(block)
    waits = bool(MEETINGS & _names(kernel))
    for here in _places(blocks):
        shared, all_of_it = _Shared(), list(_places(threads))
        count = len(all_of_it)
        meetings = {
            w: Meeting(min(lanes, count - lanes * w)) for w in range(-(-count // lanes))
        }
        barrier = threading.Barrier(count, partial(_go_on, meetings))
        contexts = [
            OneThread(blocks, threads, at, here, barrier, shared, meetings, lanes)
            for at in all_of_it
        ]
        if waits:
            _together(kernel, contexts, args)
        else:
            for context in contexts:
                kernel(context, *args)


def _names(kernel: Callable[..., None]) -> set[str]:
    """Names that a kernel and the functions it names use."""
    found: set[str] = set()
    left: list[CodeType] = [kernel.__code__]
    while left:
        code = left.pop()
        new = set(code.co_names) - found
        found |= new
        left += [c for c in code.co_consts if isinstance(c, CodeType)]
        known: list[Any] = [kernel.__globals__.get(name) for name in new]
        left += [f.__code__ for f in known if hasattr(f, "__code__")]
    return found


def _go_on(meetings: dict[int, Meeting]) -> None:
    for meeting in meetings.values():
        meeting.back()


def _together(
    kernel: Callable[..., None], contexts: list[OneThread], args: Sequence[Any]
) -> None:
    """All threads of a block at once."""
    wrong: list[BaseException] = []

    def one(context: OneThread) -> None:
        try:
            kernel(context, *args)
        except BaseException as error:
            wrong.append(error)
        context.meeting.left()

    running = [threading.Thread(target=one, args=(c,)) for c in contexts]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    if wrong:
        raise wrong[0]


def _sizes(size: int | Sequence[int]) -> Any:
    given = [size] if isinstance(size, int) else list(size)
    x, y, z = (*given, 1, 1)[:3]
    return SimpleNamespace(x=x, y=y, z=z)


def _places(size: Any) -> Iterator[Any]:
    for z in range(size.z):
        for y in range(size.y):
            for x in range(size.x):
                yield SimpleNamespace(x=x, y=y, z=z)

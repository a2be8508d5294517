"""Bytes that a kernel asks of each array, counted inside Triton's interpreter.

The interpreter has one place where memory is read; while `counted_loads` is open, each
read of its thread is added to the array it lies in; what is masked out asks nothing.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

from triton.runtime.interpreter import InterpreterBuilder

from .host_triton import Array, is_tensor

read = InterpreterBuilder.create_masked_load
Open = threading.local()  # ``counts``: places and bytes by name, of each that is open


def counting(self: Any, ptrs: Any, mask: Any, other: Any, *rest: Any) -> Any:
    """The interpreter's load, and who asked."""
    found = read(self, ptrs, mask, other, *rest)
    for places, asked in getattr(Open, "counts", ()):
        at = ptrs.data[mask.data.astype(bool)]
        for name, (begin, end) in places.items():
            inside = (at >= begin) & (at < end)
            asked[name] += int(inside.sum()) * found.data.itemsize
            at = at[~inside]
        asked["elsewhere"] += at.size * found.data.itemsize
    return found


InterpreterBuilder.create_masked_load = counting


@contextlib.contextmanager
def counted_loads(**arrays: Array) -> Iterator[dict[str, int]]:
    """Count the bytes read of each array by launches inside.

    - ``**arrays``: Operands by name, in one piece, as the launch is given them.
    - gives dict of int: bytes by name; ``elsewhere`` for what lies in none of them.
    """
    places = {name: _place(x) for name, x in arrays.items()}
    asked = dict.fromkeys([*arrays, "elsewhere"], 0)
    before = getattr(Open, "counts", ())
    Open.counts = (*before, (places, asked))
    try:
        yield asked
    finally:
        Open.counts = before


def _place(x: Array) -> tuple[int, int]:
    """First address of an operand, and the one behind its last."""
    if is_tensor(x):
        return x.data_ptr(), x.data_ptr() + x.numel() * x.element_size()
    return x.ctypes.data, x.ctypes.data + x.nbytes

"""Bytes that a kernel asks of each array, counted inside Triton's interpreter.

The interpreter has one place where memory is read; while `counted_loads` is open, each
read there is added to the array that its addresses lie in. Lanes that a mask leaves out
ask for nothing. It is a witness that knows addresses and nothing of attention.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from triton.runtime.interpreter import InterpreterBuilder

from .host_triton import Array, is_tensor


@contextlib.contextmanager
def counted_loads(**arrays: Array) -> Iterator[dict[str, int]]:
    """Count the bytes read of each array by launches inside.

    - ``**arrays``: Operands by name, in one piece, as the launch is given them.
    - gives dict of int: bytes by name; what lies in none of the arrays is under
      ``elsewhere``.

    ::

        with counted_loads(k=k, v=v) as asked:
            flash_triton.forward(q, k, v)
    """
    places = {name: _place(x) for name, x in arrays.items()}
    asked = dict.fromkeys([*arrays, "elsewhere"], 0)
    read = InterpreterBuilder.create_masked_load

    def counting(self: Any, ptrs: Any, mask: Any, other: Any, *rest: Any) -> Any:
        found = read(self, ptrs, mask, other, *rest)
        at = ptrs.data[mask.data.astype(bool)]
        left = at.size
        for name, (begin, end) in places.items():
            inside = int(((at >= begin) & (at < end)).sum())
            asked[name] += inside * found.data.itemsize
            left -= inside
        asked["elsewhere"] += left * found.data.itemsize
        return found

    InterpreterBuilder.create_masked_load = counting
    try:
        yield asked
    finally:
        InterpreterBuilder.create_masked_load = read


def _place(x: Array) -> tuple[int, int]:
    """First address of an operand, and the one behind its last."""
    if is_tensor(x):
        return x.data_ptr(), x.data_ptr() + x.numel() * x.element_size()
    return x.ctypes.data, x.ctypes.data + x.nbytes

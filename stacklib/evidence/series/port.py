"""A port: a published kernel in our kernel language, with what it is launched on.

Ports are written from what the author's kernel does: the same grid and block, tiles,
widths of loads, unrolled loops. Where nvcc is known to join neighbouring loads of
shared memory into one of 16 bytes, the port loads 16 bytes. Register counts are
estimates (accumulators, fragments and some 30 for addresses, as `-Xptxas -v` prints
for kernels of this form); no author prints them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from stacklib import gpu

Shape = tuple[int, ...]
Size = int | tuple[int, ...]
FILLED = 1 << 24  # elements; more are left zero, so that no page of them is touched
VAST = 1 << 28  # elements; more are given no values at all, and can only be timed


@dataclass(frozen=True, slots=True)
class Step:
    """One launch: what is handed to `gpu.launch`."""

    kernel: Callable[..., None]
    grid: Size
    block: Size
    args: tuple[Any, ...]
    registers: int = 32


# Yields launches and is sent the arrays each leaves; returns the result.
Steps = Generator[Step, Mapping[str, Any], Any]


@dataclass(frozen=True, slots=True)
class Port:
    """A kernel of a series.

    ``steps``: its launches for a shape. ``expected``: NumPy's result. ``work``: FLOP or
    bytes that the printed rate divides by the time. ``published``: shapes behind the
    printed number, which is the best of them. ``small``: one to compare values on.
    """

    steps: Callable[[Shape], Steps]
    expected: Callable[[Shape], Any]
    work: Callable[[Shape], float]
    published: tuple[Shape, ...]
    small: Shape


def run(port: Port, shape: Shape, go: Callable[[Step], Mapping[str, Any]]) -> Any:
    """Every launch of a port, one after the other; its result."""
    steps = port.steps(shape)
    step = next(steps)
    while True:
        try:
            step = steps.send(go(step))
        except StopIteration as ended:
            return ended.value


def floats(*shape: int, seed: int = 0) -> Any:
    """Numbers from 0 to 1; zeros where they are too many to be worth it."""
    if math.prod(shape) > VAST:
        return gpu.empty(math.prod(shape))
    if math.prod(shape) > FILLED:
        return np.zeros(math.prod(shape), np.float32)
    made = np.random.default_rng(seed).random(math.prod(shape), np.float32)
    return made


def whole(size: int, below: int = 100, dtype: Any = np.int32) -> Any:
    """Whole numbers from 0; a short run of them again and again where they are many."""
    if size * np.dtype(dtype).itemsize > 4 * VAST:
        return gpu.empty(size, dtype)
    made = np.random.default_rng(1).integers(0, below, min(size, FILLED), dtype)
    return made if size <= FILLED else np.resize(made, size)

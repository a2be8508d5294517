"""The simulated GPU, compiled outside of every limit: once in an installation.

The machine compiles when a kernel runs for long, which takes half a minute. A reader's
answer would be stopped for that as if it never ended.
"""

from __future__ import annotations

from functools import cache
from typing import Any

LONG = 4096  # rounds of a loop after which the machine is compiled


def count(t: Any, out: Any, n: int) -> None:
    """A kernel that keeps the machine busy."""
    i = 0
    while i < n:
        out[0] = i
        i += 1


def is_cold() -> bool:
    """Whether a long kernel would be compiled for before it runs on."""
    from stacklib.gpu.vm._apart import entry
    from stacklib.gpu.vm.loop import run
    from stacklib.memory.warp._fast import is_cold

    return is_cold(entry(run))


@cache
def warm() -> None:
    """Compile the machine, or load what was compiled before."""
    import numpy as np

    from stacklib import gpu

    gpu.launch(count, 1, 1, "h100-sxm", np.zeros(1, np.int32), LONG)

"""When the codec's loops are compiled: numba takes longer than NumPy for a few numbers.

Values are the same either way; only the time differs.
"""

from __future__ import annotations

from functools import cache
from typing import Any

WORTH = 1 << 18  # numbers that NumPy works on before compiling pays
_worked = [0]  # numbers so far in this process; no result depends on it


def loops(count: int) -> Any:
    """The compiled loops; None where NumPy is to work on so many numbers."""
    if _worked[0] < WORTH:
        _worked[0] += count
        if _worked[0] < WORTH:
            return None
    return _loops()


@cache
def _loops() -> Any:
    try:
        from . import _numba_loops
    except ImportError:
        return None
    return _numba_loops

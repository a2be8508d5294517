"""Loops compiled by numba where it is installed; the same function without it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

__all__ = ["fast"]


@cache
def fast(loop: Callable[..., None]) -> Callable[..., None]:
    """``loop`` as fast as this environment can run it; the answer is the same."""
    try:
        import numba
    except ImportError:
        return loop
    compiled: Callable[..., None] = numba.njit(cache=True)(loop)
    return compiled

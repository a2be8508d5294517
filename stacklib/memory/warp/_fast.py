"""Loops compiled by numba where it is installed; the same function without it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

__all__ = ["compiled", "fast"]


def compiled() -> bool:
    """Whether numba is there to compile a loop."""
    try:
        import numba  # noqa: F401
    except ImportError:
        return False
    return True


@cache
def fast(loop: Callable[..., None], fused: bool = False) -> Callable[..., None]:
    """``loop`` as fast as this environment can run it.

    The answer is the same; with ``fused`` a product and a sum may round once, so it is
    the same to the last bits only.
    """
    if not compiled():
        return loop
    import numba

    options = {"fastmath": {"contract"}} if fused else {}
    made: Callable[..., None] = numba.njit(cache=True, **options)(loop)
    return made

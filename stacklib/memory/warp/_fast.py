"""Loops compiled by numba where it is installed; the same function without it."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack, suppress
from functools import cache, wraps
from time import process_time
from typing import Any

try:
    import fcntl
except ImportError:  # not on Windows: there each process compiles for itself
    fcntl = None  # type: ignore[assignment]


FEW = 20_000  # steps that Python takes before numba has compiled a loop
PATIENCE = 5.0  # seconds of plain Python after which it is said what they are


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
        return slowly(loop)
    import numba

    options = {"fastmath": {"contract"}} if fused else {}
    return once(numba.njit(cache=True, **options)(loop))


def once(made: Any) -> Any:
    """What numba made, and no two processes compile it at a time.

    Those that come meanwhile find it in the cache. Where the cache's folder cannot be
    written, or there are no locks, each compiles.
    """
    compile, cached = made.compile, made._cache

    def alone(signature: Any) -> Any:
        with ExitStack() as turn:
            with suppress(OSError, AttributeError):
                cached._impl.locator.ensure_cache_path()
                place = f"{cached._cache_file._index_path}.lock"
                fcntl.flock(turn.enter_context(open(place, "w")), fcntl.LOCK_EX)
            return compile(signature)

    made.compile = alone
    return made


_waited = 0.0  # seconds in loops that numba would have compiled


def slowly(loop: Callable[..., Any]) -> Callable[..., Any]:
    """``loop`` as Python runs it; once it has taken long, it says why, once."""

    @wraps(loop)
    def timed(*given: Any) -> Any:
        global _waited
        start = process_time()
        answer = loop(*given)
        before, _waited = _waited, _waited + process_time() - start
        if before < PATIENCE <= _waited:
            warnings.warn(
                "numba is not installed, so this simulator runs as plain Python, which "
                "takes many times as long: python -m pip install numba",
                stacklevel=3,
            )
        return answer

    return timed


def is_cold(made: Any) -> bool:
    """Whether what numba made would have to be compiled before it runs."""
    return compiled() and not (made.overloads or made._cache._cache_file._load_index())


_taken: Counter[Any] = Counter()  # by loop, steps that Python took so far


def soon(loop: Callable[..., None], steps: int) -> Callable[..., None]:
    """As `fast`, but for a few steps the loop itself while it is not compiled yet."""
    made = fast(loop)
    if not is_cold(made) or _taken[loop] + steps > FEW:
        return made
    _taken[loop] += steps
    return loop

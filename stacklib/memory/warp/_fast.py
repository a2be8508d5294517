"""Loops compiled by numba where it is installed; the same function without it."""

from __future__ import annotations

import gc
import warnings
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack, suppress
from functools import cache, wraps
from importlib.util import find_spec
from time import process_time
from typing import Any

try:
    import fcntl
except ImportError:  # not on Windows: there each process compiles for itself
    fcntl = None  # type: ignore[assignment]


FEW = 10_000  # steps that Python takes before numba has compiled a loop, or loaded it
PATIENCE = 5.0  # seconds of plain Python after which it is said what they are


def compiled() -> bool:
    """Whether numba is there to compile a loop; to import it takes long."""
    try:
        return find_spec("numba") is not None
    except ImportError:  # a finder that refuses it
        return False


@cache
def fast(loop: Callable[..., None], fused: bool = False) -> Callable[..., None]:
    """``loop`` as fast as this environment can run it.

    The answer is the same; with ``fused`` a product and a sum may round once, so it is
    the same to the last bits only.
    """
    if not compiled():
        return slowly(loop)
    return once(loop, **({"fastmath": {"contract"}} if fused else {}))


def once(loop: Callable[..., Any], **options: Any) -> Any:
    """A loop as numba compiles it, and no two processes do that at a time.

    Those that come meanwhile find it in the cache. Where no folder can be written, or
    there are no locks, each compiles.
    """
    import numba

    from ._typing import remembered

    try:
        made = numba.njit(cache=True, **options)(loop)
    except RuntimeError:  # no folder for the cache can be written
        return numba.njit(**options)(loop)
    compile, cached = made.compile, made._cache

    def alone(signature: Any) -> Any:
        with ExitStack() as turn:
            with suppress(OSError, AttributeError):
                cached._impl.locator.ensure_cache_path()
                place = f"{cached._cache_file._index_path}.lock"
                fcntl.flock(turn.enter_context(open(place, "w")), fcntl.LOCK_EX)
            if gc.isenabled():  # all that is made is kept: to look at it takes a sixth
                gc.disable()
                turn.callback(gc.enable)
            turn.enter_context(remembered())
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
    if not compiled() or made.overloads:
        return False
    cached = getattr(made._cache, "_cache_file", None)
    return cached is None or not cached._load_index()


_taken: Counter[Any] = Counter()  # by loop, steps that Python took so far


def soon(
    loop: Callable[..., Any], steps: int, make: Callable[..., Any] = fast
) -> Callable[..., Any]:
    """As ``make`` makes it, but for a few steps the loop itself.

    To import numba, and to load what it compiled before, takes longer than those.
    """
    if _taken[loop] + steps > FEW:
        return make(loop)
    _taken[loop] += steps
    return loop

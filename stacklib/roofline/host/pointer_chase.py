"""Chains of dependent loads: how long one takes, and how many overlap.

A pointer chase reads an address, and what it reads is the next address: the next
load cannot start before this one has come back. Several independent chains can wait
at the same time; how much that buys, Little's law says (``bound.littles_law``,
``time_per_load``).

The loop is compiled by numba where it is present, else by the C compiler, else
NumPy gathers all chains at once; the result says which ran.
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from stacklib.quantity.bounds import whole

from ._kernels import time_calls

LINE = 64  # bytes of a cache line
CHAINS = (1, 2, 3, 4, 6, 8, 12, 16)
CALL = 64  # steps of the shortest call
_STRIDE = LINE // 8  # one address a line

Chase = Callable[[Any, Any, int], None]


def linked(order: Any, size: int) -> Any:
    """Elements of which each that ``order`` names holds the index of the next one."""
    import numpy

    following: Any = numpy.zeros(size, numpy.uintp)
    following[order] = numpy.roll(order, -1)
    return following


def ring(size: int, seed: int = 0) -> Any:
    """One random cycle through every cache line of a buffer.

    ``size``: bytes; a whole number of lines, two or more.
    """
    whole(2 * LINE, size=size)
    if size % LINE:
        raise ValueError(f"size = {size}: not a whole number of {LINE}-byte lines")
    import numpy

    order = numpy.random.default_rng(seed).permutation(size // LINE) * _STRIDE
    return linked(order, size // 8)


def starts(following: Any, chains: int, first: int = 0) -> Any:
    """Where each chain starts: spread evenly over the buffer's lines."""
    import numpy

    lines = len(following) // _STRIDE
    if not 1 <= chains <= lines:
        raise ValueError(f"chains = {chains!r}: one to {lines} fit {lines} lines")
    # With another first line each time, a chain does not walk over lines that the last
    # one left in a cache.
    at: Any = (numpy.arange(chains) * lines // chains + first) % lines
    return (at * _STRIDE).astype(numpy.uintp)


def chase_reference(following: Any, at: Any, steps: int) -> None:
    """Follow every chain, one load at a time, in plain Python; ``at`` is moved."""
    for chain in range(len(at)):
        for _ in range(steps):
            at[chain] = following[at[chain]]


@cache
def compiled(chains: int) -> tuple[str, Chase]:
    """The loop that follows so many chains at once, and the name of its maker."""
    try:
        # A register for each chain, so that loads do not wait for stores.
        return _by_numba(chains)
    except ImportError:
        compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
        return _by_c(chains, compiler) if compiler else ("numpy gather", _gather)


def _by_numba(chains: int) -> tuple[str, Chase]:
    import numba

    p = [f"p{i}" for i in range(chains)]
    lines = ["def chase(following, at, steps):"]
    lines += [f"    {name} = at[{i}]" for i, name in enumerate(p)]
    lines += ["    for _ in range(steps):"]
    lines += [f"        {name} = following[{name}]" for name in p]
    lines += [f"    at[{i}] = {name}" for i, name in enumerate(p)]
    made: dict[str, Any] = {}
    exec("\n".join(lines), made)
    return f"numba {numba.__version__}", numba.njit(nogil=True)(made["chase"])


def _by_c(chains: int, compiler: str) -> tuple[str, Chase]:
    every = range(chains)
    body = [
        "#include <stddef.h>",
        "void chase(const size_t *next, size_t *at, long steps) {",
        *(f"  size_t p{i} = at[{i}];" for i in every),
        "  for (long s = 0; s < steps; s++) {",
        *(f"    p{i} = next[p{i}];" for i in every),
        "  }",
        *(f"  at[{i}] = p{i};" for i in every),
        "}",
    ]
    with tempfile.TemporaryDirectory() as folder:
        source, library = Path(folder) / "chase.c", Path(folder) / "chase.so"
        source.write_text("\n".join(body), encoding="utf-8")
        command = [compiler, "-O2", "-shared", "-fPIC", str(source), "-o", str(library)]
        subprocess.run(command, check=True, capture_output=True)
        function = ctypes.CDLL(str(library)).chase
    function.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_long]
    function.restype = None

    def chase(following: Any, at: Any, steps: int) -> None:
        function(following.ctypes.data, at.ctypes.data, steps)

    return Path(compiler).name, chase


def _gather(following: Any, at: Any, steps: int) -> None:
    for _ in range(steps):
        at[:] = following[at]


def measure(
    following: Any,
    chains: int,
    samples: int = 5,
    sample_s: float = 0.01,  # least seconds of a sample
    first: int = 0,
    settle: bool = False,
) -> tuple[float, ...]:
    """Seconds a load, one for each sample: the wall time over all chains' loads."""
    at = starts(following, chains, first)
    _, chase = compiled(chains)
    following.sum()  # what fits a cache is in it
    # The caches then hold what the chase leaves there and not what was read last in
    # order.
    if settle:
        chase(following, at, len(following) // _STRIDE // chains)
    taken = time_calls(lambda n: chase(following, at, CALL * n), samples, sample_s)
    return tuple(t / (CALL * chains) for t in taken)

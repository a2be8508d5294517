"""The cases of ``simd``, and how each is run: ``run(n)`` makes n calls.

Operands are random, seeded, and made before the clock starts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from statistics import median
from typing import Any

from .native import NotRun, call_c
from .native import compiled as library

Run = Callable[[int], Any]


@dataclass(frozen=True)
class Way:
    """One way to do one thing, with its raw times."""

    op: str
    how: str
    n: int  # elements, or the side of the matrices
    operations: int
    bytes: int
    times_s: tuple[float, ...] = ()  # seconds a call, one for each sample
    why: str = ""  # why it was not run

    @property
    def id(self) -> str:
        """Stable name, for example ``dot-avx2-8``."""
        return f"{self.op}-{self.how}"

    @property
    def seconds(self) -> float:
        """Median time."""
        if not self.times_s:
            raise NotRun(f"{self.id}: not run: {self.why}")
        return median(self.times_s)


def runner(case: Way) -> Run:
    """``run(n)`` for a case, on operands of its own."""
    return {"dot": dot, "matmul": matmul, "peak": peak, "copy": copy}[case.op](case)


def dot(case: Way) -> Run:
    """The sum of x[i] y[i] over fp32 arrays."""
    import numpy

    x, y = random(case.n), random(case.n)
    ways: dict[str, Callable[[], Run]] = {
        "python": lambda: again(python_dot, x.tolist(), y.tolist()),
        "numpy": lambda: again(lambda: (x * y).sum()),
        "numba": lambda: again(compiled(python_dot), x, y),
        "blas": lambda: again(numpy.dot, x, y),
        "c-plain": lambda: call_c("dot_plain", "plain", x, y),
        "c-o3": lambda: call_c("dot_plain", "o3", x, y),
        "c-fast": lambda: call_c("dot_plain", "fast", x, y),
    }
    if case.how in ways:
        return ways[case.how]()
    isa, _, sums = case.how.partition("-")
    return call_c(f"dot_{isa}_{sums}", "plain", x, y)


def matmul(case: Way) -> Run:
    """C = A B of square fp32 matrices."""
    import numpy

    n = case.n
    a, b = random(n * n).reshape(n, n), random(n * n).reshape(n, n)
    c = numpy.zeros_like(a)
    ways: dict[str, Callable[[], Run]] = {
        "python": lambda: again(python_matmul, a.tolist(), b.tolist(), c.tolist()),
        "numpy": lambda: again(numpy_matmul, a, b, c),
        "numba": lambda: again(compiled(python_matmul), a, b, c),
        "blas": lambda: again(lambda: numpy.matmul(a, b, out=c)),
        "c-plain": lambda: c_matmul("plain", a, b, c),
        "c-o3": lambda: c_matmul("o3", a, b, c),
    }
    return ways[case.how]()


def peak(case: Way) -> Run:
    """Multiply-adds on numbers that never leave their registers."""
    import numpy

    half: Any = numpy.full(case.n, 0.5, numpy.float32)  # s = s/2 + 1/2 stays near one
    return call_c(f"peak_{case.how}", "plain", half, half)


def copy(case: Way) -> Run:
    """A copy of one fp32 array to another."""
    import numpy

    to, source = aligned(case.n), aligned(case.n)
    if case.how == "libc":
        return again(numpy.copyto, to, source)
    isa, _, past = case.how.partition("-")
    name = f"stream_{isa}" if past else f"copy_{isa}"
    return call_c(name, "plain", to, source)


def again(call: Callable[..., Any], *arguments: Any) -> Run:
    """``run(n)`` from a call; gives its last value."""

    def run(repeats: int) -> Any:
        value = None
        for _ in range(repeats):
            value = call(*arguments)
        return value

    return run


def random(n: int) -> Any:
    """Random fp32 from -0.5 to 0.5, from the start of a line: no load straddles two."""
    import numpy

    values = aligned(n)
    numpy.random.default_rng(n).random(dtype=numpy.float32, out=values)
    values -= numpy.float32(0.5)
    return values


def aligned(n: int) -> Any:
    """fp32 ones that start on a 64-byte line."""
    import numpy

    raw: Any = numpy.ones(n + 16, numpy.float32)
    skip = (-raw.ctypes.data % 64) // 4
    return raw[skip : skip + n]


@cache
def compiled(loop: Callable[..., Any]) -> Callable[..., Any]:
    """The same Python text through numba."""
    try:
        import numba
    except ImportError:
        raise NotRun("no numba: install it, or leave this row out") from None
    return numba.njit(nogil=True, fastmath=True)(loop)


def python_dot(x: Any, y: Any) -> Any:
    """The loop itself, for lists in Python and for arrays in numba."""
    total = 0 * x[0]
    for i in range(len(x)):
        total += x[i] * y[i]
    return total


def python_matmul(a: Any, b: Any, c: Any) -> Any:
    """Three loops, the inner one along rows."""
    n = len(a)
    for i in range(n):
        for j in range(n):
            c[i][j] = 0 * a[0][0]
        for k in range(n):
            x = a[i][k]
            for j in range(n):
                c[i][j] += x * b[k][j]
    return c


def numpy_matmul(a: Any, b: Any, c: Any) -> Any:
    """NumPy without its BLAS: n outer products, added up."""
    c[:] = 0
    for k in range(len(a)):
        c += a[:, k, None] * b[k]
    return c


def c_matmul(flags: str, a: Any, b: Any, c: Any) -> Run:
    """The three loops in C."""
    multiply = library(flags).matmul_plain

    def run(repeats: int) -> Any:
        # All three are named here, so that what is pointed at lives on.
        places = [x.ctypes.data for x in (a, b, c)]
        for _ in range(repeats):
            c[:] = 0
            multiply(*places, len(a))
        return c

    return run

"""Ten questions before chapter 1, each a line of arithmetic on plain numbers.

The book's readiness page asks them, exercise 1.15 grades them, and both compute the
answer here. ``QUESTIONS`` holds what the page gives and the unit it asks for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from stacklib.quantity import Quantity, chosen, constant, minimum, one_of, resolve


def loop_bytes(n: Any, element: Any) -> Any:
    """Bytes between memory and core for ``y[i] += a * x[i]``: x and y in, y out."""
    return 3 * n * element


def offset(row: Any, column: Any, columns: Any, element: Any) -> Any:
    """Bytes from the first element of a C array to ``a[row][column]``."""
    return (row * columns + column) * element


def page_faults(size: Any, page: Any) -> Any:
    """Faults of a program that writes once to every page of fresh memory.

    ``size``, ``page``: bytes asked for; bytes of a page, a divisor of ``size``.
    """
    return size / page


def gibibytes(size: Any, gib: Any = 2**30) -> Any:
    """A size in bytes as a count of GiB."""
    return size / gib


def strided_bytes(size: Any, element: Any, stride: Any, line: Any) -> Any:
    """Bytes that come from memory when every ``stride``-th element is read.

    Memory gives whole lines: with a stride within a line all of them come.
    """
    reads = size / (element * stride)
    return minimum(size, reads * line)


def count_strided(size: int, element: int, stride: int, line: int) -> int:
    """The same by doing the reads one after another and noting which lines come."""
    lines = {i * element // line for i in range(0, size // element, stride)}
    return len(lines) * line


def access_time(hit: Any, penalty: Any, misses: Any) -> Any:
    """Average cycles of a load: the hit, and for some the penalty too."""
    return hit + misses * penalty


def simd_flop(register: Any, element: Any, units: Any, flop: Any = 2) -> Any:
    """FLOP a core does in a cycle with fused multiply-adds.

    ``register``, ``element``: bits of a vector register; bits of one number.
    """
    return flop * units * register / element


def product_flop(m: Any, k: Any, n: Any, flop: Any = 2) -> Any:
    """FLOP of an m x k matrix times a k x n matrix."""
    return flop * m * k * n


def whole_speedup(times: Any, which: int, faster: Any) -> Any:
    """How much faster a program is when one of its parts is."""
    total = sum(times[1:], times[0])
    return total / (total - times[which] + times[which] / faster)


def transfer_time(size: Any, rate: Any, bits: Any = 8) -> Any:
    """Seconds to send some bytes over a link rated in bits."""
    return size * bits / rate


@dataclass(frozen=True)
class Question:
    """One question: what it is about, what is given, what computes the answer."""

    key: str
    topic: str  # what one must know
    compute: Callable[..., Any]  # takes the givens by name
    given: Mapping[str, Any]  # name to value with unit; several values in a tuple
    unit: str  # unit the page asks for; empty for a count
    what: str  # the answer in a sentence, shown beside its value

    @property
    def answer(self) -> Quantity:
        """The answer, with the givens as its inputs."""
        return self.compute(**self.given).named(self.what.lower())


def _given(label: str, value: float, unit: str = "") -> Quantity:
    return chosen(value, unit, label=label)


_FLOAT = _given("bytes of a float", 4, "B")
_FLOP = constant("multiply_add")

QUESTIONS = (
    Question(
        "loop_bytes", "reading C", loop_bytes,
        {"n": _given("elements", 1e6), "element": _FLOAT}, "MB",
        "Bytes the loop moves: two arrays in, one out",
    ),
    Question(
        "offset", "reading C", offset,
        {"row": _given("row", 3), "column": _given("column", 5),
         "columns": _given("columns", 32), "element": _FLOAT}, "B",
        "Bytes from the start: whole rows, then elements",
    ),
    Question(
        "page_faults", "memory of the operating system", page_faults,
        {"size": _given("bytes asked for", 1, "GiB"),
         "page": _given("page", 4, "KiB")}, "",
        "Faults: one for each page, when it is first touched",
    ),
    Question(
        "gibibytes", "memory of the operating system", gibibytes,
        {"size": _given("card", 80, "GB"),
         "gib": one_of("GiB")}, "",
        "The same bytes, counted in powers of two",
    ),
    Question(
        "strided_bytes", "caches", strided_bytes,
        {"size": _given("array", 64, "MiB"), "element": _FLOAT,
         "stride": _given("stride", 16), "line": _given("line", 64, "B")}, "MiB",
        "Bytes that come from memory: every line is touched",
    ),
    Question(
        "access_time", "caches", access_time,
        {"hit": _given("hit", 4, "cycle"), "penalty": _given("miss", 200, "cycle"),
         "misses": _given("share that misses", 5, "%")}, "cycle",
        "Average load: the hit always, the penalty for some",
    ),
    Question(
        "simd_flop", "vector units", simd_flop,
        {"register": _given("register", 256, "bit"),
         "element": _given("one number", 32, "bit"),
         "units": _given("units", 2, "1/cycle"), "flop": _FLOP}, "FLOP/cycle",
        "FLOP of a core in a cycle: lanes, units, multiply and add",
    ),
    Question(
        "product_flop", "counting work", product_flop,
        {"m": _given("m", 512), "k": _given("k", 1024), "n": _given("n", 256),
         "flop": _FLOP}, "MFLOP",
        "FLOP of the product: a multiply and an add for each of m k n",
    ),
    Question(
        "whole_speedup", "reading a profile", whole_speedup,
        {"times": tuple(_given(f"kernel {name}", t, "ms")
                        for name, t in (("A", 6), ("B", 3), ("C", 1))),
         "which": 1, "faster": _given("faster", 10)}, "",
        "Speed-up of the whole: the other parts take what they took",
    ),
    Question(
        "transfer_time", "rates", transfer_time,
        {"size": _given("file", 16, "GB"), "rate": _given("link", 400, "Gbit/s"),
         "bits": constant("byte")}, "s",
        "Seconds: bits to send over bits a second",
    ),
)  # fmt: skip


def question(key: str) -> Question:
    """The question of this name."""
    by_key = {q.key: q for q in QUESTIONS}
    return by_key[resolve(key, by_key, "question")]

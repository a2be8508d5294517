"""Work and depth of what CUB and Thrust are made of, in closed form.

Work is the number of operations, depth the steps that must follow each other; a
parallel algorithm pays for less depth with more work (G. Blelloch, *Prefix sums and
their applications*, 1990). A row of the table is a kernel of ``gpu.simt.kernels`` or of
``primitive_kernels`` on one block of n elements, n a power of two; ``measured`` there
counts the same on the SIMT machine: operations as numbers that land in shared memory
beyond the n of loading it, depth as barriers.

    Hillis and Steele's scan      n log n          log n
    Blelloch's scan               3 n - 2          2 log n + 1
    tree reduction                n - 1            log n

Shared stores of a histogram are its atomics, one an element; their depth is how often
the fullest bin is hit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from stacklib.quantity import log2, resolve
from stacklib.quantity.bounds import whole


@dataclass(frozen=True, slots=True)
class Primitive:
    """An algorithm on one block: what it costs, and the best any algorithm can."""

    name: str
    work: Callable[[Any], Any]  # operations on n elements
    depth: Callable[[Any], Any]  # steps, one after the other
    least_work: Callable[[Any], Any]  # of one processor
    source: str


PRIMITIVES = {
    row.name: row
    for row in (
        Primitive(
            "reduce",
            lambda n: n - 1,
            lambda n: log2(n),
            lambda n: n - 1,
            "M. Harris, Optimizing parallel reduction in CUDA, 2007",
        ),
        Primitive(
            "scan",
            lambda n: n * log2(n),
            lambda n: log2(n),
            lambda n: n - 1,
            "W. Hillis and G. Steele, 1986: a copy counts as an operation",
        ),
        Primitive(
            "scan-work-efficient",
            lambda n: 3 * n - 2,
            lambda n: 2 * log2(n) + 1,
            lambda n: n - 1,
            "G. Blelloch, 1990: up n - 1 sums, a zero, down as many sums and moves",
        ),
        Primitive(
            "radix-pass",
            lambda n: n * log2(n),
            lambda n: log2(n),
            lambda n: n,
            "a scan of flags, one bit; M. Harris et al., GPU Gems 3, chapter 39, 2007",
        ),
    )
}


def primitive(name: str) -> Primitive:
    """A row of the table by name."""
    return PRIMITIVES[resolve(name, PRIMITIVES, "primitive")]


def work(name: str, n: Any) -> Any:
    """Operations of a primitive on n elements."""
    return primitive(name).work(n)


def depth(name: str, n: Any) -> Any:
    """Steps of it that follow one another."""
    return primitive(name).depth(n)


def sort_bytes(
    n: int, *, key_bits: int = 32, digit_bits: int = 8, width: int = 4
) -> int:
    """Bytes of a radix sort from the last digit to the first.

    A pass reads the keys for its counts, reads them again and writes them: 3 n. With
    all counts made in one sweep beforehand (A. Adinets and D. Merrill, *Onesweep*,
    2022) it would be 2 n a pass, and n once.
    """
    whole(n=n, key_bits=key_bits, digit_bits=digit_bits, width=width)
    passes = -(-int(key_bits) // int(digit_bits))
    return 3 * int(n) * int(width) * passes  # NumPy's would wrap

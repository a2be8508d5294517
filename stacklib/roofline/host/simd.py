"""The same dot product, product of matrices and copy, written at several heights.

From a loop in Python to C intrinsics at each vector width the processor reports.
The width is found from the times: how much faster is a loop over vectors than the
same loop over single numbers. The C is compiled here (``native``); where
there is no compiler, or the processor lacks an instruction set, a case is *not run* and
says why.

Left out: the clock, which may fall under wide vectors, and other processes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from stacklib.hardware.this_machine import Machine, read_machine

from ._kernels import time_calls
from ._ways import Way, runner
from .native import NotRun

DOT_N = 4096  # fp32: two arrays of 16 KiB, in any first-level cache
MATMUL_N = 128
CHAINS = 12  # independent multiply-adds of the ``peak`` loops
# flag of the processor -> fp32 numbers in one of its registers
LANES = {"sse2": 4, "neon": 4, "avx2": 8, "avx512f": 16}


def isas(machine: Machine) -> tuple[str, ...]:
    """Vector instruction sets that the processor reports and we have C for."""
    flags = {"neon" if f == "asimd" else f for f in machine.simd}
    return tuple(isa for isa in LANES if isa in flags)


def dot_cases(found: Iterable[str]) -> list[Way]:
    """Every way to a dot product."""
    ways = ["python", "numpy", "numba", "blas", "c-plain", "c-o3", "c-fast"]
    ways += [f"{isa}-{sums}" for sums in (1, 8) for isa in ("scalar", *found)]
    return [Way("dot", how, DOT_N, 2 * DOT_N, 8 * DOT_N) for how in ways]


def matmul_cases() -> list[Way]:
    """Every way to a product of matrices."""
    n, ways = MATMUL_N, ("python", "numpy", "numba", "c-plain", "c-o3", "blas")
    return [Way("matmul", how, n, 2 * n**3, 12 * n * n) for how in ways]


def peak_cases(found: Iterable[str]) -> list[Way]:
    """Multiply-adds in registers, by instruction set (SSE2 has none)."""
    return [
        Way("peak", isa, DOT_N, 2 * CHAINS * LANES[isa] * DOT_N, 8)
        for isa in found
        if isa != "sse2"
    ]


def copy_cases(found: Iterable[str], size: int) -> list[Way]:
    """A copy of ``size`` bytes in all, by the widest set: plain and past the cache."""
    n, widest = size // 8, list(found)[-1:]
    ways = ["libc", *widest, *(f"{w}-past-cache" for w in widest if w != "neon")]
    return [Way("copy", how, n, 0, 8 * n) for how in ways]


def cases(machine: Machine, copy_bytes: int) -> list[Way]:
    """Every case of this machine."""
    found = isas(machine)
    return [
        *dot_cases(found),
        *matmul_cases(),
        *peak_cases(found),
        *copy_cases(found, copy_bytes),
    ]


def measure_case(case: Way, samples: int = 9, sample_s: float = 0.0005) -> Way:
    """The case with times, or with the reason why it has none."""
    try:
        # Short samples mostly end before the system gives the core to someone else.
        times = time_calls(runner(case), samples, sample_s)
    except NotRun as reason:
        return replace(case, why=str(reason))
    return replace(case, times_s=(*case.times_s, *times))


def measure_simd(quick: bool = True, copy_bytes: int = 2**26) -> tuple[Way, ...]:
    """Measure every case on this machine."""
    found = cases(read_machine(), copy_bytes)
    for _ in range(1 if quick else 3):
        found = [measure_case(c, 2, 0.001) if quick else measure_case(c) for c in found]
    return tuple(found)


def case_of(row: Mapping[str, Any]) -> Way:
    """The case of a result file's row."""
    try:
        what = row["op"], row["how"], row["n"], row["operations"], row["bytes"]
        return Way(*what, times_s=tuple(row["times_s"]))
    except (KeyError, TypeError):
        raise ValueError(f"bad row {row!r}: needs op, how, n and times_s") from None


# -- the width, from the times -------------------------------------------------


@dataclass(frozen=True)
class Width:
    """One instruction set: lanes as reported and speed over scalar as measured.

    ``one`` and ``eight`` are scalar over vector time with one running sum and with
    eight. With one, every width waits for the same chain of additions, so the ratio
    is the width and nothing else; ``found`` is the power of two nearest to it. With
    eight, loads limit the wide ones.
    """

    isa: str
    lanes: int
    one: float
    eight: float

    @property
    def found(self) -> int:
        return nearest_power(self.one)


def nearest_power(ratio: float) -> int:
    """The power of two nearest in ratio."""
    if not 0 < ratio < math.inf:
        raise ValueError(f"ratio {ratio!r}: give a finite number above zero")
    return int(2 ** max(round(math.log2(ratio)), 0))


def widths(measured: Iterable[Way]) -> list[Width]:
    """Speed of each width over scalar code that does the same operations."""
    seconds = {c.id: c.seconds for c in measured if c.times_s}

    def over(isa: str, sums: int) -> float:
        return seconds[f"dot-scalar-{sums}"] / seconds[f"dot-{isa}-{sums}"]

    ran = [isa for isa in LANES if f"dot-{isa}-8" in seconds]
    return [Width(isa, LANES[isa], over(isa, 1), over(isa, 8)) for isa in ran]


def not_run(measured: Iterable[Way]) -> Iterator[str]:
    """One line for each reason why cases were not run."""
    reasons: dict[str, list[str]] = {}
    for c in measured:
        if not c.times_s:
            reasons.setdefault(c.why, []).append(c.id)
    for why, ids in reasons.items():
        yield f"not run: {why} ({', '.join(ids)})"

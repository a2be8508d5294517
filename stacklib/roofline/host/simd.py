"""The same dot product, product of matrices and copy, written at several heights.

From a loop in Python to C intrinsics at each vector width the processor reports.
The width is found from the times: how much faster is a loop over vectors than the
same loop over single numbers. The C (``host_simd.c``) is compiled in a temporary
folder with the compiler found here; where there is none, or the processor lacks an
instruction set, a case is *not run* and says why.

Left out: the clock, which may fall under wide vectors, and other processes.
"""

from __future__ import annotations

import ctypes
import math
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from statistics import median
from typing import Any

from stacklib.hardware.this_machine import Machine, read_machine

from ._kernels import time_calls

SOURCE = Path(__file__).with_name("simd.c")
COMPILE_S = 30.0
DOT_N = 4096  # fp32: two arrays of 16 KiB, in any first-level cache
MATMUL_N = 128
CHAINS = 12  # independent multiply-adds of the ``peak`` loops
# flag of the processor -> fp32 numbers in one of its registers
LANES = {"sse2": 4, "neon": 4, "avx2": 8, "avx512f": 16}
NATIVE = ("-march=native", "-mcpu=native", "")
# The same C, allowed less and more. ``fast`` reorders sums as -ffast-math would, by
# the flags that say just that: -ffast-math itself, when gcc links a shared library
# with it, switches subnormal numbers off in every thread of the process that loads it.
FLAGS = {
    "plain": ("-O2", "-fno-tree-vectorize", "-fno-tree-slp-vectorize",
              "-ffp-contract=off"),
    "o3": ("-O3", "{native}"),
    "fast": ("-O3", "-fassociative-math", "-fno-signed-zeros", "-fno-trapping-math",
             "-fno-math-errno", "{native}"),
}  # fmt: skip


class NotRun(RuntimeError):
    """Something that cannot be measured here; says what is missing."""


@dataclass(frozen=True)
class Way:
    """One way to do one thing, with its raw times.

    Attributes
    ----------
    op : ``dot``, ``matmul``, ``peak`` or ``copy``
    how : who does it: ``python``, ``numpy``, ``numba``, ``blas``, ``c-plain``,
        ``c-o3``, ``c-fast``, or an instruction set and its running sums (``avx2-8``)
    n : elements, or the side of the matrices
    operations : FLOP of one call
    bytes : bytes of its operands, each once
    times_s : seconds a call, one for each sample; empty where it was not run
    why : why it was not run
    """

    op: str
    how: str
    n: int
    operations: int
    bytes: int
    times_s: tuple[float, ...] = ()
    why: str = ""

    @property
    def id(self) -> str:
        """Stable name, for example ``dot-avx2-8``."""
        return f"{self.op}-{self.how}"

    @property
    def seconds(self) -> float:
        """Median time.

        Raises
        ------
        NotRun
            Where there is none.
        """
        if not self.times_s:
            raise NotRun(f"{self.id}: not run: {self.why}")
        return median(self.times_s)


# -- what is there -------------------------------------------------------------


def compiler() -> str | None:
    """A C compiler: ``CC`` of the environment, else cc, gcc or clang; or None."""
    named = os.environ.get("CC", "").split()
    names = [*named[:1], "cc", "gcc", "clang"]
    return next((path for name in names if (path := shutil.which(name))), None)


def isas(machine: Machine) -> tuple[str, ...]:
    """Vector instruction sets that the processor reports and we have C for.

    Parameters
    ----------
    machine : Machine
        What the processor says.

    Returns
    -------
    tuple of str
        Narrowest first.
    """
    flags = {"neon" if f == "asimd" else f for f in machine.simd}
    return tuple(isa for isa in LANES if isa in flags)


def compile_c(source: Path, to: Path, flags: Iterable[str]) -> None:
    """Compile one C file; ``{native}`` among the flags is this very processor.

    Parameters
    ----------
    source, to : Path
        The C file, and what to write.
    flags : iterable of str
        Options of the compiler.

    Raises
    ------
    NotRun
        Without a compiler, or where it takes too long or refuses; with its first
        complaint.
    """
    program = compiler()
    if program is None:
        raise NotRun("no C compiler: looked for cc, gcc and clang; set CC to name one")
    said = ""
    for native in NATIVE:
        chosen = [f for f in (f.format(native=native) for f in flags) if f]
        command = [program, *chosen, "-o", str(to), str(source), "-lm"]
        env = {**os.environ, "TMPDIR": str(to.parent), "LC_ALL": "C"}
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=COMPILE_S, env=env
            )
        except subprocess.TimeoutExpired:
            raise NotRun(f"{program} took more than {COMPILE_S:g} s") from None
        if done.returncode == 0:
            return
        said = said or done.stderr
        if "{native}" not in flags:
            break
    lines = [line for line in said.splitlines() if "error" in line] or [said.strip()]
    raise NotRun(f"{Path(program).name} refused: {lines[0]}")


@cache
def compiled(flags: str = "plain") -> Any:
    """``host_simd.c``, compiled with a set of ``FLAGS`` and loaded.

    Parameters
    ----------
    flags : str
        ``plain``, ``o3`` or ``fast``.

    Raises
    ------
    NotRun
        Where it cannot be compiled or loaded.
    """
    with tempfile.TemporaryDirectory(prefix="stacklib-c-") as folder:
        to = Path(folder) / "host_simd.so"
        compile_c(SOURCE, to, ("-shared", "-fPIC", *FLAGS[flags]))
        try:
            found = ctypes.CDLL(str(to))
        except OSError as error:
            raise NotRun(f"the compiled file does not load: {error}") from None
    pointer, long = ctypes.c_void_p, ctypes.c_long
    found.repeat_dot.argtypes = [pointer] * 3 + [long] * 2
    found.repeat_dot.restype = ctypes.c_float
    found.repeat_copy.argtypes = [pointer] * 3 + [long] * 2
    found.matmul_plain.argtypes = [pointer] * 3 + [long]
    return found


def call_c(name: str, flags: str, *arrays: Any) -> Callable[[int], Any]:
    """``run(n)``: n calls of one of the C functions on arrays; gives its last value.

    Parameters
    ----------
    name : str
        The function's name in ``host_simd.c``.
    flags : str
        Which of the compiled libraries.
    *arrays : numpy.ndarray
        Two for a dot product or a copy, of one length.

    Raises
    ------
    NotRun
        Where it cannot be compiled.
    """
    found = compiled(flags)
    function = ctypes.cast(getattr(found, name), ctypes.c_void_p)
    repeat = found.repeat_dot if name.startswith(("dot", "peak")) else found.repeat_copy

    def run(repeats: int) -> Any:
        # ``arrays`` is named here, so that what is pointed at lives on.
        places = [x.ctypes.data for x in arrays]
        return repeat(function, *places, arrays[0].size, repeats)

    return run


def blas_kernel() -> str:
    """Which processor NumPy's OpenBLAS takes this one for; ``unknown`` if unsaid."""
    import numpy

    folder = Path(numpy.__file__).parent
    for path in (*folder.parent.glob("numpy.libs/*blas*"), *folder.glob(".dylibs/*")):
        for name in ("scipy_openblas_get_corename64_", "openblas_get_corename"):
            try:
                ask = getattr(ctypes.CDLL(str(path)), name)
            except (OSError, AttributeError):
                continue
            ask.restype = ctypes.c_char_p
            return str((ask() or b"unknown").decode())
    return "unknown"


# -- the cases -----------------------------------------------------------------


def dot_cases(found: Iterable[str]) -> list[Way]:
    """Every way to a dot product.

    Parameters
    ----------
    found : iterable of str
        Instruction sets of the processor.
    """
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
    """A copy of ``size`` bytes in all, by the widest set: plain and past the cache.

    Parameters
    ----------
    found : iterable of str
        Instruction sets of the processor, narrowest first.
    size : int
        Bytes of both arrays.
    """
    n, widest = size // 8, list(found)[-1:]
    ways = ["libc", *widest, *(f"{w}-past-cache" for w in widest if w != "neon")]
    return [Way("copy", how, n, 0, 8 * n) for how in ways]


def cases(machine: Machine, copy_bytes: int) -> list[Way]:
    """Every case of this machine.

    Parameters
    ----------
    machine : Machine
        What the processor says.
    copy_bytes : int
        Working set of the copies.
    """
    found = isas(machine)
    return [*dot_cases(found), *matmul_cases(), *peak_cases(found),
            *copy_cases(found, copy_bytes)]  # fmt: skip


def runner(case: Way) -> Callable[[int], Any]:
    """``run(n)`` for a case, on operands of its own.

    Parameters
    ----------
    case : Way
        What to run.

    Raises
    ------
    NotRun
        Where something it needs is missing.
    """
    from . import _ways as ways

    return {"dot": ways.dot, "matmul": ways.matmul, "peak": ways.peak,
            "copy": ways.copy}[case.op](case)  # fmt: skip


def measure_case(case: Way, samples: int = 9, sample_s: float = 0.0005) -> Way:
    """The case with times, or with the reason why it has none.

    Parameters
    ----------
    case : Way
        What to run.
    samples, sample_s : int, float
        How many samples, and the least seconds of each. Short ones: most of them
        then end before the system gives the core to someone else.
    """
    try:
        times = time_calls(runner(case), samples, sample_s)
    except NotRun as reason:
        return replace(case, why=str(reason))
    return replace(case, times_s=(*case.times_s, *times))


def measure_simd(quick: bool = True, copy_bytes: int = 2**26) -> tuple[Way, ...]:
    """Measure every case on this machine.

    Parameters
    ----------
    quick : bool
        True: about two seconds. False: three rounds of nine samples each.
    copy_bytes : int
        Working set of the copies; four times the last cache says something of
        memory.
    """
    found = cases(read_machine(), copy_bytes)
    for _ in range(1 if quick else 3):
        found = [measure_case(c, 2, 0.001) if quick else measure_case(c) for c in found]
    return tuple(found)


def case_of(row: Mapping[str, Any]) -> Way:
    """The case of a result file's row.

    Raises
    ------
    ValueError
        For a row that lacks a field.
    """
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
    """The power of two nearest in ratio.

    Parameters
    ----------
    ratio : float
        A speed-up.

    Raises
    ------
    ValueError
        For what is not above zero and finite.
    """
    if not 0 < ratio < math.inf:
        raise ValueError(f"ratio {ratio!r}: give a finite number above zero")
    return int(2 ** max(round(math.log2(ratio)), 0))


def widths(measured: Iterable[Way]) -> list[Width]:
    """Speed of each width over scalar code that does the same operations.

    Parameters
    ----------
    measured : iterable of Way
        Dot products with intrinsics among them; those not run are left out.
    """
    seconds = {c.id: c.seconds for c in measured if c.times_s}

    def over(isa: str, sums: int) -> float:
        return seconds[f"dot-scalar-{sums}"] / seconds[f"dot-{isa}-{sums}"]

    ran = [isa for isa in LANES if f"dot-{isa}-8" in seconds]
    return [Width(isa, LANES[isa], over(isa, 1), over(isa, 8)) for isa in ran]


def not_run(measured: Iterable[Way]) -> Iterator[str]:
    """One line for each reason why cases were not run.

    Parameters
    ----------
    measured : iterable of Way
        Cases, with and without times.
    """
    reasons: dict[str, list[str]] = {}
    for c in measured:
        if not c.times_s:
            reasons.setdefault(c.why, []).append(c.id)
    for why, ids in reasons.items():
        yield f"not run: {why} ({', '.join(ids)})"

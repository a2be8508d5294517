"""C of our own, compiled where a compiler is found, loaded and called from Python.

``simd.c`` is compiled in a temporary folder; where there is no compiler, or it
refuses, ``NotRun`` says why.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any

SOURCE = Path(__file__).with_name("simd.c")
COMPILE_S = 30.0
NATIVE = ("-march=native", "-mcpu=native", "")
# The same C, allowed less and more. ``fast`` reorders sums as -ffast-math would, by
# the flags that say just that: -ffast-math itself, when gcc links a shared library
# with it, switches subnormal numbers off in every thread of the process that loads it.
FLAGS = {
    "plain": (
        "-O2",
        "-fno-tree-vectorize",
        "-fno-tree-slp-vectorize",
        "-ffp-contract=off",
    ),
    "o3": ("-O3", "{native}"),
    "fast": (
        "-O3",
        "-fassociative-math",
        "-fno-signed-zeros",
        "-fno-trapping-math",
        "-fno-math-errno",
        "{native}",
    ),
}


class NotRun(RuntimeError):
    """Something that cannot be measured here; says what is missing."""


def compiler() -> str | None:
    """A C compiler: ``CC`` of the environment, else cc, gcc or clang; or None."""
    named = os.environ.get("CC", "").split()
    names = [*named[:1], "cc", "gcc", "clang"]
    return next((path for name in names if (path := shutil.which(name))), None)


def compile_c(source: Path, to: Path, flags: Iterable[str]) -> None:
    """Compile one C file; ``{native}`` among the flags is this very processor."""
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
    """``simd.c``, compiled with a set of ``FLAGS`` and loaded."""
    with tempfile.TemporaryDirectory(prefix="stacklib-c-") as folder:
        to = Path(folder) / "simd.so"
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
    """``run(n)``: n calls of one of the C functions on arrays; gives its last value."""
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

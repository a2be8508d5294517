"""A ratio belongs to a processor: one run for each kind of vector unit there is.

    if __name__ == "__main__":
        sys.exit(kinds.each(measure))

`each` starts the script again, a process for each kind that this processor is or can
be made to be: both sides then choose their code as they would there, by what
`_tools.processors` sets. What such a process saves is named after its kind
(``encode_avx2.json``), with its own date and device. Of a kind that cannot run here
the result that was stored before stays.
"""

import os
import platform
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import record

sys.path.append(str(Path(__file__).resolve().parents[1] / "book"))

from _tools import processors

# kind -> NumPy's level, and the core whose setting makes of a larger processor this
KINDS = {"avx2": ("X86_V3", "Haswell"), "avx512": ("X86_V4", "")}


def own() -> str:
    """The kind of this processor: the largest listed, else its architecture's name.

    As NumPy sees it: what the environment turns off is not there.
    """
    levels = {*processors.SIMD["baseline"], *processors.FOUND}
    mine = [kind for kind, (level, _) in KINDS.items() if level in levels]
    return mine[-1] if mine else record.slug(platform.machine())


def settings(kind: str) -> dict[str, str] | None:
    """The environment in which this processor is of a kind; None where it cannot be."""
    if kind == own():
        return {record.KIND: kind}
    _, core = KINDS[kind]
    if not core or not processors.possible(core):
        return None
    # numba adds the features of the processor it runs on unless they are given.
    numba = {"NUMBA_CPU_NAME": core.lower(), "NUMBA_CPU_FEATURES": ""}
    return processors.SETTINGS[core] | numba | {record.KIND: f"{kind}:{core}"}


def each(measure: Callable[[], int | None]) -> int:
    """Measure under every kind, each in a process of its own; the first bad status."""
    if record.KIND in os.environ:
        return measure() or 0
    for kind in dict.fromkeys([*KINDS, own()]):
        env = settings(kind)
        if env is None:
            print(f"{kind}: not run, this processor is {own()}; its results stay")
            continue
        print(f"-- {env[record.KIND]}", flush=True)
        command = [sys.executable, *sys.argv]
        status = subprocess.run(command, env=os.environ | env).returncode
        if status:
            return status
    return 0

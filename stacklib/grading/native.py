"""Compile and run the C that an exercise asks for.

The program is built in a temporary folder, runs in a process of its own, and is
stopped when it takes too long: a wild pointer ends that process and is told as a
mistake. Where no compiler is found ``missing`` says so, and the exercise grades what
it can without one.
"""

from __future__ import annotations

import signal
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from stacklib.grading import guards, sandbox
from stacklib.grading.expect import Mistake
from stacklib.hardware.this_machine import read_machine
from stacklib.roofline.host import native as host
from stacklib.roofline.host.simd import isas

RUN_S = 5  # seconds of the processor; of the clock ten times as many
FLAGS = {
    "avx512f": ("-mavx512f",),
    "avx2": ("-mavx2", "-mfma"),
    "neon": (),
    "plain": (),
}


def missing() -> str:
    """Why C cannot be run here; empty where it can."""
    if host.compiler() is None:
        return "no C compiler found: looked for cc, gcc and clang; set CC to name one"
    return ""


def widest() -> str:
    """The widest of avx512f, avx2 and neon that the processor reports, or plain."""
    found = [isa for isa in isas(read_machine()) if isa in FLAGS]
    return found[-1] if found else "plain"


def run_c(source: str, isa: str = "plain") -> str:
    """Compile a program and give what it prints."""
    with guards.tool(), tempfile.TemporaryDirectory(prefix="stacklib-c-") as folder:
        text, program = Path(folder) / "answer.c", Path(folder) / "answer"
        text.write_text(source, "utf-8")
        try:
            host.compile_c(text, program, ("-O2", *FLAGS[isa]))
        except host.NotRun as error:
            raise Mistake(f"the C compiler {error}") from None
        return finished([str(program)])


def limited() -> None:
    """Limit the processor time of the program that is about to start."""
    guards.lower(guards.resource.RLIMIT_CPU, RUN_S, RUN_S + 1)


def finished(command: Sequence[str]) -> str:
    """What a program prints; Mistake where it does not end well."""
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            timeout=10 * RUN_S,
            preexec_fn=limited if guards.resource else None,
        )
        endless = done.returncode in sandbox.TIMED
    except subprocess.TimeoutExpired:
        endless = True
    if endless:
        raise Mistake(f"the C program still runs after {RUN_S} s; does every loop end?")
    if done.returncode < 0:
        name = signal.Signals(-done.returncode).name
        raise Mistake(
            f"the C program crashed ({name}): an aligned load from an address that is "
            "not aligned, an index far beyond the array, or an instruction that this "
            "processor lacks"
        )
    if done.returncode:
        raise Mistake(f"the C program ended with status {done.returncode}")
    return done.stdout.decode("utf-8", "replace")

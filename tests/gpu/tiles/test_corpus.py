"""Every program of the corpus, here and in Triton's interpreter.

The interpreter multiplies bfloat16 wrongly and silently (its ``dot`` takes the codes
for whole numbers), and cuts where GPUs round to bfloat16: programs with that type are
held to NumPy instead, in `test_formats`.
"""

import importlib.util
import itertools
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import cases  # noqa: E402
import corpus  # noqa: E402

from stacklib import gpu  # noqa: E402
from stacklib.gpu.tiles import types  # noqa: E402

needs_triton = pytest.mark.skipif(
    importlib.util.find_spec("triton") is None, reason="Triton is not installed"
)


def triton(folder: Path, pick: str):
    """What Triton's interpreter makes of the cases: one process for all of them."""
    out = folder / f"{pick}.npz"
    runner = [sys.executable, str(HERE / "run_triton.py"), str(out), pick]
    done = subprocess.run(
        runner,
        capture_output=True,
        text=True,
        env={**os.environ, "TRITON_INTERPRET": "1"},
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return np.load(out)


def apart(got, wanted) -> float:
    """How far results differ, relative to the largest."""
    difference = np.abs(got.astype(float) - wanted.astype(float)).max()
    return float(difference / max(1e-30, np.abs(wanted.astype(float)).max()))


def compare(folder: Path, pick: str) -> None:
    wanted = triton(folder, pick)
    assert met() == wanted["meetings"].tolist()
    for number, case in enumerate(getattr(cases, pick)()):
        ran = gpu.launch_tiles(
            getattr(corpus, case.program), case.grid, *case.args, **case.words
        )
        for at, (name, got) in enumerate(ran.results.items()):
            want = wanted[f"{number}.{at}"]
            assert got.dtype == want.dtype, (case.program, name)
            assert apart(got, want) <= case.near, (case.program, name)


def met() -> list[str]:
    """The type any two operands meet at, or an error, as `run_triton.meetings` does."""
    found = []
    for a, b in itertools.product(TYPES, TYPES):
        for weak, divides in itertools.product((None, a, b), (False, True)):
            try:
                found.append(types.meet(a, b, weak, divides).name)
            except TypeError:
                found.append("error")
    return found


TYPES = types.ALL


@needs_triton
def test_the_corpus_both_ways(tmp_path):
    compare(tmp_path, "all_cases")


@needs_triton
@pytest.mark.slow
def test_random_shapes_both_ways(tmp_path):
    compare(tmp_path, "random_cases")


def test_the_corpus_is_large():
    programs = {case.program for case in cases.all_cases()}
    assert len(programs) >= 20

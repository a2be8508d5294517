"""Literal ports of classic kernels: NumPy, numba's simulator and the machine agree."""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from stacklib import gpu

from .corpus import products, sorts, sums, waits

CASES = [case for module in (sums, products, sorts) for case in module.cases()]


WAITS = waits.cases()  # what numba's simulator has not


@pytest.mark.rows("case", [*CASES, *WAITS])
def test_a_port_leaves_what_numpy_computes(case):
    args = [a.copy() if isinstance(a, np.ndarray) else a for a in case.args]
    ran = gpu.launch(case.kernel, case.grid, case.block, "h100", *args, **case.more)
    case.check(ran.results)


def test_the_corpus_is_large_enough():
    names = [case.kernel.__name__ for case in CASES]
    assert len(set(names)) == len(names) == 44
    assert sum(not case.lanes for case in CASES) == 38


@pytest.mark.slow
@pytest.mark.skipif(find_spec("numba") is None, reason="numba is not installed")
def test_numbas_simulator_leaves_the_same():
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "corpus.cudasim"],
        cwd=Path(__file__).parent,
        env={**os.environ, "NUMBA_ENABLE_CUDASIM": "1"},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    told = {line.split()[0] for line in ran.stdout.splitlines()}
    assert told == {case.name for case in CASES if not case.lanes}

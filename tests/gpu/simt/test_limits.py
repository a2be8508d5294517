"""Large launches and small ones: what each may take."""

import subprocess
import sys

import numpy as np
import pytest

from stacklib import gpu

SMALL = """
import sys
import numpy as np
from stacklib import gpu
from stacklib.gpu.simt.kernels import vector_add
x = np.arange(1000.0)
ran = gpu.launch(vector_add, 8, 125, "h100", x, x, gpu.empty(1000, float), 1000)
assert (ran.results["out"] == 2 * x).all() and ran.report.time > 0
assert "numba" not in sys.modules, "a thousand elements waited for a compiler"
"""


def test_a_small_launch_of_a_new_process_waits_for_no_compiler():
    done = subprocess.run([sys.executable, "-c", SMALL], capture_output=True, text=True)
    assert not done.returncode, done.stderr


def uniform_for(t, out, n):
    x, y, odd = 0, 7, 0
    for k in range(n):
        x = x + k
        y = (y * 75 + 74) % 65537
        if y % 2:
            odd += 1
        for j in range(2):
            x -= j
    out[t.thread.x] = x % 1000003 + k + odd + j + y + t.lane


def uniform_while(t, out, n):
    x, y, odd, k, j = 0, 7, 0, 0, 1
    while k < n:
        x = x + k
        y = (y * 75 + 74) % 65537
        odd = odd + 1 if y % 2 else odd
        x -= 1
        k += 1
    out[t.thread.x] = x % 1000003 + k - 1 + odd + j + y + t.lane


def plainly(n):
    x, y, odd = 0, 7, 0
    for k in range(n):
        x, y = x + k - 1, (y * 75 + 74) % 65537
        odd += y % 2
    return x % 1000003 + k + odd + 1 + y


@pytest.mark.parametrize("kernel", [uniform_for, uniform_while])
@pytest.mark.parametrize("n", [30, 33, 34, 2000, 300_000])
def test_rounds_that_are_the_same_in_every_lane_are_not_compiled(kernel, n):
    ran = gpu.launch(kernel, 1, 32, "h100-sxm", gpu.empty(32, np.int64), n)
    assert (ran.results["out"] == plainly(n) + np.arange(32)).all()
    assert ran.report.instructions <= 4

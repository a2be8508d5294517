"""Ports of published kernels: each leaves what NumPy computes."""

import numpy as np
import pytest

from stacklib import gpu
from stacklib.evidence.series import PORTS, run

CASES = [(series, kernel) for series, ports in PORTS.items() for kernel in ports]
# Of each kernel one, whatever it is made with; its room tries those.
EACH = {
    next(PORTS[s][k].steps(PORTS[s][k].small)).kernel.__code__: (s, k) for s, k in CASES
}


def go(step):
    ran = gpu.launch(
        step.kernel, step.grid, step.block, "h100", *step.args, registers=step.registers
    )
    return ran.results


def computes_what_numpy_computes(series, kernel):
    port = PORTS[series][kernel]
    found = np.asarray(run(port, port.small, go), float)
    expected = np.asarray(port.expected(port.small), float)
    assert found.shape == expected.shape
    assert np.abs(found - expected).max() <= 1e-6 * np.abs(expected).max()


@pytest.mark.rows(("series", "kernel"), CASES, drawn=10)
def test_a_port_computes_what_numpy_computes(series, kernel):
    computes_what_numpy_computes(series, kernel)

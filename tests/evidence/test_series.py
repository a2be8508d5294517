"""Ports of published kernels: each leaves what NumPy computes."""

import numpy as np
import pytest

from stacklib import gpu
from stacklib.evidence.series import PORTS, run

CASES = [(series, kernel) for series, ports in PORTS.items() for kernel in ports]


def made(port):
    """Which kernel a port starts first, and the ways in which it was made."""
    kernel = next(port.steps(port.small)).kernel
    given = (cell.cell_contents for cell in kernel.__closure__ or ())
    return kernel.__code__, *(way for way in given if isinstance(way, bool))


# Of each kernel and way one, whatever its sizes; its room tries those.
EACH = {made(PORTS[series][kernel]): PORTS[series][kernel] for series, kernel in CASES}


def go(step):
    ran = gpu.launch(
        step.kernel, step.grid, step.block, "h100", *step.args, registers=step.registers
    )
    return ran.results


def computes_what_numpy_computes(port):
    found = np.asarray(run(port, port.small, go), float)
    expected = np.asarray(port.expected(port.small), float)
    assert found.shape == expected.shape
    assert np.abs(found - expected).max() <= 1e-6 * np.abs(expected).max()


@pytest.mark.rows(("series", "kernel"), CASES, drawn=10)
def test_a_port_computes_what_numpy_computes(series, kernel):
    computes_what_numpy_computes(PORTS[series][kernel])

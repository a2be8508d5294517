"""Each kernel of the published series leaves what NumPy computes."""

import numpy as np
import pytest

from stacklib import gpu
from stacklib.evidence.series.matmul_ports import _product
from stacklib.kernels.series import matmul, matmul_warps, rows_of

from ..evidence.test_series import EACH, computes_what_numpy_computes, made

# What takes long in the tiles that it was published with is made with smaller ones.
SMALLER = [
    _product(kernel, tile, 64, (*tile, 32), 98, published=64)
    for kernel, tile in (
        (matmul.squares(32, 32, 8, 4, 4), (32, 32)),
        (matmul.squares(32, 32, 8, 4, 4, wide=True), (32, 32)),
        (matmul.wide_squares(32, 32, 8, 4, 4), (32, 32)),
        (matmul.wide_squares(32, 32, 8, 4, 4, plain=True), (32, 32)),
        (matmul_warps.halves(32, 64, 8, 32, 32, 4, 4), (32, 64)),
        (matmul_warps.two_buffers(64, 64, 8), (64, 64)),
    )
]
PORTS = EACH | {made(port): port for port in SMALLER}


@pytest.mark.rows("kernel", PORTS)
def test_a_kernel_computes_what_numpy_computes(kernel):
    computes_what_numpy_computes(PORTS[kernel])


def test_a_softmax_finds_the_largest_wherever_it_is():
    """Of sixty-four: less than the largest would do, but for numbers like these."""
    src = 1000 * np.eye(64)
    for kernel in (rows_of.through_shared, rows_of.crossed(False)):
        ran = gpu.launch(kernel, 64, 64, "h100", src.ravel(), gpu.empty(4096), 64, 64)
        assert ran.results["dst"].tolist() == np.eye(64).ravel().tolist()

"""`launch_tiles`: results, counts and what it refuses."""

import numpy as np
import pytest

from stacklib import gpu
from stacklib.gpu import KernelError
from stacklib.gpu import tiles as tl


def add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    total = tl.load(x + at, mask=inside) + tl.load(y + at, mask=inside)
    tl.store(out + at, total, mask=inside)


def added(n=5000, out=None, grid=None, **words):
    x = np.arange(n, dtype=np.float32)
    grid = grid or (lambda meta: (tl.cdiv(n, meta["BLOCK"]),))
    out = gpu.empty(n) if out is None else out
    return gpu.launch_tiles(add, grid, x, 2 * x, out, n, BLOCK=1024, **words)


def test_a_sum_and_its_sectors():
    ran = added()
    assert (ran.results["out"] == 3 * np.arange(5000)).all()
    assert ran.report.traffic.sectors == {"load": 2 * 625, "store": 625}
    # 16 bytes a thread: a warp's request takes 512, sixteen sectors
    assert ran.report.sectors_per_request == 1875 / (3 * 40)


def test_outside_names_program_element_and_line():
    line = add.__code__.co_firstlineno + 4
    with pytest.raises(
        KernelError, match=rf"add, line {line}: tl.store: out\[4000\]"
    ) as e:
        added(out=gpu.empty(4000))
    assert "program 3, element [928]" in str(e.value)

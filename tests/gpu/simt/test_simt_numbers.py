"""Numbers of section 2.2: closed forms against what the machine counts."""

from __future__ import annotations

import numpy as np
import pytest

from stacklib import gpu
from stacklib.evidence import numbers
from stacklib.gpu.simt import kernels


def two_ways(period):
    out = gpu.empty(256, np.int64)
    source = np.arange(256)
    return gpu.launch(kernels.two_ways, 1, 256, "h100-sxm", source, out, period).report


def transpose(kernel, *rest):
    source, out = np.zeros((256, 256), np.float32), gpu.empty((256, 256))
    return gpu.launch(kernel, (8, 8), (32, 8), "h100-sxm", source, out, *rest).report


def value(name):
    return numbers.get(f"simt.{name}").quantity.si


def test_divergence():
    apart, together = two_ways(1), two_ways(32)
    assert together.active_lanes == 32
    assert apart.active_lanes == pytest.approx(value("apart"))
    assert apart.instructions / together.instructions == pytest.approx(value("more"))


def test_transposes():
    naive, tiled = (
        transpose(kernels.transpose_naive),
        transpose(kernels.transpose_tiled, 0),
    )
    assert naive.sectors_per_request == value("naive_sectors")
    assert tiled.sectors_per_request == value("tiled_sectors")
    loads = tiled.traffic.shared_requests["load"]
    assert tiled.bank_conflicts / loads == value("conflicts")
    assert transpose(kernels.transpose_swizzled).bank_conflicts == value("swizzled")

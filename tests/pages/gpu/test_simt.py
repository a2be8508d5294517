"""Numbers of section 2.2: closed forms against what the machine counts."""

import re

import numpy as np
import pytest

from stacklib import gpu
from stacklib.gpu.issue import divergence
from stacklib.gpu.simt import kernels
from stacklib.memory import sectors
from stacklib.memory.warp.banks import bank_access
from stacklib.pages.gpu import simt as page
from stacklib.pages.gpu.simt.planted import BUGS

LANES, WORD, SIDE = 32, 4, 256  # of a warp; bytes of fp32; side of the square
# Instructions of the kernel `two_ways`: those of every lane, and those of one path.
COMMON, PATH = 8, 1


def two_ways(period):
    out = gpu.empty(256, np.int64)
    source = np.arange(256)
    return gpu.launch(kernels.two_ways, 1, 256, "h100-sxm", source, out, period).report


def transpose(kernel, *rest):
    source, out = np.zeros((256, 256), np.float32), gpu.empty((256, 256))
    return gpu.launch(kernel, (8, 8), (32, 8), "h100-sxm", source, out, *rest).report


def test_divergence():
    apart, together = two_ways(1), two_ways(32)
    issued, alike = COMMON + 2 * PATH, COMMON + PATH
    assert together.active_lanes == LANES
    active = (COMMON * LANES + 2 * PATH * LANES / 2) / issued
    assert apart.active_lanes == pytest.approx(active)
    assert apart.instructions / together.instructions == pytest.approx(issued / alike)


def test_transposes():
    naive, tiled = (
        transpose(kernels.transpose_naive),
        transpose(kernels.transpose_tiled, 0),
    )
    along = sectors(range(0, LANES * WORD, WORD))
    across = sectors(range(0, LANES * SIDE * WORD, SIDE * WORD))
    assert naive.sectors_per_request == (along + across) / 2
    assert tiled.sectors_per_request == along
    loads = tiled.traffic.shared_requests["load"]
    down = bank_access(range(0, LANES * LANES * WORD, LANES * WORD)).extra
    assert tiled.bank_conflicts / loads == down
    turned = bank_access([LANES * WORD * row + WORD * row for row in range(LANES)])
    swizzled = transpose(kernels.transpose_swizzled)
    assert swizzled.bank_conflicts / loads == turned.extra


def test_the_figure_of_a_warp_shows_every_instruction():
    source, out = np.arange(256), gpu.empty(256, np.int64)
    issued = page.first_warp(kernels.two_ways, 256, source, out, 4)
    assert len(issued) == COMMON + 2 * PATH
    masks = [mask for _, mask in issued]
    parted = [mask for mask in masks if mask != 2**LANES - 1]
    assert len(parted) == 2 * PATH and parted[0] ^ parted[1] == 2**LANES - 1
    assert parted[0] & 0xFF == 0x0F


def test_a_switch_costs_what_the_closed_form_says():
    x, ways, work = np.arange(64), 32, 12  # as the page has it
    args = (x, x % ways, gpu.empty(64, np.int64), ways, work)
    report = gpu.launch(kernels.many_ways, 2, 32, "h100-sxm", *args).report
    assert report.instructions == divergence.instructions(x % ways, ways, work)


@pytest.mark.parametrize(
    ("kernel", "says"),
    list(
        zip(
            BUGS,
            (
                "off_the_end, line 17: src[512] is outside",
                "no_barrier, line 24: shared array 1[255] is read while another",
                "barrier_for_some, line 32: sync() is not reached by all threads",
                "two_barriers: a deadlock, nobody can go on: block 0, warp 0 waits",
            ),
            strict=True,
        )
    ),
)
def test_each_bug_is_named(kernel, says):
    with pytest.raises(gpu.KernelError, match=re.escape(says)):
        gpu.launch(kernel, 2, 256, "h100-sxm", np.zeros(512), gpu.empty(512))

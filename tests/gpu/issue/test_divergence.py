"""Divergence three ways: distinct paths, the machine's counts, masks on this one."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib import gpu
from stacklib.gpu.issue import divergence
from stacklib.gpu.simt import kernels

from ...rows import refusals

PATHS = st.integers(1, 4).flatmap(
    lambda warps: st.lists(st.integers(0, 31), min_size=32 * warps, max_size=32 * warps)
)


def launched(paths, ways, work):
    x = np.arange(len(paths))
    args = ("h100-sxm", x, np.array(paths), gpu.empty(len(paths), np.int64))
    return gpu.launch(kernels.many_ways, len(paths) // 32, 32, *args, ways, work)


@given(paths=PATHS, ways=st.integers(1, 32), work=st.integers(0, 4))
@settings(max_examples=60)
def test_three_ways(paths, ways, work):
    paths = [p % ways for p in paths]
    expected = list(range(len(paths)))
    for _ in range(work):
        expected = [3 * x + p for x, p in zip(expected, paths, strict=True)]
    ran = launched(paths, ways, work)
    values, done = divergence.masked(np.arange(len(paths)), paths, work)
    assert ran.results["dst"].tolist() == values.tolist() == expected
    assert sum(divergence.passes(paths)) == done
    assert ran.report.instructions == divergence.instructions(paths, ways, work)


@pytest.mark.rows("ways", [1, 2, 3, 8, 31, 32])
def test_the_switch_of_all_lanes(ways):
    """As many passes as paths: two of a two-way branch, 32 of the widest switch."""
    apart = [lane % ways for lane in range(64)]
    assert divergence.passes(apart) == [ways, ways]

    def of_a_path(paths):  # without what all of them share
        some, none = (launched(paths, ways, work).report for work in (9, 0))
        return some.instructions - none.instructions

    assert of_a_path(apart) == ways * of_a_path([0] * 64) > 0


def test_one_lane_costs_as_much_as_sixteen():
    one, half = [0] * 31 + [1], [0, 1] * 16
    assert divergence.instructions(one, 2, 9) == divergence.instructions(half, 2, 9)


def test_the_last_warp_may_be_part_empty():
    assert divergence.passes([0, 1, 2] * 12) == [3, 3]
    assert divergence.passes(range(33)) == [32, 1]


test_what_it_refuses = refusals(
    (lambda: divergence.passes([]), "at least one"),
    (lambda: divergence.passes([0.5]), "whole numbers from 0"),
    (lambda: divergence.passes([-1]), "whole numbers from 0"),
    (lambda: divergence.passes([1], 0), "width = 0"),
    (lambda: divergence.passes([1], True), "width = True"),
    (lambda: divergence.instructions([3], 3, 1), "path 3: there are 3"),
    (lambda: divergence.masked(range(33), range(33), 1), "33"),
)

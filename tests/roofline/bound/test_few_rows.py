"""Products of few rows: what tiles pad, what no such kernel takes, and its limits."""

import math
from dataclasses import replace
from itertools import pairwise

import pytest

from stacklib import hardware
from stacklib.hardware.factors import efficiency_override
from stacklib.roofline.bound.few_rows import few_rows_time, kernel_time
from stacklib.roofline.bound.gemm import gemm_time
from stacklib.roofline.work.products import EXPAND, product

ONE = product(m=1, n=28672, k=4096)
CODES = replace(ONE, right=0.5625, expand=EXPAND[4], dtype="fp16")


def tiled(work, chip):
    found = gemm_time(work, chip, "kernel")
    return found.time - found.launch


def test_a_token_costs_no_16_where_arithmetic_is_dear():
    last = replace(CODES, m=16)
    assert tiled(CODES, "m4-max") == pytest.approx(tiled(last, "m4-max"), rel=0.01)
    assert kernel_time(CODES, "m4-max") < tiled(CODES, "m4-max") / 5
    assert kernel_time(last, "m4-max") <= tiled(last, "m4-max")
    # tensor cores have arithmetic to spare: eight rows are tiles there
    full = replace(ONE, m=8)
    assert kernel_time(full, "a100-sxm-80gb") == tiled(full, "a100-sxm-80gb")


@pytest.mark.rows(
    "work, chip",
    [
        (replace(ONE, promote=0.5), "h100-sxm"),
        (ONE, "b100-sxm"),  # prints no rate of fp32
        (replace(ONE, dtype="fp32"), "xeon-6980p"),
    ],
)
def test_elsewhere_no_such_kernel_is_known(work, chip):
    assert few_rows_time(work, chip) == math.inf


@pytest.mark.parametrize("chip", ["m4-max", "rtx-4090"])
@pytest.mark.parametrize("work", [CODES, replace(ONE, dtype="int8", left=1, right=1)])
def test_one_row_more_never_costs_as_much_as_all_before_it(work, chip):
    """M4 Max: nine rows in 4 bits took twice the time of eight."""
    if work.dtype not in hardware.get(chip).formats:
        return
    times = [kernel_time(replace(work, m=m), chip) for m in range(1, 33)]
    pairs = enumerate(pairwise(times), 1)
    assert all(after < before * (1 + 1 / m) for m, (before, after) in pairs)


@pytest.mark.rows("chip", ["m1-max", "rtx-3090", "mi300x", "h100-sxm", "dgx-spark"])
def test_it_takes_no_less_than_its_bytes_and_its_multiply_adds(chip):
    device, before = hardware.get(chip), 0.0
    for m in range(1, 9):
        for work in (replace(ONE, m=m, dtype="fp32"), replace(CODES, m=m)):
            time = few_rows_time(work, chip)
            assert time > work.bytes / device.memory_bandwidth.si
            assert time > work.operations / device.peak("fp32").si
        assert time > before  # of more rows
        before = time


@pytest.mark.rows(
    "work, chip, rows",
    [
        (product(m=1, n=3584, k=4096, dtype="fp8"), "mi300x", 16),
        (product(m=1, n=768, k=4096), "b200-sxm", 32),
    ],
)
def test_a_row_more_that_fills_idle_units_takes_no_less(work, chip, rows):
    """A row of tiles more draws more bandwidth: 17 rows took less time than 16, with
    the share of units that was once fitted.
    """
    with efficiency_override({"blocks_per_unit": 0.31, "join_sharpness": 1.96}):
        falls = [tiled(replace(work, m=m), chip) for m in (rows, rows + 1)]
        times = [kernel_time(replace(work, m=m), chip) for m in range(1, 131)]
    assert falls[0] > falls[1]
    assert all(one <= more * (1 + 1e-12) for one, more in pairwise(times))

"""Reduce, scan, sort: results, work and depth, bytes; and waits that would not end."""

import math

import numpy as np
import pytest

from stacklib import gpu
from stacklib.gpu.lang.values import KernelError
from stacklib.kernels.rows import primitives
from stacklib.kernels.rows.primitive_kernels import (
    BLOCK,
    digit_scatter,
    measured,
    radix_sort,
    scan_work_efficient,
)
from stacklib.quantity import UnknownName


@pytest.mark.rows("name", primitives.PRIMITIVES)
@pytest.mark.rows("n", [32, 256, 1024])
def test_work_and_depth_are_what_the_machine_counts(name, n):
    found = measured(name, n)
    assert found.counted_work == found.work
    assert found.counted_depth == found.depth
    assert found.work >= primitives.primitive(name).least_work(n)


def test_the_work_efficient_scan_does_less_and_waits_longer():
    few, many = measured("scan-work-efficient", 1024), measured("scan", 1024)
    assert few.work < many.work / 3 and few.depth > 2 * many.depth
    # And it issues fewer instructions; that its barriers take longer is in the time.
    assert few.instructions < many.instructions


@pytest.mark.rows("n", [32, 128, 1024])
def test_the_work_efficient_scan_is_exclusive(n):
    src = np.random.default_rng(n).integers(-50, 50, 2 * n)
    ran = gpu.launch(
        scan_work_efficient, 2, n, "h100-sxm", src, gpu.empty(2 * n, np.int64)
    )
    rows = src.reshape(2, n)
    assert (ran.results["dst"].reshape(2, n) == rows.cumsum(1) - rows).all()


@pytest.mark.rows(
    ("n", "bits", "digit"), [(1, 1, 1), (63, 5, 4), (64, 8, 8), (65, 6, 4), (200, 7, 4)]
)
def test_a_radix_sort_sorts_and_moves_what_the_formula_says(n, bits, digit):
    keys = np.random.default_rng(n).integers(0, 2**bits, n)
    done = radix_sort(keys, bits=bits, digit=digit)
    assert (done.keys == np.sort(keys)).all()
    passes, blocks = math.ceil(bits / digit), -(-n // BLOCK)
    counts = passes * 2**digit * blocks  # written
    now = keys
    for shift in range(0, bits, digit):  # read: one a digit that a warp holds
        mine = (now >> shift) % 2**digit
        counts += sum(len(set(mine[i : i + 32].tolist())) for i in range(0, n, 32))
        now = now[np.argsort(mine, kind="stable")]
    moved = primitives.sort_bytes(n, key_bits=bits, digit_bits=digit, width=8)
    assert primitives.sort_bytes(n) == 3 * n * 4 * (32 / 8)  # as they are used
    assert primitives.sort_bytes(np.int32(2**30)) == 3 * 2**30 * 4 * 4
    assert done.asked == moved + 8 * counts
    assert len(done.reports) == 2 * passes


def test_a_pass_keeps_the_order_of_equals():
    # Keys whose upper bits tell where they came from: one pass by the lower ones.
    keys = np.array([3, 1, 3, 0, 1, 3]) + 16 * np.arange(6)
    counts = np.array([[np.sum(keys % 16 == d)] for d in range(16)])
    starts = counts.ravel().cumsum().reshape(16, 1) - counts
    sizes = (len(keys), 0, 16)
    ran = gpu.launch(
        digit_scatter, 1, 64, "h100-sxm", keys, gpu.empty(6, np.int64), starts, *sizes
    )
    assert ran.results["dst"].tolist() == [48, 17, 65, 3, 35, 83]
    # The planted fault: starts that are off by one leave the array.
    with pytest.raises(KernelError):
        gpu.launch(
            digit_scatter,
            1,
            64,
            "h100-sxm",
            keys,
            gpu.empty(6, np.int64),
            starts + 1,
            *sizes,
        )


@pytest.mark.rows(
    ("call", "error", "words"),
    [
        (lambda: measured("scann", 32), UnknownName, "scan"),
        (lambda: measured("scan", 48), ValueError, "n = 48"),
        (lambda: radix_sort([], bits=4), ValueError, r"\(0,\)"),
        (lambda: radix_sort([16], bits=4), ValueError, "from 16 to 16"),
        (lambda: radix_sort([-1], bits=4), ValueError, "from -1"),
        (lambda: radix_sort([1], bits=12, digit=12), ValueError, "12 bits"),
    ],
)
def test_bad_input_is_named(call, error, words):
    with pytest.raises(error, match=words):
        call()

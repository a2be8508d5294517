"""A thousand kernels, with all that the language has, against one thread at a time."""

import numpy as np
import pytest

from .kernel_texts import Writer
from .test_machine import same, written

THREADS = 40


def leaves_the_same(seed: int, deep: int) -> None:
    """Run the kernel of a seed both ways; its branches and loops stand so deep."""
    text = Writer(seed, deep).text()
    kernel = written(text, "kernel")
    src = np.arange(THREADS, dtype=np.int32) * 7 % 13
    out, count = np.arange(THREADS, dtype=np.int64), np.zeros(THREADS, np.int32)
    total, wide = np.zeros(7, np.int32), np.zeros(4 * THREADS, np.int32)
    try:
        same(kernel, 1, THREADS, src, out, count, total, wide)
    except Exception as wrong:
        raise AssertionError(text) from wrong


@pytest.mark.filterwarnings("ignore:overflow encountered")
@pytest.mark.rows("seed", range(100), drawn=30)
def test_random_kernels_leave_what_one_thread_leaves(seed):
    leaves_the_same(seed, 1)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:overflow encountered")
@pytest.mark.rows("seed", range(1000))
def test_deep_random_kernels_leave_what_one_thread_leaves(seed):
    leaves_the_same(seed, 3)

"""A thousand kernels, with all that the language has, against one thread at a time."""

from __future__ import annotations

import numpy as np
import pytest

from .kernel_texts import Writer
from .test_machine import same, written

# Seeds, and how deep branches and loops stand in one another.
SHARES = [(range(100), 1), pytest.param((range(1000), 3), marks=pytest.mark.slow)]
THREADS = 40


def leaves_the_same(seed: int, deep: int) -> None:
    """Run the kernel of a seed both ways."""
    kernel = written(Writer(seed, deep).text(), "kernel")
    src = np.arange(THREADS, dtype=np.int32) * 7 % 13
    out, count = np.arange(THREADS, dtype=np.int64), np.zeros(THREADS, np.int32)
    total, wide = np.zeros(7, np.int32), np.zeros(4 * THREADS, np.int32)
    same(kernel, 1, THREADS, src, out, count, total, wide)


@pytest.mark.filterwarnings("ignore:overflow encountered")
@pytest.mark.parametrize("share", SHARES, ids=["quick", "all"])
def test_random_kernels_leave_what_one_thread_leaves(share):
    seeds, deep = share
    for seed in seeds:
        try:
            leaves_the_same(seed, deep)
        except Exception as wrong:
            raise AssertionError(f"seed {seed}\n{Writer(seed, deep).text()}") from wrong

"""A thousand kernels, with all that the language has, against one thread at a time."""

from __future__ import annotations

import numpy as np
import pytest

from .kernel_texts import Writer
from .test_machine import same, written

SHARES = [range(100), pytest.param(range(100, 1000), marks=pytest.mark.slow)]


@pytest.mark.parametrize("seeds", SHARES, ids=["quick", "all"])
def test_random_kernels_leave_what_one_thread_leaves(seeds):
    for seed in seeds:
        kernel = written(Writer(seed).text(), "kernel")
        src = np.arange(40, dtype=np.int32) * 7 % 13
        try:
            same(kernel, 1, 40, src, np.arange(40, dtype=np.int64))
        except AssertionError as wrong:
            raise AssertionError(f"seed {seed}\n{Writer(seed).text()}") from wrong

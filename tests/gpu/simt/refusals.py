"""What a launch says that goes wrong."""

import time

import pytest

from stacklib import gpu
from stacklib.gpu import KernelError


def refused(kernel, *args, block=64, grid=1, words=(), device="h100", **more):
    """What a launch says, at once."""
    before = time.process_time()
    with pytest.raises(KernelError) as wrong:
        gpu.launch(kernel, grid, block, device, *args, **more)
    said = str(wrong.value)
    for word in words:
        assert word in said, said
    assert time.process_time() - before < 5
    return said

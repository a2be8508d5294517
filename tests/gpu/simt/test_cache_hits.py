"""The caches under a launch: what goes back was dirty, and stores read nothing."""

import numpy as np
import pytest

from stacklib import hardware
from stacklib.gpu.simt import cache_hits
from stacklib.gpu.simt.requests import KINDS, Traffic
from stacklib.gpu.vm import state as at


def asked(kind: str, sectors) -> Traffic:
    """A launch whose every warp asks for 32 sectors."""
    log = np.zeros((len(sectors) // 32, at.REQUEST_COLUMNS), np.int64)
    log[:, at.R_WARP], log[:, at.R_COUNT] = np.arange(len(log)), 32
    log[:, at.R_FIRST] = 32 * np.arange(len(log))
    log[:, at.R_KIND] = KINDS.index(kind)
    return Traffic(log=log, touched=sectors)


@pytest.mark.rows("key", ["h100-sxm", "a100-sxm-80gb", "rtx-4090"])
@pytest.mark.rows("stride", [1, 4])  # in sectors
def test_stores_write_the_sectors_they_made_dirty(key, stride):
    device, count = hardware.get(key), 2**19
    assert cache_hits._l2(device).sets % 2  # strides spread
    sectors = stride * np.arange(count)
    found = cache_hits.through(asked("store", sectors), device, 4, 16, 0)
    assert found.read == 0 and found.dirtied == 32 * count
    # With one dirty sector of the four of a line, a quarter of a full L2 is dirty.
    inside = found.dirtied - found.written
    assert 0 <= inside <= device.l2_capacity.si / stride


def test_an_atomic_reads_what_it_adds_to():
    device = hardware.get("h100-sxm")
    found = cache_hits.through(asked("atomic", np.arange(4096)), device, 4, 16, 0)
    assert found.read == found.dirtied == 32 * 4096

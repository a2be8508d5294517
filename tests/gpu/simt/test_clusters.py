"""Clusters: blocks that reach each other's shared memory."""

import re

import numpy as np
import pytest

from stacklib import gpu

from .refusals import refused

F32 = np.float32


def rotated(t, src, dst):
    """Each block reads its neighbour's memory."""
    own = t.shared(64)
    i, rank = t.thread.x, t.cluster_rank
    own[i] = src[t.block.x * 64 + i]
    t.cluster_sync()
    other = t.remote(own, (rank + 1) % 4)
    dst[t.block.x * 64 + i] = other[63 - i]
    t.cluster_sync()


def test_blocks_read_each_other():
    src = np.arange(512, dtype=F32)
    ran = gpu.launch(rotated, 8, 64, "h100", src, gpu.empty(512), cluster=4)
    blocks = src.reshape(2, 4, 64)
    expected = np.roll(blocks, -1, axis=1)[..., ::-1].ravel()
    np.testing.assert_array_equal(ran.results["dst"], expected)


def no_first_sync(t, out):
    own = t.shared(32)
    own[t.lane] = 1.0
    out[t.block.x * 32 + t.lane] = t.remote(own, t.cluster_rank ^ 1)[t.lane]


def no_last_sync(t, out):
    own = t.shared(32)
    own[t.lane] = 1.0
    t.cluster_sync()
    if t.cluster_rank == 1:
        for _ in range(4):
            t.syncwarp()
        out[t.block.x * 32 + t.lane] = t.remote(own, 0)[t.lane]


def unordered_blocks(t, out):
    own = t.shared(32)
    own[t.lane] = 1.0
    t.cluster_sync()
    own[t.lane] = 2.0
    out[t.block.x * 32 + t.lane] = t.remote(own, t.cluster_rank ^ 1)[t.lane]
    t.cluster_sync()


def no_such_rank(t, out):
    own = t.shared(32)
    t.remote(own, t.lane)[t.lane] = 1.0


def one_block_only(t, out):
    if t.cluster_rank == 0:
        t.cluster_sync()
    out[t.block.x * 32 + t.lane] = 1.0


@pytest.mark.rows(
    ("kernel", "words"),
    [
        (no_first_sync, ["block 1 of the cluster, which has not begun"]),
        (no_last_sync, ["block 0 of the cluster, which has ended"]),
        (unordered_blocks, ["shared array 1[0]", "lane 0"]),
        (no_such_rank, ["block 2 of a cluster of 2", "lane 2"]),
        (one_block_only, ["deadlock", "cluster_sync()", "block 1 (it has ended)"]),
    ],
)
def test_clusters_gone_wrong(kernel, words):
    said = refused(kernel, gpu.empty(64), block=32, grid=2, cluster=2, words=words)
    assert re.search(r"line \d+", said)


def test_clusters_that_are_refused():
    out = gpu.empty(64)
    for more, word in (
        ({"cluster": 3}, "no whole clusters"),
        ({"cluster": 16}, "at most 8"),
    ):
        with pytest.raises(ValueError, match=word):
            gpu.launch(rotated, 8, 64, "h100", out, out, **more)
    with pytest.raises(ValueError, match=r"compute capability 9\.0"):
        gpu.launch(rotated, 8, 64, "rtx-4090", out, out, cluster=4)

"""Kernels whose warps wait for each other: rings, look-back, clusters, boxes."""

import numpy as np

from .case import Case, normal, rng, zeros


def gemm_ring(t, a, b, c, k):
    """A warp loads stages of both factors, four warps multiply: 16x16 of a block."""
    left, right = t.shared((3, 16, 8)), t.shared((3, 8, 16))
    full = [t.mbarrier(32) for _ in range(3)]
    empty = [t.mbarrier(128) for _ in range(3)]
    lane, rounds = t.lane, k // 8
    row, col = t.block.y * 16, t.block.x * 16
    if t.warp == 4:
        for n in range(rounds):
            s = n % 3
            empty[s].wait(n // 3 % 2 ^ 1)
            for i in range(lane, 128, 32):
                left[s, i // 8, i % 8] = a[row + i // 8, n * 8 + i % 8]
                right[s, i // 16, i % 16] = b[n * 8 + i // 16, col + i % 16]
            full[s].arrive()
    else:
        x, y = t.thread.x % 16, t.thread.x // 16
        low = high = 0.0
        for n in range(rounds):
            s = n % 3
            full[s].wait(n // 3 % 2)
            for d in range(8):
                low = t.fma(left[s, y, d], right[s, d, x], low)
                high = t.fma(left[s, y + 8, d], right[s, d, x], high)
            empty[s].arrive()
        c[row + y, col + x] = low
        c[row + y + 8, col + x] = high


def sgemm_double_buffered(t, a, b, c, k):
    """The next tiles come by cp.async while these are multiplied."""
    left, right = t.shared((2, 16, 16)), t.shared((2, 16, 16))
    x, y = t.thread.x, t.thread.y
    row, col = t.block.y * 16 + y, t.block.x * 16 + x
    tiles = k // 16
    t.copy_async(left, (0, y, x), a, (row, x))
    t.copy_async(right, (0, y, x), b, (y, col))
    t.commit()
    total = 0.0
    for n in range(tiles):
        s = n % 2
        if n + 1 < tiles:
            t.copy_async(left, (1 - s, y, x), a, (row, n * 16 + 16 + x))
            t.copy_async(right, (1 - s, y, x), b, (n * 16 + 16 + y, col))
        t.commit()
        t.wait_group(1)
        t.sync()
        for d in range(16):
            total = t.fma(left[s, y, d], right[s, d, x], total)
        t.sync()
    c[row, col] = total


def split_k_last_block(t, a, b, partial, done, out, k):
    """The last block to come adds what all have left in memory."""
    i, part = t.thread.x, t.block.x
    last = t.shared(1, np.int32)
    total = 0.0
    for n in range(k):
        total = t.fma(a[part * k + n, i], b[part * k + n], total)
    partial[part, i] = total
    t.fence()
    t.sync()
    if i == 0:
        last[0] = t.atomic_add(done, 0, 1)
    t.sync()
    if last[0] == t.grid_dim.x - 1:
        t.fence()
        total = 0.0
        for p in range(t.grid_dim.x):
            total += partial[p, i]
        out[i] = total


def scan_decoupled(t, x, y, sums, flags, ticket):
    """A single pass: a block looks back at sums (flag 1) as far as a prefix (2)."""
    s, mine = t.shared(64, np.int32), t.shared(2, np.int32)
    i = t.thread.x
    if i == 0:
        mine[0] = t.atomic_add(ticket, 0, 1)
    t.sync()
    block = mine[0]
    s[i] = x[block * 64 + i]
    t.sync()
    step = 1
    while step < 64:
        before = 0
        if i >= step:
            before = s[i - step]
        t.sync()
        s[i] = s[i] + before
        t.sync()
        step *= 2
    if i == 0:
        whole, before = s[63], 0
        sums[block, 0] = whole
        t.store_release(flags, block, 1 if block else 2)
        at = block - 1
        while at >= 0:
            state = t.load_acquire(flags, at)
            if state == 1:
                before += sums[at, 0]
                at -= 1
            elif state == 2:
                before += sums[at, 1 if at else 0]
                at = -1
        if block:
            sums[block, 1] = before + whole
            t.store_release(flags, block, 2)
        mine[1] = before
    t.sync()
    y[block * 64 + i] = s[i] + mine[1]


def cluster_sum(t, x, y):
    """Each block adds its part, the first of the cluster all of them."""
    own = t.shared(1)
    i, rank = t.thread.x, t.cluster_rank
    value = x[t.block.x * 32 + i]
    for k in (16, 8, 4, 2, 1):
        value += t.shuffle_xor(value, k)
    if i == 0:
        own[0] = value
    t.cluster_sync()
    if rank == 0 and i == 0:
        total = 0.0
        for r in range(4):
            total += t.remote(own, r)[0]
        y[t.block.x // 4] = total
    t.cluster_sync()


def histogram_of_cluster(t, x, bins, n):
    """Bins across the blocks of a cluster, each in shared memory."""
    own = t.shared(64, np.int32)
    i = t.thread.x
    own[i] = 0
    t.cluster_sync()
    at = t.block.x * 64 + i
    while at < n:
        t.atomic_add(t.remote(own, x[at] // 64), x[at] % 64, 1)
        at += t.grid_dim.x * 64
    t.cluster_sync()
    t.atomic_add(bins, t.cluster_rank * 64 + i, own[i])


def transpose_by_boxes(t, src, dst):
    """A tile comes as one box, its elements leave transposed."""
    tile = t.shared((32, 32))
    bar = t.mbarrier(1)
    x, y = t.thread.x, t.thread.y
    row, col = t.block.y * 32, t.block.x * 32
    if x == 0 and y == 0:
        bar.expect(32 * 32 * 4)
        t.bulk_copy(tile, src, (row, col), (32, 32), bar)
    bar.wait(0)
    for k in range(0, 32, 4):
        if col + y + k < dst.shape[0] and row + x < dst.shape[1]:
            dst[col + y + k, row + x] = tile[x, y + k]


def stencil_ring_of_boxes(t, src, dst, rows):
    """A thread asks for rows ahead, four warps add three neighbours of each."""
    line = t.shared((4, 136))
    full = [t.mbarrier(1) for _ in range(4)]
    empty = [t.mbarrier(128) for _ in range(4)]
    i = t.thread.x
    if t.warp == 4:
        if t.lane == 0:
            for n in range(rows):
                empty[n % 4].wait(n // 4 % 2 ^ 1)
                full[n % 4].expect(136 * 4)
                t.bulk_copy(line[n % 4], src, (n, -4), (1, 136), full[n % 4])
    else:
        for n in range(rows):
            s = n % 4
            full[s].wait(n // 4 % 2)
            dst[n, i] = line[s, i + 3] + line[s, i + 4] + line[s, i + 5]
            empty[s].arrive()


def cases() -> list[Case]:
    a, b = normal(70, 32, 40), normal(71, 40, 32)
    wide, tall = normal(72, 32, 48), normal(73, 48, 32)
    x, weights = normal(74, 64, 32), normal(75, 64)
    scanned = rng(76).integers(0, 50, 640).astype(np.int32)
    summed = rng(77).integers(0, 9, 256).astype(np.float32)
    counted = rng(78).integers(0, 256, 3000).astype(np.int32)
    square, strip = normal(79, 40, 64), normal(80, 11, 128)
    padded = np.pad(strip, ((0, 0), (1, 1)))
    return [
        Case(gemm_ring, (2, 2), 160, (a, b, zeros(32, 32), 40), {"c": a @ b}, 1e-5),
        Case(
            sgemm_double_buffered,
            *((2, 2), (16, 16), (wide, tall, zeros(32, 32), 48)),
            {"c": wide @ tall},
            1e-5,
        ),
        Case(
            split_k_last_block,
            *(8, 32),
            (x, weights, zeros(8, 32), zeros(1, dtype=np.int32), zeros(32), 8),
            {"out": weights @ x},
            1e-5,
        ),
        Case(
            scan_decoupled,
            *(10, 64),
            (
                *(scanned, zeros(640, dtype=np.int32), zeros(10, 2, dtype=np.int32)),
                *(zeros(10, dtype=np.int32), zeros(1, dtype=np.int32)),
            ),
            {"y": np.cumsum(scanned)},
        ),
        Case(
            *(cluster_sum, 8, 32, (summed, zeros(2))),
            {"y": summed.reshape(2, 128).sum(1)},
            more={"cluster": 4},
        ),
        Case(
            *(histogram_of_cluster, 8, 64, (counted, zeros(256, dtype=np.int32), 3000)),
            {"bins": np.bincount(counted, minlength=256)},
            more={"cluster": 4},
        ),
        Case(
            *(transpose_by_boxes, (2, 2), (32, 4), (square, zeros(64, 40))),
            {"dst": square.T},
        ),
        Case(
            *(stencil_ring_of_boxes, 1, 160, (strip, zeros(11, 128), 11)),
            {"dst": padded[:, :-2] + padded[:, 1:-1] + padded[:, 2:]},
            1e-6,
        ),
    ]

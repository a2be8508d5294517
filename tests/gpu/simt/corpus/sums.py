"""Sums, scans, counts and choices, as CUDA users write them."""

import numpy as np

from .case import Case, normal, rng, zeros


def axpy_half(t, a, x, y, n):
    i = t.block.x * t.block_dim.x + t.thread.x
    if i < n:
        y[i] = a * x[i] + y[i]


def reduce_divergent(t, src, out):
    s = t.shared(128)
    i = t.thread.x
    s[i] = src[t.block.x * 128 + i]
    t.sync()
    k = 1
    while k < 128:
        if i % (2 * k) == 0:
            s[i] += s[i + k]
        t.sync()
        k *= 2
    if i == 0:
        out[t.block.x] = s[0]


def reduce_grid_stride(t, src, out, n):
    s = t.shared(64)
    i = t.block.x * 64 + t.thread.x
    total = 0.0
    while i < n:
        total += src[i]
        i += 64 * t.grid_dim.x
    s[t.thread.x] = total
    t.sync()
    for k in (32, 16, 8, 4, 2, 1):
        if t.thread.x < k:
            s[t.thread.x] += s[t.thread.x + k]
        t.sync()
    if t.thread.x == 0:
        t.atomic_add(out, 0, s[0])


def reduce_by_warps(t, src, out):
    part = t.shared(8)
    value = src[t.block.x * 256 + t.thread.x]
    for k in (16, 8, 4, 2, 1):
        value += t.shuffle_down(value, k)
    if t.lane == 0:
        part[t.warp] = value
    t.sync()
    if t.warp == 0:
        value = part[t.lane] if t.lane < 8 else 0.0
        for k in (4, 2, 1):
            value += t.shuffle_down(value, k, 8)
        if t.lane == 0:
            out[t.block.x] = value


def largest_and_where(t, src, best, place, n):
    s, at = t.shared(128), t.shared(128, np.int32)
    i = t.thread.x
    s[i] = src[i]
    at[i] = i
    for k in range(128, n, 128):
        if src[i + k] > s[i]:
            s[i] = src[i + k]
            at[i] = i + k
    t.sync()
    k = 64
    while k > 0:
        if i < k and s[i + k] > s[i]:
            s[i] = s[i + k]
            at[i] = at[i + k]
        t.sync()
        k //= 2
    if i == 0:
        best[0] = s[0]
        place[0] = at[0]


def scan_doubling(t, src, dst):
    s = t.shared((2, 128), np.int32)
    i, at = t.thread.x, 0
    s[0, i] = src[t.block.x * 128 + i]
    t.sync()
    k = 1
    while k < 128:
        at = 1 - at
        if i >= k:
            s[at, i] = s[1 - at, i] + s[1 - at, i - k]
        else:
            s[at, i] = s[1 - at, i]
        t.sync()
        k *= 2
    dst[t.block.x * 128 + i] = s[at, i]


def scan_work_efficient(t, src, dst):
    """Up a tree and down again (G. Blelloch, 1990); sums before each element."""
    s = t.shared(128, np.int32)
    i = t.thread.x
    s[2 * i] = src[2 * i]
    s[2 * i + 1] = src[2 * i + 1]
    apart, d = 1, 64
    while d > 0:
        t.sync()
        if i < d:
            left, right = apart * (2 * i + 1) - 1, apart * (2 * i + 2) - 1
            s[right] += s[left]
        apart *= 2
        d //= 2
    if i == 0:
        s[127] = 0
    d = 1
    while d < 128:
        apart //= 2
        t.sync()
        if i < d:
            left, right = apart * (2 * i + 1) - 1, apart * (2 * i + 2) - 1
            kept = s[left]
            s[left] = s[right]
            s[right] += kept
        d *= 2
    t.sync()
    dst[2 * i] = s[2 * i]
    dst[2 * i + 1] = s[2 * i + 1]


def scan_by_shuffles(t, src, dst):
    totals = t.shared(4, np.int32)
    value = src[t.thread.x]
    for k in (1, 2, 4, 8, 16):
        before = t.shuffle_up(value, k)
        if t.lane >= k:
            value += before
    if t.lane == 31:
        totals[t.warp] = value
    t.sync()
    for w in range(3):
        if t.warp > w:
            value += totals[w]
    dst[t.thread.x] = value


def histogram_of_blocks(t, src, bins, n):
    own = t.shared(32, np.int32)
    if t.thread.x < 32:
        own[t.thread.x] = 0
    t.sync()
    i = t.block.x * t.block_dim.x + t.thread.x
    while i < n:
        t.atomic_add(own, src[i], 1)
        i += t.block_dim.x * t.grid_dim.x
    t.sync()
    if t.thread.x < 32:
        t.atomic_add(bins, t.thread.x, own[t.thread.x])


def histogram_matched(t, src, bins):
    """Lanes with one value add once together."""
    value = src[t.block.x * 64 + t.thread.x]
    same = t.match_any(value)
    if t.ffs(same) - 1 == t.lane:
        t.atomic_add(bins, value, t.popc(same))


def compacted(t, src, dst, count):
    """Even numbers, in order, by votes (a warp)."""
    value = src[t.thread.x]
    keep = value % 2 == 0
    mask = t.ballot(keep)
    if keep:
        dst[t.popc(mask & ((1 << t.lane) - 1))] = value
    if t.lane == 0:
        count[0] = t.popc(mask)


def top_four(t, src, dst, columns):
    """The four largest of a row a thread, by insertion."""
    best = [-1e30, -1e30, -1e30, -1e30]
    row = t.thread.x
    for i in range(columns):
        value = src[row, i]
        for j in range(4):
            if value > best[j]:
                kept = best[j]
                best[j] = value
                value = kept
    for j in range(4):
        dst[row, j] = best[j]


def split_k(t, a, b, parts, done, out, k):
    """A dot product in parts; the block that ends last adds them."""
    s, last = t.shared(64), t.shared(1, np.int32)
    i = t.thread.x
    total = 0.0
    for j in range(0, k, 64 * 4):
        at = j + t.block.x * 64 + i
        total += a[at] * b[at]
    s[i] = total
    t.sync()
    for half in (32, 16, 8, 4, 2, 1):
        if i < half:
            s[i] += s[i + half]
        t.sync()
    if i == 0:
        parts[t.block.x] = s[0]
        t.fence()
        last[0] = t.atomic_add(done, 0, 1)
    t.sync()
    if last[0] == 3 and i == 0:
        t.fence()
        total = 0.0
        for j in range(4):
            total += parts[j]
        out[0] = total


def cases():
    """Every kernel with its launch."""
    x16 = rng(1).random(200).astype(np.float16)
    y16 = rng(2).random(200).astype(np.float16)
    x, y = normal(3, 1024), normal(4, 1024)
    whole = rng(5).integers(0, 100, 512, np.int32)
    few = rng(6).integers(0, 32, 1000, np.int32)
    table = normal(7, 32, 20)
    one = [whole[:128].cumsum() - whole[:128]]
    even = whole[:32][whole[:32] % 2 == 0]
    compact = np.zeros(32, np.int32)
    compact[: even.size] = even
    half = np.float16(2) * x16 + y16
    yield Case(axpy_half, 2, 128, (2.0, x16, y16, 200), {"y": half}, 2e-3)
    sums = x.reshape(-1, 128).sum(axis=1)
    yield Case(reduce_divergent, 8, 128, (x, zeros(8)), {"out": sums}, 1e-5)
    yield Case(
        reduce_grid_stride,
        3,
        64,
        (x, zeros(1), 1000),
        {"out": x[:1000].sum()[None]},
        1e-5,
    )
    sums = x.reshape(-1, 256).sum(axis=1)
    yield Case(reduce_by_warps, 4, 256, (x, zeros(4)), {"out": sums}, 1e-5, lanes=True)
    best = {"best": x.max()[None], "place": np.array([x.argmax()])}
    out = zeros(1), zeros(1, dtype=np.int32)
    yield Case(largest_and_where, 1, 128, (x, *out, 1024), best)
    scanned = whole.reshape(-1, 128).cumsum(axis=1).reshape(-1)
    empty = zeros(512, dtype=np.int32)
    yield Case(scan_doubling, 4, 128, (whole, empty), {"dst": scanned})
    empty = zeros(128, dtype=np.int32)
    yield Case(scan_work_efficient, 1, 64, (whole[:128].copy(), empty), {"dst": one[0]})
    yield Case(
        scan_by_shuffles,
        1,
        128,
        (whole[:128].copy(), empty.copy()),
        {"dst": whole[:128].cumsum()},
        lanes=True,
    )
    counts = np.bincount(few, minlength=32)
    bins = zeros(32, dtype=np.int32)
    yield Case(histogram_of_blocks, 3, 64, (few, bins, 1000), {"bins": counts})
    counts = np.bincount(few[:256], minlength=32)
    yield Case(
        histogram_matched,
        4,
        64,
        (few[:256].copy(), bins.copy()),
        {"bins": counts},
        lanes=True,
    )
    told = {"dst": compact, "count": np.array([even.size])}
    out = zeros(32, dtype=np.int32), zeros(1, dtype=np.int32)
    yield Case(compacted, 1, 32, (whole[:32].copy(), *out), told, lanes=True)
    best = -np.sort(-table, axis=1)[:, :4]
    yield Case(top_four, 1, 32, (table, zeros(32, 4), 20), {"dst": best})
    out = zeros(4), zeros(1, dtype=np.int32), zeros(1)
    yield Case(split_k, 4, 64, (x, y, *out, 1024), {"out": np.array([x @ y])}, 1e-4)

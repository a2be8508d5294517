"""Products, normal forms and attention."""

import numpy as np

from .case import Case, normal, rng, zeros


def transpose_padded(t, src, dst):
    tile = t.shared((16, 17))
    x, y = t.thread.x, t.thread.y
    tile[y, x] = src[t.block.y * 16 + y, t.block.x * 16 + x]
    t.sync()
    dst[t.block.x * 16 + y, t.block.y * 16 + x] = tile[x, y]


def transpose_swizzled(t, src, dst):
    tile = t.shared((16, 16))
    x, y = t.thread.x, t.thread.y
    tile[y, x ^ y] = src[t.block.y * 16 + y, t.block.x * 16 + x]
    t.sync()
    dst[t.block.x * 16 + y, t.block.y * 16 + x] = tile[x, x ^ y]


def sgemm_plain(t, a, b, c, n, k):
    row = t.block.y * 8 + t.thread.y
    col = t.block.x * 8 + t.thread.x
    total = 0.0
    for i in range(k):
        total = t.fma(a[row, i], b[i, col], total)
    c[row, col] = total


def sgemm_tiled(t, a, b, c, n, k):
    left, right = t.shared((8, 8)), t.shared((8, 8))
    x, y = t.thread.x, t.thread.y
    total = 0.0
    for first in range(0, k, 8):
        left[y, x] = a[t.block.y * 8 + y, first + x]
        right[y, x] = b[first + y, t.block.x * 8 + x]
        t.sync()
        for i in range(8):
            total = t.fma(left[y, i], right[i, x], total)
        t.sync()
    c[t.block.y * 8 + y, t.block.x * 8 + x] = total


def sgemm_registers(t, a, b, c, n, k):
    """Tiles of 4x4 a thread, 16 threads to a tile of 16x16."""
    left, right = t.shared((16, 8)), t.shared((8, 16))
    x = t.thread.x
    row, col = x // 4 * 4, x % 4 * 4
    acc = [[0.0] * 4 for _ in range(4)]
    for first in range(0, k, 8):
        for i in range(x, 128, 16):
            left[i // 8, i % 8] = a[t.block.y * 16 + i // 8, first + i % 8]
            right[i // 16, i % 16] = b[first + i // 16, t.block.x * 16 + i % 16]
        t.sync()
        for d in range(8):
            for i in range(4):
                for j in range(4):
                    acc[i][j] = t.fma(left[row + i, d], right[d, col + j], acc[i][j])
        t.sync()
    for i in range(4):
        for j in range(4):
            c[t.block.y * 16 + row + i, t.block.x * 16 + col + j] = acc[i][j]


def spmv_scalar(t, starts, columns, values, x, y, rows):
    row = t.block.x * 32 + t.thread.x
    if row < rows:
        total = 0.0
        i = starts[row]
        while i < starts[row + 1]:
            total += values[i] * x[columns[i]]
            i += 1
        y[row] = total


def spmv_vector(t, starts, columns, values, x, y):
    """A warp a row."""
    total = 0.0
    i = starts[t.block.x] + t.lane
    while i < starts[t.block.x + 1]:
        total += values[i] * x[columns[i]]
        i += 32
    for k in (16, 8, 4, 2, 1):
        total += t.shuffle_xor(total, k)
    if t.lane == 0:
        y[t.block.x] = total


def matvec_local(t, a, x, y, n):
    """A thread's own copy of its row."""
    own = t.local(8, np.float32)
    for i in range(8):
        own[i] = a[t.thread.x, i]
    total = 0.0
    for i in range(8):
        total += own[i] * x[i]
    y[t.thread.x] = total


def softmax_three_passes(t, src, dst, columns):
    row = t.thread.x
    top = -1e30
    for i in range(columns):
        top = t.max(top, src[row, i])
    total = 0.0
    for i in range(columns):
        total += t.exp(src[row, i] - top)
    for i in range(columns):
        dst[row, i] = t.exp(src[row, i] - top) / total


def softmax_of_block(t, src, dst, columns):
    s = t.shared(64)
    i, row = t.thread.x, t.block.x
    s[i] = src[row, i]
    t.sync()
    for k in (32, 16, 8, 4, 2, 1):
        if i < k:
            s[i] = t.max(s[i], s[i + k])
        t.sync()
    top = s[0]
    t.sync()
    mine = t.exp(src[row, i] - top)
    s[i] = mine
    t.sync()
    for k in (32, 16, 8, 4, 2, 1):
        if i < k:
            s[i] += s[i + k]
        t.sync()
    dst[row, i] = mine / s[0]


def softmax_online(t, src, dst, columns):
    """A warp a row, largest and sum in one pass (M. Milakov, N. Gimelshein, 2018)."""
    row = t.block.x
    top, total = -1e30, 0.0
    for i in range(0, columns, 32):
        value = src[row, i + t.lane]
        more = t.max(top, value)
        total = total * t.exp(top - more) + t.exp(value - more)
        top = more
    for k in (16, 8, 4, 2, 1):
        other, also = t.shuffle_xor(top, k), t.shuffle_xor(total, k)
        more = t.max(top, other)
        total = total * t.exp(top - more) + also * t.exp(other - more)
        top = more
    for i in range(0, columns, 32):
        dst[row, i + t.lane] = t.exp(src[row, i + t.lane] - top) / total


def layer_norm(t, src, scale, shift, dst, columns):
    sums, squares = t.shared(32), t.shared(32)
    i, row = t.thread.x, t.block.x
    total, square = 0.0, 0.0
    for j in range(0, columns, 32):
        value = src[row, i + j]
        total += value
        square += value * value
    sums[i] = total
    squares[i] = square
    t.sync()
    for k in (16, 8, 4, 2, 1):
        if i < k:
            sums[i] += sums[i + k]
            squares[i] += squares[i + k]
        t.sync()
    mean = sums[0] / columns
    spread = t.rsqrt(squares[0] / columns - mean * mean + 1e-5)
    for j in range(0, columns, 32):
        at = i + j
        dst[row, at] = (src[row, at] - mean) * spread * scale[at] + shift[at]


def flash_attention(t, q, k, v, out, keys, rows, wide):
    """A query a thread, tiles of ``rows`` keys and values (T. Dao and others, 2022)."""
    key, value = t.shared((rows, wide)), t.shared((rows, wide))
    i = t.thread.x
    row = t.block.x * rows + i
    mine = [q[row, d] for d in range(wide)]
    acc = [0.0] * wide
    top, total = -1e30, 0.0
    for first in range(0, keys, rows):
        for d in range(wide):
            key[i, d] = k[first + i, d]
            value[i, d] = v[first + i, d]
        t.sync()
        for j in range(rows):
            score = 0.0
            for d in range(wide):
                score = t.fma(mine[d], key[j, d], score)
            more = t.max(top, score)
            shrunk, weight = t.exp(top - more), t.exp(score - more)
            total = total * shrunk + weight
            for d in range(wide):
                acc[d] = acc[d] * shrunk + weight * value[j, d]
            top = more
        t.sync()
    for d in range(wide):
        out[row, d] = acc[d] / total


def softmax(x):
    """Of rows, in FP64."""
    made = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
    return made / made.sum(axis=1, keepdims=True)


def sparse():
    """A matrix of 70 rows in CSR with 0 to 60 entries a row."""
    counts = rng(11).integers(0, 61, 70)
    starts = np.concatenate([[0], counts.cumsum()]).astype(np.int32)
    columns = rng(12).integers(0, 90, starts[-1], np.int32)
    return starts, columns, normal(13, int(starts[-1]))


def cases():
    """Every kernel with its launch."""
    m, a, b = normal(1, 48, 32), normal(2, 32, 24), normal(3, 24, 32)
    for kernel in (transpose_padded, transpose_swizzled):
        yield Case(kernel, (2, 3), (16, 16), (m, zeros(32, 48)), {"dst": m.T})
    for kernel, grid, block in (
        (sgemm_plain, (4, 4), (8, 8)),
        (sgemm_tiled, (4, 4), (8, 8)),
        (sgemm_registers, (2, 2), 16),
    ):
        args = (a, b, zeros(32, 32), 32, 24)
        yield Case(kernel, grid, block, args, {"c": a @ b}, 1e-5)
    starts, columns, values = sparse()
    x, y = normal(14, 90), np.zeros(70)
    for row in range(70):
        part = slice(starts[row], starts[row + 1])
        y[row] = (values[part] * x[columns[part]]).sum()
    given = (starts, columns, values, x, zeros(70))
    yield Case(spmv_scalar, 3, 32, (*given, 70), {"y": y}, 1e-5)
    yield Case(spmv_vector, 70, 32, given, {"y": y}, 1e-5, lanes=True)
    tall, eight = normal(15, 40, 8), normal(16, 8)
    args = (tall, eight, zeros(40), 8)
    yield Case(matvec_local, 1, 40, args, {"y": tall @ eight}, 1e-5)
    rows, wide = normal(17, 32, 20), normal(18, 3, 64)
    yield Case(
        softmax_three_passes,
        1,
        32,
        (rows, zeros(32, 20), 20),
        {"dst": softmax(rows)},
        1e-5,
    )
    args = (wide, zeros(3, 64), 64)
    yield Case(softmax_of_block, 3, 64, args, {"dst": softmax(wide)}, 1e-5)
    args = (wide, zeros(3, 64), 64)
    yield Case(softmax_online, 3, 32, args, {"dst": softmax(wide)}, 1e-5, lanes=True)
    scale, shift = normal(19, 64), normal(20, 64)
    made = (wide - wide.mean(axis=1, keepdims=True)) / np.sqrt(
        wide.var(axis=1, keepdims=True) + 1e-5
    )
    args = (wide, scale, shift, zeros(3, 64), 64)
    yield Case(layer_norm, 3, 32, args, {"dst": made * scale + shift}, 1e-5)
    q, k, v = normal(21, 32, 8), normal(22, 48, 8), normal(23, 48, 8)
    out = softmax(q @ k.T) @ v
    args = (q, k, v, zeros(32, 8), 48, 16, 8)
    yield Case(flash_attention, 2, 16, args, {"out": out}, 1e-5)

"""Programs whose text runs here and in Triton; only the two imports differ there."""

from stacklib.gpu import tiles as tl
from stacklib.gpu.tiles import jit


@jit
def vector_add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    total = tl.load(x + at, mask=inside) + tl.load(y + at, mask=inside)
    tl.store(out + at, total, mask=inside)


@jit
def softmax_rows(x, out, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    values = tl.load(x + row * columns + at, mask=at < columns, other=-float("inf"))
    powers = tl.exp(values - tl.max(values, axis=0))
    share = powers / tl.sum(powers, axis=0)
    tl.store(out + row * columns + at, share, mask=at < columns)


@jit
def layer_norm(x, weight, bias, out, mean, rstd, n, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    x += row * n
    out += row * n
    total = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, n, BLOCK):
        at = start + tl.arange(0, BLOCK)
        total += tl.load(x + at, mask=at < n, other=0.0).to(tl.float32)
    middle = tl.sum(total, axis=0) / n
    square = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, n, BLOCK):
        at = start + tl.arange(0, BLOCK)
        value = tl.load(x + at, mask=at < n, other=0.0).to(tl.float32)
        apart = tl.where(at < n, value - middle, 0.0)
        square += apart * apart
    scale = 1 / tl.sqrt(tl.sum(square, axis=0) / n + eps)
    tl.store(mean + row, middle)
    tl.store(rstd + row, scale)
    for start in range(0, n, BLOCK):
        at = start + tl.arange(0, BLOCK)
        inside = at < n
        value = tl.load(x + at, mask=inside, other=0.0).to(tl.float32)
        w = tl.load(weight + at, mask=inside)
        b = tl.load(bias + at, mask=inside)
        tl.store(out + at, (value - middle) * scale * w + b, mask=inside)


@jit
def rms_norm(x, weight, out, stride, n, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < n
    value = tl.load(x + row * stride + at, mask=inside, other=0.0).to(tl.float32)
    scale = tl.rsqrt(tl.sum(value * value, axis=0) / n + eps)
    w = tl.load(weight + at, mask=inside, other=0.0).to(tl.float32)
    tl.store(out + row * stride + at, (value * scale * w).to(tl.float16), mask=inside)


@jit
def matmul(
    a,
    b,
    c,
    M,
    N,
    K,
    stride_am,
    stride_ak,
    stride_bk,
    stride_bn,
    stride_cm,
    stride_cn,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    deep = tl.arange(0, BLOCK_K)
    a_at = a + rows[:, None] * stride_am + deep[None, :] * stride_ak
    b_at = b + deep[:, None] * stride_bk + columns[None, :] * stride_bn
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(tl.cdiv(K, BLOCK_K)):
        left = K - k * BLOCK_K
        in_a = (rows[:, None] < M) & (deep[None, :] < left)
        in_b = (deep[:, None] < left) & (columns[None, :] < N)
        left_tile = tl.load(a_at, mask=in_a, other=0.0)
        right_tile = tl.load(b_at, mask=in_b, other=0.0)
        total = tl.dot(left_tile, right_tile, total)
        a_at += BLOCK_K * stride_ak
        b_at += BLOCK_K * stride_bk
    c_at = c + rows[:, None] * stride_cm + columns[None, :] * stride_cn
    tl.store(
        c_at, total.to(c.dtype.element_ty), (rows[:, None] < M) & (columns[None, :] < N)
    )


@jit
def leaky_relu(x):
    return tl.where(x >= 0, x, 0.01 * x)


@jit
def matmul_grouped(
    a,
    b,
    c,
    M,
    N,
    K,
    stride_am,
    stride_ak,
    stride_bk,
    stride_bn,
    stride_cm,
    stride_cn,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    GROUP: tl.constexpr,
    ACTIVATION: tl.constexpr,
):
    pid = tl.program_id(axis=0)
    high = tl.cdiv(M, BLOCK_M)
    wide = tl.cdiv(N, BLOCK_N)
    in_group = GROUP * wide
    first = pid // in_group * GROUP
    size = min(high - first, GROUP)
    pid_m = first + (pid % in_group) % size
    pid_n = (pid % in_group) // size
    rows = (pid_m * BLOCK_M + tl.arange(0, BLOCK_M)) % M
    columns = (pid_n * BLOCK_N + tl.arange(0, BLOCK_N)) % N
    deep = tl.arange(0, BLOCK_K)
    a_at = a + (rows[:, None] * stride_am + deep[None, :] * stride_ak)
    b_at = b + (deep[:, None] * stride_bk + columns[None, :] * stride_bn)
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(tl.cdiv(K, BLOCK_K)):
        x = tl.load(a_at, mask=deep[None, :] < K - k * BLOCK_K, other=0.0)
        y = tl.load(b_at, mask=deep[:, None] < K - k * BLOCK_K, other=0.0)
        total = tl.dot(x, y, total)
        a_at += BLOCK_K * stride_ak
        b_at += BLOCK_K * stride_bk
    if ACTIVATION == "leaky_relu":
        total = leaky_relu(total)
    result = total.to(tl.float16)
    rows = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    c_at = c + stride_cm * rows[:, None] + stride_cn * columns[None, :]
    tl.store(c_at, result, mask=(rows[:, None] < M) & (columns[None, :] < N))


@jit
def split_k(
    a,
    b,
    c,
    M,
    N,
    K,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    SPLIT: tl.constexpr,
):
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    deep = tl.program_id(2) * BLOCK_K + tl.arange(0, BLOCK_K)
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for _ in range(tl.cdiv(K, BLOCK_K * SPLIT)):
        x = tl.load(
            a + rows[:, None] * K + deep[None, :], mask=deep[None, :] < K, other=0.0
        )
        y = tl.load(
            b + deep[:, None] * N + columns[None, :], mask=deep[:, None] < K, other=0.0
        )
        total += tl.dot(x, y)
        deep += BLOCK_K * SPLIT
    tl.atomic_add(c + rows[:, None] * N + columns[None, :], total)


@jit
def flash_attention(
    q,
    k,
    v,
    out,
    scale,
    S,
    D: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    CAUSAL: tl.constexpr,
):
    start_m = tl.program_id(0)
    head = tl.program_id(1) * S * D
    rows = start_m * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tl.arange(0, BLOCK_N)
    wide = tl.arange(0, D)
    queries = tl.load(q + head + rows[:, None] * D + wide[None, :])
    highest = tl.full([BLOCK_M], float("-inf"), dtype=tl.float32)
    total = tl.zeros([BLOCK_M], dtype=tl.float32)
    acc = tl.zeros([BLOCK_M, D], dtype=tl.float32)
    factor = scale * 1.44269504
    end = S
    if CAUSAL:
        end = (start_m + 1) * BLOCK_M
    for start in range(0, end, BLOCK_N):
        at = start + columns
        keys = tl.load(k + head + at[None, :] * D + wide[:, None])
        scores = tl.dot(queries, keys) * factor
        if CAUSAL:
            scores = tl.where(rows[:, None] >= at[None, :], scores, float("-inf"))
        new = tl.maximum(highest, tl.max(scores, 1))
        powers = tl.exp2(scores - new[:, None])
        shrink = tl.exp2(highest - new)
        total = total * shrink + tl.sum(powers, 1)
        values = tl.load(v + head + at[:, None] * D + wide[None, :])
        acc = acc * shrink[:, None]
        acc = tl.dot(powers.to(values.dtype), values, acc)
        highest = new
    acc = acc / total[:, None]
    tl.store(
        out + head + rows[:, None] * D + wide[None, :], acc.to(out.dtype.element_ty)
    )


@jit
def transpose(x, out, rows, columns, BLOCK: tl.constexpr):
    down = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    across = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = (down[:, None] < rows) & (across[None, :] < columns)
    tile = tl.load(x + down[:, None] * columns + across[None, :], mask=inside)
    turned = (across[:, None] < columns) & (down[None, :] < rows)
    tl.store(out + across[:, None] * rows + down[None, :], tl.trans(tile), mask=turned)


@jit
def strided_sum(x, out, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    total = tl.zeros([BLOCK], dtype=tl.int64)
    for start in range(pid * BLOCK, n, tl.num_programs(0) * BLOCK):
        at = start + tl.arange(0, BLOCK)
        total += tl.load(x + at, mask=at < n, other=0).to(tl.int64)
    tl.atomic_add(out, tl.sum(total, axis=0))


@jit
def running_sum(x, out, columns: tl.constexpr, REVERSE: tl.constexpr):
    row = tl.program_id(0)
    at = row * columns + tl.arange(0, columns)
    tl.store(out + at, tl.cumsum(tl.load(x + at), 0, reverse=REVERSE))


@jit
def larger(a, b):
    return tl.maximum(a, b)


@jit
def running_max(x, out, rows: tl.constexpr, columns: tl.constexpr):
    at = tl.arange(0, rows)[:, None] * columns + tl.arange(0, columns)[None, :]
    tl.store(out + at, tl.associative_scan(tl.load(x + at), 1, larger))


@jit
def histogram(x, counts, n, BINS: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    bucket = tl.load(x + at, mask=inside, other=0) % BINS
    tl.atomic_add(counts + bucket, 1, mask=inside)


@jit
def dropout(x, out, n, keep, seed, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    value = tl.load(x + at, mask=inside)
    kept = tl.rand(seed, at) < keep
    tl.store(out + at, tl.where(kept, value / keep, 0.0), mask=inside)


@jit
def top_one(x, best, where, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    values = tl.load(x + row * columns + at, mask=at < columns, other=-1000)
    tl.store(best + row, tl.max(values, axis=0))
    tl.store(where + row, tl.argmax(values, axis=0))


@jit
def conv1d(x, taps, out, n, TAPS: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for tap in tl.static_range(TAPS):
        there = at + tap - TAPS // 2
        inside = (there >= 0) & (there < n)
        total += tl.load(x + there, mask=inside, other=0.0) * tl.load(taps + tap)
    tl.store(out + at, total, mask=at < n)


@jit
def rotary(x, cosines, sines, out, HALF: tl.constexpr):
    row = tl.program_id(0)
    pair = tl.arange(0, HALF)
    left = tl.load(x + row * 2 * HALF + pair)
    right = tl.load(x + row * 2 * HALF + HALF + pair)
    c = tl.load(cosines + row * HALF + pair)
    s = tl.load(sines + row * HALF + pair)
    tl.store(out + row * 2 * HALF + pair, left * c - right * s)
    tl.store(out + row * 2 * HALF + HALF + pair, right * c + left * s)


@jit
def dequantized_matmul(
    a,
    codes,
    scales,
    c,
    K,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    rows = tl.arange(0, BLOCK_M)
    columns = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    N = tl.num_programs(0) * BLOCK_N
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(0, K, BLOCK_K):
        deep = start + tl.arange(0, BLOCK_K)
        x = tl.load(a + rows[:, None] * K + deep[None, :])
        weights = tl.load(codes + deep[:, None] * N + columns[None, :])
        total += tl.dot(x, weights.to(tl.float16))
    scale = tl.load(scales + columns)
    tl.store(c + rows[:, None] * N + columns[None, :], total * scale[None, :])


@jit
def int8_matmul(a, b, c, N: tl.constexpr, K: tl.constexpr):
    rows = tl.arange(0, N)
    deep = tl.arange(0, K)
    x = tl.load(a + rows[:, None] * K + deep[None, :])
    y = tl.load(b + deep[:, None] * N + rows[None, :])
    product = tl.dot(x, y, out_dtype=tl.int32)
    tl.store(c + rows[:, None] * N + rows[None, :], product)


@jit
def embedding(table, tokens, out, n, WIDTH: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    token = tl.load(tokens + at, mask=at < n, other=0)
    wide = tl.arange(0, WIDTH)
    rows = tl.load(table + token[:, None] * WIDTH + wide[None, :])
    tl.store(out + at[:, None] * WIDTH + wide[None, :], rows, mask=(at < n)[:, None])


@jit
def last_one_adds(x, parts, counter, out, n, BLOCK: tl.constexpr, PARTS: tl.constexpr):
    pid = tl.program_id(0)
    at = pid * BLOCK + tl.arange(0, BLOCK)
    total = tl.sum(tl.load(x + at, mask=at < n, other=0.0), axis=0)
    tl.store(parts + pid, total)
    done = tl.atomic_add(counter, 1)
    if done == tl.num_programs(0) - 1:
        every = tl.arange(0, PARTS)
        rest = tl.load(parts + every, mask=every < tl.num_programs(0), other=0.0)
        tl.store(out, tl.sum(rest, axis=0))


@jit
def locked_rows(x, lock, out, ROWS: tl.constexpr, WIDTH: tl.constexpr):
    pid = tl.program_id(0)
    wide = tl.arange(0, WIDTH)
    row = tl.load(x + pid * WIDTH + wide)
    while tl.atomic_cas(lock + pid % ROWS, 0, 1) == 1:
        pass
    place = out + pid % ROWS * WIDTH + wide
    tl.store(place, tl.load(place) + row)
    tl.debug_barrier()
    tl.atomic_xchg(lock + pid % ROWS, 0)


@jit
def whole_numbers(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    a = tl.load(x + at, mask=inside)
    b = tl.load(y + at, mask=inside, other=1)
    tl.store(out + at, a // b, mask=inside)
    tl.store(out + n + at, a % b, mask=inside)
    tl.store(out + 2 * n + at, (a >> 3) ^ (b << 2) | (a & 7), mask=inside)
    tl.store(out + 3 * n + at, tl.where(a > b, tl.minimum(a, 5), -a), mask=inside)
    tl.store(out + 4 * n + at, (a / 4).to(tl.int32) + a.to(tl.int8), mask=inside)


@jit
def collatz(x, out, n):
    pid = tl.program_id(0)
    value = tl.load(x + pid)
    steps = 0
    while value != 1:
        if value % 2 == 0:
            value = value // 2
        else:
            value = 3 * value + 1
        steps += 1
    tl.store(out + pid, steps)


@jit
def shapes(x, out, N: tl.constexpr):
    at = tl.arange(0, N)
    grid = tl.load(x + at).reshape(N // 4, 4)
    first = tl.sum(grid, axis=1)
    second = tl.max(tl.trans(grid), axis=0)
    both = tl.join(first, second)
    tl.store(out + tl.arange(0, N // 4)[:, None] * 2 + tl.arange(0, 2)[None, :], both)
    spread = tl.broadcast_to(first[:, None], (N // 4, 4)) - grid
    tl.store(out + N + at, tl.ravel(spread))
    low, high = tl.split(grid.reshape(N // 2, 2))
    tl.store(out + 2 * N + tl.arange(0, N), tl.interleave(high, low))
    tl.store(out + 3 * N + at, tl.sort(tl.load(x + at)))
    tl.store(out + 4 * N + at, tl.flip(tl.load(x + at), 0))


@jit
def block_pointers(
    x, y, out, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):
    rows, columns = tl.program_id(0) * BM, tl.program_id(1) * BN
    left = tl.make_block_ptr(x, (M, K), (K, 1), (rows, -BK), (BM, BK), (1, 0))
    right = tl.make_block_ptr(
        base=y,
        shape=(K, N),
        strides=(1, K),
        offsets=(-BK, columns),
        block_shape=(BK, BN),
        order=(0, 1),
    )
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for _ in range(tl.cdiv(K, BK) + 2):
        a = tl.load(left, boundary_check=(0, 1), padding_option="zero")
        total = tl.dot(a, tl.load(right, boundary_check=[1, 0]), total)
        left, right = tl.advance(left, (0, BK)), tl.advance(right, [BK, 0])
    to = tl.make_block_ptr(out, (M, N), (N, 1), (rows, columns), (BM, BN), (1, 0))
    tl.store(to, total.to(to.dtype.element_ty), boundary_check=(0, 1))


@jit
def descriptors(
    x, y, out, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):
    left = tl.make_tensor_descriptor(x, [M, K], [K, 1], [BM, BK])
    right = tl.make_tensor_descriptor(
        y, shape=[N, K], strides=[K, 1], block_shape=[BN, BK]
    )
    to = tl.make_tensor_descriptor(out, [M, N], [N, 1], [BM, BN])
    across = tl.cdiv(N, BN)
    for tile in tl.range(
        tl.program_id(0), tl.cdiv(M, BM) * across, tl.num_programs(0), flatten=True
    ):
        row, column = tile // across * BM, tile % across * BN
        total = tl.zeros((BM, BN), dtype=tl.float32)
        for k in range(0, K, BK):
            a, b = left.load([row, k]), right.load([column, k])
            total = tl.dot(a, b.T, total)
        to.store([row, column], total.to(left.dtype))


@jit
def grouped_places(x, out, M, N, GROUP, BLOCK: tl.constexpr):
    row, column = tl.swizzle2d(tl.program_id(0), tl.program_id(1), M, N, GROUP)
    values = tl.load(x + tl.arange(0, BLOCK)) + row * N + column
    values = tl.squeeze(tl.unsqueeze(values, 1), 1)
    some = tl.reduce_or(values, 0) ^ tl.xor_sum(values, axis=0)
    tl.store(
        out + tl.program_id(0) * N + tl.program_id(1), some * 64 + row * N + column
    )

# ---- no_groups: that is row by row, without groups
def place(number, down, across, group):
    return number // across, number % across


# ---- last_group: The last group may have fewer rows
def place(number, down, across, group):
    inside = number % (group * across)
    first = number // (group * across) * group
    return min(first + inside % group, down - 1), inside // group


# ---- swapped: you have them the other way round
def asked(m, n, k, tile_m, tile_n):
    return 2 * k * (m * -(-m // tile_m) + n * -(-n // tile_n))


# ---- summed: the longer of the two counts
def roofline(m, n, k, peak, bandwidth):
    return 2 * m * n * k / peak + (2 * (m * k + k * n) + 4 * m * n) / bandwidth


# ---- by_rows: GROUP is not used
def matmul(
    a,
    b,
    c,
    M,
    N,
    K,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    GROUP: tl.constexpr,
):
    across = tl.cdiv(N, BLOCK_N)
    row = tl.program_id(0) // across * BLOCK_M + tl.arange(0, BLOCK_M)[:, None]
    column = tl.program_id(0) % across * BLOCK_N + tl.arange(0, BLOCK_N)[None, :]
    total = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for start in range(0, K, BLOCK_K):
        deep = start + tl.arange(0, BLOCK_K)
        along, under = deep[None, :], deep[:, None]
        left = tl.load(a + row * K + along, mask=(row < M) & (along < K), other=0.0)
        other = (under < K) & (column < N)
        right = tl.load(b + under * N + column, mask=other, other=0.0)
        total = tl.dot(left, right, total)
    tl.store(c + row * N + column, total, mask=(row < M) & (column < N))

# ---- calls_place: the program asks the function for its tile
def asked(m, n, k, tile_m, tile_n):
    down, across = -(-m // tile_m), -(-n // tile_n)
    return (m * across + n * down) * k * 2


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
    band = tl.program_id(0) // (GROUP * across)
    inside = tl.program_id(0) - band * GROUP * across
    high = tl.minimum(tl.cdiv(M, BLOCK_M) - band * GROUP, GROUP)
    rows = (band * GROUP + inside % high) * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = (inside // high) * BLOCK_N + tl.arange(0, BLOCK_N)
    deep = tl.arange(0, BLOCK_K)
    total = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for step in range(tl.cdiv(K, BLOCK_K)):
        at = step * BLOCK_K + deep
        here = (rows[:, None] < M) & (at[None, :] < K)
        left = tl.load(a + rows[:, None] * K + at[None, :], mask=here, other=0.0)
        here = (at[:, None] < K) & (columns[None, :] < N)
        right = tl.load(b + at[:, None] * N + columns[None, :], mask=here, other=0.0)
        total += tl.dot(left, right)
    here = (rows[:, None] < M) & (columns[None, :] < N)
    tl.store(c + rows[:, None] * N + columns[None, :], total, mask=here)


# ---- walked: the order by walking over it
def place(number, down, across, group):
    for first in range(0, down, group):
        rows = min(group, down - first)
        if number < rows * across:
            column, row = divmod(number, rows)
            return [first + row, column]
        number -= rows * across


def roofline(m, n, k, peak, bandwidth):
    times = (m * n * k / (peak / 2), (k * (m + n) + 2 * m * n) / (bandwidth / 2))
    return sorted(times)[1]

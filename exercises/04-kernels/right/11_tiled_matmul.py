# ---- turned: the left tile is kept turned, and blocks count their bands
def bytes_read(m, n, k):
    blocks = [(i, j) for i in range(0, m, 16) for j in range(0, n, 16)]
    return sum(4 * k * (min(16, m - i) + min(16, n - j)) for i, j in blocks)


def matmul(t, a, b, c, m, n, k):
    left, right = t.shared((16, 17)), t.shared((16, 16))
    x, y = t.thread.x, t.thread.y
    row, column = t.block.y * 16 + y, t.block.x * 16 + x
    total = 0.0
    for step in range((k + 15) // 16):
        left[x, y] = 0.0
        right[y, x] = 0.0
        if row < m and step * 16 + x < k:
            left[x, y] = a[row, step * 16 + x]
        if column < n and step * 16 + y < k:
            right[y, x] = b[step * 16 + y, column]
        t.sync()
        for j in range(16):
            total = t.fma(left[j, y], right[j, x], total)
        t.sync()
    if row < m and column < n:
        c[row, column] = total


# ---- two_tiles: two buffers in turns, so that one barrier a step is enough
def bytes_read(m, n, k):
    return 4 * k * (m * ((n + 15) // 16) + n * ((m + 15) // 16))


def matmul(t, a, b, c, m, n, k):
    left, right = t.shared((2, 16, 16)), t.shared((2, 16, 16))
    x, y = t.thread.x, t.thread.y
    row, column = t.block.y * 16 + y, t.block.x * 16 + x
    total, turn = 0.0, 0
    for first in range(0, k, 16):
        one, other = 0.0, 0.0
        if row < m and first + x < k:
            one = a[row, first + x]
        if column < n and first + y < k:
            other = b[first + y, column]
        left[turn, y, x] = one
        right[turn, y, x] = other
        t.sync()
        for j in range(16):
            total = total + left[turn, y, j] * right[turn, j, x]
        turn = 1 - turn
    if row < m and column < n:
        c[row, column] = total

# ---- one_barrier: a step needs two barriers
def matmul(t, a, b, c, m, n, k):
    left, right = t.shared((16, 16)), t.shared((16, 16))
    x, y = t.thread.x, t.thread.y
    row, column = t.block.y * 16 + y, t.block.x * 16 + x
    total = 0.0
    for first in range(0, k, 16):
        one, other = 0.0, 0.0
        if row < m and first + x < k:
            one = a[row, first + x]
        if column < n and first + y < k:
            other = b[first + y, column]
        left[y, x] = one
        right[y, x] = other
        t.sync()
        for j in range(16):
            total = total + left[y, j] * right[j, x]
    if row < m and column < n:
        c[row, column] = total


# ---- straight: read a number once per block, and share it
def matmul(t, a, b, c, m, n, k):
    row = t.block.y * 16 + t.thread.y
    column = t.block.x * 16 + t.thread.x
    if row < m and column < n:
        total = 0.0
        for j in range(k):
            total = total + a[row, j] * b[j, column]
        c[row, column] = total


# ---- full_tiles: A block at the edge reads only rows and columns that exist
def bytes_read(m, n, k):
    return 4 * k * 32 * -(-n // 16) * -(-m // 16)


# ---- no_edge: Threads at an edge have no number there
def matmul(t, a, b, c, m, n, k):
    left, right = t.shared((16, 16)), t.shared((16, 16))
    x, y = t.thread.x, t.thread.y
    row, column = t.block.y * 16 + y, t.block.x * 16 + x
    total = 0.0
    for first in range(0, k, 16):
        left[y, x] = a[row, first + x]
        right[y, x] = b[first + y, column]
        t.sync()
        for j in range(16):
            total = total + left[y, j] * right[j, x]
        t.sync()
    if row < m and column < n:
        c[row, column] = total

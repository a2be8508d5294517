# ---- walked: tiles and cycles one after the other
def tiles(n, k, rows, cols):
    found = 0
    for _ in range(0, k, rows):
        found += len(range(0, n, cols))
    return found


def passed(m, n, k, rows, cols):
    corner = (rows - 1) + (cols - 1)  # until a number is in the far corner
    total = 0
    for _ in range(tiles(n, k, rows, cols)):
        total += rows + (m - 1) + corner + 1
    return total


def used(m, n, k, rows, cols):
    places = rows * cols
    return m * n * k / places / passed(m, n, k, rows, cols)


def rows_for(share, rows, cols):
    m = 1
    while m < share * (m + 2 * rows + cols - 2) - 1e-9:
        m += 1
    return m


def hidden(m, n, k, rows, cols):
    start = rows
    for _ in range(tiles(n, k, rows, cols) - 1):
        start += m if m > rows else rows
    return start + m + rows + cols - 2


# ---- from_hidden: what is seen, and what is not
def tiles(n, k, rows, cols):
    return -(-k // rows) * -(-n // cols)


def passed(m, n, k, rows, cols):
    return tiles(n, k, rows, cols) * hidden(m, cols, rows, rows, cols)


def used(m, n, k, rows, cols):
    return m / passed(m, n, k, rows, cols) * (n / cols) * (k / rows)


def rows_for(share, rows, cols):
    found = share / (1 - share) * (hidden(1, cols, rows, rows, cols) - 1)
    return math.ceil(found - 1e-6)


def hidden(m, n, k, rows, cols):
    pace = max(m, rows)
    return pace * tiles(n, k, rows, cols) - pace + m + 2 * rows + cols - 2

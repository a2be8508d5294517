# ---- numbers: a quarter of the numbers that fit
def rows_that_fit(sram, d, w):
    return sram // (4 * w)


def factor():
    return 4


# ---- once: read once for each tile of queries, not once
def asked(n, d, rows, w):
    return 4 * n * d * w


# ---- floor: needs a pass of its own
def asked(n, d, rows, w):
    return 2 * n * d * w * (1 + n // rows)


# ---- two_crossings: written, read, written as weights and read
def unfused(n, d, w):
    return 4 * n * d * w + 2 * n * n * w


# ---- linear: only half as many rows fit a tile
def factor():
    return 2

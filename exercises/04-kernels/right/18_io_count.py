# ---- walked: tile by tile, nothing in closed form
import numpy as np


def rows_that_fit(sram, d, w):
    return np.floor_divide(sram, 4 * d * w)


def asked(n, d, rows, w):
    total = 0
    for top in range(0, n, rows):
        mine = min(rows, n - top)
        total += 2 * mine * d + 2 * n * d
    return total * w


def unfused(n, d, w):
    return (
        sum((n * d, n * d, n * n)) * w + 2 * n * n * w + sum((n * n, n * d, n * d)) * w
    )


def factor():
    sizes = {d: asked(8192, d, rows_that_fit(228 * 1024, d, 2), 2) for d in (128, 256)}
    once = {d: 2 * 8192 * d * 2 for d in sizes}
    return (sizes[256] - once[256]) / (sizes[128] - once[128])


# ---- guessed: the power of the head size
def factor():
    return 2**2


def rows_that_fit(sram, d, w):
    return int(sram / 4 / d / w)

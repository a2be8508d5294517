# ---- block_by_block: what each block reads and writes, and a loop over all pairs
def moved(m, n, k, tile_m, tile_n):
    numbers = 0
    for _ in range(0, m, tile_m):
        for _ in range(0, n, tile_n):
            numbers += tile_m * k + k * tile_n + tile_m * tile_n
    return numbers


def staged(tile_m, tile_n, tile_k, stages, width):
    x, w = tile_m * tile_k, tile_k * tile_n
    return sum((x + w) * width for _ in range(stages))


def best(n, staging, sums, sides, tile_k=64, stages=2, width=2):
    found, least = None, None
    for a in sorted(sides):
        for b in sorted(sides):
            if staged(a, b, tile_k, stages, width) > staging or 4 * a * b > sums:
                continue
            cost = (a + b) / (a * b)
            if least is None or cost < least:
                found, least = (a, b), cost
    return found


# ---- grid: an array of pairs, those that do not fit infinitely dear
import numpy as np

from stacklib.quantity import Quantity


def moved(m, n, k, tile_m, tile_n):
    blocks = (m // tile_m) * (n // tile_n)
    return np.int64(blocks) * (k * (tile_m + tile_n)) + m * n


def staged(tile_m, tile_n, tile_k, stages, width):
    return Quantity(stages * tile_k * width * (tile_m + tile_n) / 1024, "KiB")


def best(n, staging, sums, sides, tile_k=64, stages=2, width=2):
    sides = np.array(sides)
    a, b = np.meshgrid(sides, sides, indexing="ij")
    room = stages * tile_k * width * (a + b) <= staging
    room &= a * b <= sums / 4
    if not room.any():
        return None
    cost = np.where(room, 1 / a + 1 / b, np.inf)
    at, to = np.unravel_index(cost.argmin(), cost.shape)
    return np.array([sides[at], sides[to]])

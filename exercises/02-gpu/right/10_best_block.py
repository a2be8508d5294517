# ---- sorted: all pairs, sorted by the three wishes
from itertools import product


def drawn(warps, loads):
    flying = sum(4 * loads for _ in range(warps * 32))
    rate = flying * 148 / 437e-9
    return rate / 7.7e12 if rate < 7.7e12 else 1


def best(base, each, shared_bytes):
    def wish(pair):
        threads, loads = pair
        warps = gpu.occupancy(
            threads=threads,
            registers=base + loads * each,
            shared_bytes=shared_bytes,
            device="b200-sxm",
        ).warps
        return -drawn(warps, loads), loads, threads

    return sorted(product(BLOCKS, LOADS), key=wish)[0]


# ---- grid: an array of shares, and the first largest of it
import numpy as np

from stacklib.quantity import Quantity


def drawn(warps, loads):
    flying = Quantity(warps * 32 * 4 * loads * 148, "B")
    share = flying / Quantity(437, "ns") / Quantity(7.7, "TB/s")
    return min(1.0, float(share.si))


def held(threads, registers, shared_bytes):
    return gpu.occupancy(
        threads=threads,
        registers=registers,
        shared_bytes=shared_bytes,
        device="b200-sxm",
    ).warps


def best(base, each, shared_bytes):
    grid = np.array(
        [
            [drawn(held(b, base + n * each, shared_bytes), n) for b in BLOCKS]
            for n in LOADS
        ]
    )
    at, which = np.unravel_index(grid.argmax(), grid.shape)
    return [np.int64(BLOCKS[which]), np.int64(LOADS[at])]

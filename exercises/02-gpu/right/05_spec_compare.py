# ---- rows: each card a row, undone factor by factor
SHOP = [
    {"rate": 330, "sparse": True, "half_sums": False, "bandwidth": 1.008},
    {"rate": 838, "sparse": True, "half_sums": True, "bandwidth": 1.792},
    {"rate": 624, "sparse": True, "half_sums": False, "bandwidth": 2.039},
]


def dense(row):
    factor = 2 ** (row["sparse"] + row["half_sums"])
    return row["rate"] / factor


def dense_rates():
    return [dense(row) for row in SHOP]


def ridges():
    return (dense(row) / row["bandwidth"] for row in SHOP)


# ---- quantities: arrays first, then units
import numpy as np

from stacklib.quantity import Quantity


def dense_rates():
    printed = np.array([330, 838, 624])
    return [Quantity(float(x), "TFLOP/s") for x in printed / [2, 4, 2]]


def ridges():
    bandwidths = [Quantity(x, "GB/s") for x in (1008, 1792, 2039)]
    return [r / b for r, b in zip(dense_rates(), bandwidths, strict=True)]

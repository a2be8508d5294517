# ---- totals: bits of a whole block as fractions
from fractions import Fraction


def bits_per_weight(element, shared):
    total = Fraction(element)
    for bits, weights in shared:
        total += Fraction(bits, weights)
    return total


def mxfp4():
    return Fraction(32 * 4 + 8, 32)


def nvfp4():
    weights = 4096 * 4096
    return Fraction(weights * 4 + weights // 16 * 8 + 32, weights)


def q4_k():
    return Fraction((128 + 12 + 4) * 8, 256)


def nf4_double():
    return Fraction(64 * 256 * 4 + 256 * 8 + 32, 64 * 256)


# ---- arrays: a dot product, and quantities
import numpy as np

from stacklib.quantity import Quantity


def bits_per_weight(element, shared):
    if not shared:
        return np.float64(element)
    bits, weights = np.array(shared, float).T
    return element + bits @ (1 / weights)


def mxfp4():
    return np.float64(17 / 4)


def nvfp4():
    return (Quantity(9, "B") / Quantity(2, "B")) * 1


def q4_k():
    return bits_per_weight(4, [(6, 32), (6, 32), (16, 256), (16, 256)])


def nf4_double():
    return 4 + (8 + 32 / 256) / 64

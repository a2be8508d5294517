# ---- sets: every byte of every lane, and the set of its sectors
from fractions import Fraction


def moved(*starts):
    return len({byte // 32 for start in starts for byte in range(start, start + 4)})


def shifted():
    return moved(*(4 * (i + 5) for i in range(32)))


def one_field():
    return moved(*(24 * i for i in range(32)))


def column():
    return moved(*(4000 * i for i in range(32)))


def used():
    return Fraction(32 * 4, 32 * one_field())


# ---- arrays: addresses as an array, different sectors of it
import numpy as np

LANES = np.arange(32)


def shifted():
    return np.unique((4 * LANES + 20) // 32).size


def one_field():
    return np.unique(24 * LANES // 32).size


def column():
    return np.float64(np.unique(4 * 1000 * LANES // 32).size)


def used():
    return 100 * np.float32(4 / one_field()) / 100

# ---- table: levels as rows, nearest first
from fractions import Fraction

LEVELS = [("L1", 228 << 10, 36), ("L2", 50 << 20, 266), ("memory", 1 << 60, 670)]


def row(size):
    return next(row for row in LEVELS if size <= row[1])


def level(size):
    return row(size)[0]


def time(size):
    return Fraction(row(size)[2] * 100, 198)


def unit_rate():
    a_cycle = sum(4 for _ in range(32))
    return Fraction(a_cycle * 198, 100)


def chip_rate():
    return sum(unit_rate() for _ in range(132)) / 1000


def additions():
    return Fraction(LEVELS[-1][2], 4)


# ---- quantities: a search in sorted ends, and units
from bisect import bisect_left

from stacklib.quantity import Quantity

CLOCK = Quantity(1.98, "GHz")


def level(size):
    ends = [228 * 1024, 50 * 1024**2]
    return ("L1", "L2", "memory")[bisect_left(ends, size)]


def time(size):
    cycles = {"L1": 36, "L2": 266, "memory": 670}
    return Quantity(cycles[level(size)], "cycle") / CLOCK


def unit_rate():
    return 32 * Quantity(4, "B/cycle") * CLOCK


def chip_rate():
    return 132 * unit_rate()


def additions():
    return Quantity(670, "cycle") / Quantity(4, "cycle")

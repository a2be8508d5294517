# ---- table: passes as rows of a table, and fractions
from fractions import Fraction

PASSES = {  # reads all rows, writes all rows
    "largest": (1, 0),
    "subtract": (1, 1),
    "exponential": (1, 1),
    "sum": (1, 0),
    "divide": (1, 1),
}


def softmax_fused(size):
    return Fraction(len(PASSES), 2 * size)


def softmax_steps(size):
    return Fraction(len(PASSES), size * sum(map(sum, PASSES.values())))


def side(device, dtype):
    flop, moved = 2 / device.peak(dtype).si, 3 * bytes_per_element(dtype).si
    moved /= device.memory_bandwidth.si
    s = 1.0
    while s**3 * flop < s**2 * moved:
        s *= 1.0002
    return s


# ---- quantities: with units to the end
def softmax_fused(size):
    return Quantity(5, "FLOP") / Quantity(2 * size, "B")


def softmax_steps(size):
    return Quantity(5, "FLOP") / (Quantity(size, "B") * 8)


from stacklib.quantity import Quantity


def side(device, dtype):
    moved = 3 * bytes_per_element(dtype) / device.memory_bandwidth
    return moved / (Quantity(2, "FLOP") / device.peak(dtype))

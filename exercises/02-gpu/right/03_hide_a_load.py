# ---- quantities: Little's law with units
from stacklib.quantity import Quantity


def bytes_under_way():
    wait = Quantity(670, "cycle") / Quantity(1.98, "GHz")
    return Quantity(3.35, "TB/s") * wait / 132


def warps_of_one_load():
    a_scheduler = bytes_under_way() / 4
    return a_scheduler / Quantity(32 * 4, "B")


def warps_of_four_loads():
    return bytes_under_way() / 4 / Quantity(4 * 32 * 4, "B")


def warps_for_arithmetic():
    return Quantity(4, "cycle") / Quantity(2, "cycle")


# ---- by_cycle: bytes of one cycle first, and a count of warps
from fractions import Fraction

A_CYCLE = Fraction(3_350, 1_980) * 1000 / 132  # bytes of one unit


def bytes_under_way():
    return sum(A_CYCLE for _ in range(670))


def warps_of_one_load():
    requests = bytes_under_way() / 128
    return requests / 4


def warps_of_four_loads():
    requests = bytes_under_way() / 128
    return requests / len([(s, n) for s in range(4) for n in range(4)])


def warps_for_arithmetic():
    issued, warps = 0, 0
    while issued < 4:
        warps, issued = warps + 1, issued + 2
    return warps

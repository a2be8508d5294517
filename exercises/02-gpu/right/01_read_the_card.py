# ---- whole_numbers: integers to the last step, as fractions
from fractions import Fraction


def memory():
    return Fraction(24564 << 20, 10**9)


def bandwidth():
    bits_a_second = 384 * 10_251_000_000 * 2
    return Fraction(bits_a_second, 8 * 10**9)


def copy_rate():
    lanes = [Fraction(8 * 128, 130) for _ in range(8)]
    return sum(lanes) / 8


def ridge():
    return Fraction(330_000, 2) / bandwidth()


# ---- quantities: every number with its unit
from stacklib.quantity import Quantity


def memory():
    return Quantity(24564, "MiB")


def bandwidth():
    return 384 * Quantity(2, "bit/cycle") * Quantity(10251, "MHz")


def copy_rate():
    return 8 * Quantity(8, "Gbit/s") * (128 / 130)


def ridge():
    return Quantity(330 / 2, "TFLOP/s") / bandwidth().to("B/s")

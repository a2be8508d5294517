# ---- quantities: units that turn bits into bytes
from fractions import Fraction

from stacklib.quantity import Quantity


def share_of_data():
    return Fraction(256, 257) * Fraction(514, 544)


def one_direction():
    lane = Quantity(53.125, "Gbit/s")
    return (12 * 4 * float(share_of_data()) * lane).to("GB/s")


def in_print():
    return one_direction() + one_direction()


def cliff():
    return one_direction() / Quantity(200, "Gbit/s").to("GB/s")


def milliseconds():
    return Quantity(16, "GiB") / one_direction()


# ---- by_head: 106.25 carries 100, so 53.125 carries 50
def share_of_data():
    return 16 / 17


def one_direction():
    return 48 * 50 / 8


def in_print():
    return 600


def cliff():
    return 300 / 25


def milliseconds():
    return 57.3

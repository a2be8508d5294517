# ---- quantities: areas with units
from stacklib.quantity import Quantity


def area(cell, efficiency):
    return 8_000_000_000 * Quantity(cell, "µm2") / efficiency


def dollars(cell, efficiency, wafer, diameter):
    radius = Quantity(diameter, "mm") / 2
    share = area(cell, efficiency) / (pi * radius * radius)
    return share * Quantity(wafer, "USD")


def efficiency_of(cell, megabits, die):
    cells = megabits * 1024 * 1024 * Quantity(cell, "µm2")
    return cells / Quantity(die, "mm2")


# ---- fractions: what a square millimetre holds, and how many GB a wafer holds
from fractions import Fraction


def held(cell, efficiency):
    """GB in a square millimetre."""
    cells = Fraction(efficiency) * 10**6 / Fraction(cell)
    return cells / 8 / 10**9


def area(cell, efficiency):
    return 1 / held(cell, efficiency)


def dollars(cell, efficiency, wafer, diameter):
    disc = Fraction(pi) * (Fraction(diameter) / 2) ** 2
    return Fraction(wafer) / (disc * held(cell, efficiency))


def efficiency_of(cell, megabits, die):
    return (megabits << 20) * cell / (1000 * 1000 * die)

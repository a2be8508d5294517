# ---- quantities: areas and densities with units, a yield of many small parts
from math import hypot

from stacklib.quantity import Quantity

DIE, DEFECTS = Quantity(800, "mm2"), Quantity(0.1, "1/cm2")


def of(area):
    side = area**0.5
    return pi * 150**2 / area - pi * 300 / hypot(side, side)


def survives(area):
    each = (area * DEFECTS).si / 1_000_000
    return (1 - each) ** 1_000_000


def dies():
    return of(800)


def good_share():
    return survives(DIE)


def dollars():
    wafer = Quantity(17000, "USD")
    return 2 * wafer / (dies() * good_share())


def half_gain():
    return of(400) * survives(DIE / 2) / (of(800) * survives(DIE))


# ---- decimals: decimal numbers, and one function for both dies
from decimal import Decimal

PI = Decimal("3.14159265358979")


def count(area):
    disc = PI * Decimal(300) ** 2 / 4
    return disc / area - PI * 300 / (2 * Decimal(area)).sqrt()


def without_defect(area):
    return (-Decimal(area) / 100 * Decimal("0.1")).exp()


def dies():
    return count(800)


def good_share():
    return without_defect(800)


def dollars():
    return 2 * Decimal(17000) / (dies() * good_share())


def half_gain():
    good = {area: count(area) * without_defect(area) for area in (400, 800)}
    return good[400] / good[800]

# ---- logarithms: growth as a slope
def slope(first, last, years=4):
    return (math.log(last) - math.log(first)) / years


def arithmetic_growth():
    return math.exp(2 * slope(312, 2250))


def bandwidth_growth():
    return math.exp(2 * slope(2.04, 7.7))


def years_to_double():
    return math.log(2) / (slope(312, 2250) - slope(2.04, 7.7))


def low_and_high():
    return [math.exp(2 * (0.15 + side * 2.03 * 0.04)) for side in (-1, 1)]


# ---- decimals: roots of decimals, years that are counted, an array
from decimal import Decimal

import numpy as np

from stacklib.quantity import Quantity


def arithmetic_growth():
    return (Decimal(2250) / Decimal(312)).sqrt()


def bandwidth_growth():
    return (Decimal("7.7") / Decimal("2.04")).sqrt()


def years_to_double():
    a_month = float(arithmetic_growth() / bandwidth_growth()) ** (1 / 24)
    ridge, months = 1.0, 0
    while ridge < 2:
        ridge, months = ridge * a_month, months + 1
    return Quantity(months / 12, "year")


def low_and_high():
    return np.exp(2 * (0.15 + np.array([-1, 1]) * 2.03 * 0.04))

# diagnosis: That many periods of two years; asked are years.
import math


def arithmetic_growth():
    return math.sqrt(2250 / 312)


def bandwidth_growth():
    return math.sqrt(7.7 / 2.04)


def years_to_double():
    return math.log(2) / math.log(arithmetic_growth() / bandwidth_growth())


def low_and_high():
    return math.exp(2 * (0.15 - 2.03 * 0.04)), math.exp(2 * (0.15 + 2.03 * 0.04))

# diagnosis: Growth compounds: it is no sum to be divided by the periods.
import math


def arithmetic_growth():
    return 1 + (2250 / 312 - 1) / 2


def bandwidth_growth():
    return 1 + (7.7 / 2.04 - 1) / 2


def years_to_double():
    return 2 * math.log(2) / math.log(arithmetic_growth() / bandwidth_growth())


def low_and_high():
    return math.exp(2 * (0.15 - 2.03 * 0.04)), math.exp(2 * (0.15 + 2.03 * 0.04))

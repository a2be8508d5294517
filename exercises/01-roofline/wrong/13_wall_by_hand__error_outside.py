# diagnosis: The error belongs to the slope, inside the exponential.
import math


def arithmetic_growth():
    return math.sqrt(2250 / 312)


def bandwidth_growth():
    return math.sqrt(7.7 / 2.04)


def years_to_double():
    return 2 * math.log(2) / math.log(arithmetic_growth() / bandwidth_growth())


def low_and_high():
    growth = math.exp(2 * 0.15)
    return growth - 2.03 * 0.04, growth + 2.03 * 0.04

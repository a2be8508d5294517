# ---- error_outside: The error belongs to the slope, inside the exponential.
def low_and_high():
    growth = math.exp(2 * 0.15)
    return growth - 2.03 * 0.04, growth + 2.03 * 0.04


# ---- no_compounding: Growth compounds: it is no sum to be divided by the periods.
def arithmetic_growth():
    return 1 + (2250 / 312 - 1) / 2


def bandwidth_growth():
    return 1 + (7.7 / 2.04 - 1) / 2


# ---- periods: That many periods of two years; asked are years.
def years_to_double():
    return math.log(2) / math.log(arithmetic_growth() / bandwidth_growth())

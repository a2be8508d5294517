# ---- in_logs: growth adds up in logarithms
from math import exp, log1p


def start(value, rate, years):
    if rate <= -1 or years <= 0:
        raise ValueError((rate, years))
    return value * exp(-years * log1p(rate))


# ---- forwards: what was sold, grown, against the value
def holds(value, lowest, highest, years, sold):
    return any(sold * (1 + rate) ** years <= value for rate in (lowest, highest))

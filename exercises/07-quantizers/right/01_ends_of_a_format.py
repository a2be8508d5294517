# ---- decoded: every code as a fraction, and the ends of the list
from fractions import Fraction


def numbers(exponent, significand, bias, special):
    codes = range(1 << exponent + significand)
    if special == "ieee":
        codes = codes[: -(1 << significand)]
    elif special == "fn":
        codes = codes[:-1]
    ends = [*codes[:1], codes[1], codes[1 << significand], codes[-1]]
    for code in ends:
        field, rest = code >> significand, code % (1 << significand)
        part = Fraction(rest, 1 << significand) + (field > 0)
        yield part * Fraction(2) ** (max(field, 1) - bias)


def largest(exponent, significand, bias, special):
    return max(numbers(exponent, significand, bias, special))


def least_normal(exponent, significand, bias, special):
    return sorted(numbers(exponent, significand, bias, special))[2]


def least_subnormal(exponent, significand, bias, special):
    return min(n for n in numbers(exponent, significand, bias, special) if n)


# ---- arrays: exponents through ldexp, in NumPy
import numpy as np


def largest(exponent, significand, bias, special):
    ones = 2 ** (significand + 1) - 1 - (special == "fn")
    field = (1 << exponent) - (2 if special == "ieee" else 1)
    return np.ldexp(np.float64(ones), field - bias - significand)


def least_normal(exponent, significand, bias, special):
    return np.ldexp(1.0, 1 - bias)


def least_subnormal(exponent, significand, bias, special):
    return least_normal(exponent, significand, bias, special) / 2**significand

# ---- compared: the draw against the chance, by fractions
from fractions import Fraction


def chance_up(x, step):
    return Fraction(x) / Fraction(step) % 1


def rounded(x, step, u):
    below = Fraction(x) // Fraction(step)
    return step * (below + (1 if u < chance_up(x, step) else 0))


def variance(x, step):
    p = chance_up(x, step)
    sides = [(1 - p, -p * Fraction(step)), (p, (1 - p) * Fraction(step))]
    return sum(chance * side**2 for chance, side in sides)


# ---- turned: the draw counted from the other end, in NumPy
import numpy as np


def chance_up(x, step):
    return np.remainder(x, step) / step


def rounded(x, step, u):
    return step * np.ceil(np.float64(x) / step - u)


def variance(x, step):
    below = np.remainder(x, step)
    return below * (step - below)

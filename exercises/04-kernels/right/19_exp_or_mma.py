# ---- fractions: exact, and the head size first
from fractions import Fraction


def even_head(tensor, exp):
    return Fraction(tensor, 4 * exp)


def binds(d, tensor, exp):
    over = d - even_head(tensor, exp)
    return "both" if not over else "products" if over > 0 else "exponentials"


def share(d, tensor, exp, groups):
    ratio = Fraction(d) / even_head(tensor, exp)
    return float(min(1, ratio) if groups == 2 else ratio / (1 + ratio))


def software_share(d, tensor, exp):
    ratio = Fraction(d) / even_head(tensor, exp)
    return float(max(0, 1 - ratio))


# ---- arrays: the two times as an array
import numpy as np


def cycles(rows, columns, d, tensor, exp):
    return rows * columns * np.array([2 * d + 2 * d, 1]) / np.array([tensor, exp])


def share(d, tensor, exp, groups):
    times = cycles(128, 128, d, tensor, exp)
    return times[0] / (times.sum() if groups == 1 else times.max())

# ---- distribution: units are added one by one, the chance of each count kept
import numpy as np


def whole(area, density):
    squares = 10_000_000
    return (1 - area * density / squares) ** squares


def cut(area, density, pieces, talk, bond):
    design = 0.0
    for _ in range(pieces):
        design += 1.0 / pieces * (1 - talk)
    held = np.prod([bond] * pieces)
    return design * held * whole(area / (pieces * (1 - talk)), density)


def spare(area, density, units, needed):
    works = np.exp(-area * density / units)
    chances = np.array([1.0])
    for _ in range(units):
        chances = np.convolve(chances, [1 - works, works])
    return chances[needed:].sum()


def waste(share):
    return np.reciprocal(share)


# ---- recursion: what the last unit may do, and logarithms
from functools import cache
from math import log, log1p


def whole(area, density):
    return exp(-density) ** area


def cut(area, density, pieces, talk, bond):
    useful = 1 - talk
    return exp(log1p(-talk) - area * density / pieces / useful + pieces * log(bond))


def spare(area, density, units, needed):
    works = whole(area, density) ** (1 / units)

    @cache
    def at_least(left, wanted):
        if wanted <= 0:
            return 1.0
        if wanted > left:
            return 0.0
        good = works * at_least(left - 1, wanted - 1)
        return good + (1 - works) * at_least(left - 1, wanted)

    return at_least(units, needed)


def waste(share):
    return share**-1

# ---- arrays: rows of 32, the last one filled up
import numpy as np


def rows(takes, fill):
    return np.array(takes + [fill] * (-len(takes) % 32)).reshape(-1, 32)


def active_lanes(takes):
    return rows(takes, False).sum(axis=1)


def efficiency(takes):
    some, every = rows(takes, False).any(axis=1), rows(takes, True).all(axis=1)
    return np.mean(~some | every)


def issued(takes, inside, otherwise):
    some, every = rows(takes, False).any(axis=1), rows(takes, True).all(axis=1)
    return inside * some.sum() + otherwise * (~every).sum()


# ---- recursion: the first warp, and the others
from fractions import Fraction


def active_lanes(takes):
    if not takes:
        return ()
    return (takes[:32].count(True), *active_lanes(takes[32:]))


def paths(takes):
    return [set(takes[:32]), *paths(takes[32:])] if takes else []


def efficiency(takes):
    sides = paths(takes)
    return Fraction(sum(len(side) == 1 for side in sides), len(sides))


def issued(takes, inside, otherwise):
    each = {True: inside, False: otherwise}
    return sum(each[way] for side in paths(takes) for way in side)

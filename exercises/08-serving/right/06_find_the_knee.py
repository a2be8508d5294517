# ---- polyfit: NumPy fits the line
import numpy as np


def fitted(rows):
    batch, tokens, seconds = np.array(rows, dtype=float).T
    return np.polyfit(batch, seconds * batch / tokens, 1)


def step(batch, tokens, seconds):
    return np.divide(seconds, tokens / batch)


def each(rows):
    return fitted(rows)[0]


def fixed(rows):
    return fitted(rows)[1]


def knee(rows):
    return -np.roots(fitted(rows))[0]


# ---- statistics: the standard library fits it
from statistics import linear_regression


def fit(rows):
    return linear_regression([row[0] for row in rows], [step(*row) for row in rows])


def each(rows):
    return fit(rows).slope


def fixed(rows):
    return fit(rows).intercept


def knee(rows):
    found = fit(rows)
    return found.intercept / found.slope

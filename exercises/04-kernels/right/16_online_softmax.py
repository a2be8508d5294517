# ---- logarithms: the two lower numbers kept as one state, by log sum exp
import numpy as np


def partial(scores, values):
    scores, values = np.array(scores), np.array(values)
    weights = np.exp(scores - scores.max())
    return np.array([scores.max(), weights.sum(), weights @ values])


def merge(a, b):
    both = np.array([a, b], np.float64)
    top = both[:, 0].max()
    base = 0.0 if np.isneginf(top) else top
    factors = np.exp(both[:, 0] - base)
    return (top, *(factors @ both[:, 1:]))


# ---- ordered: the smaller maximum is folded into the larger
def merge(a, b):
    if a[0] < b[0]:
        a, b = b, a
    if not b[1]:
        return a
    shrink = math.exp(b[0] - a[0])
    return a[0], a[1] + shrink * b[1], a[2] + shrink * b[2]


def finish(state):
    _, total, weighted = state
    return weighted / total

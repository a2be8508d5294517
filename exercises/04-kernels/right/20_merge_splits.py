# ---- arrays: NumPy, the pieces stacked
import numpy as np


def attend(scores, values):
    top = np.max(scores)
    weights = np.exp(np.array(scores) - top)
    return top, weights.sum(), weights @ np.array(values) / weights.sum()


def merge(parts):
    tops, totals, outputs = (np.array(x) for x in zip(*parts, strict=True))
    shares = totals * np.exp(tops - tops.max())
    return tops.max(), shares.sum(), shares @ outputs / shares.sum()


# ---- running: one piece after another, as an online softmax does
def attend(scores, values):
    state = (-math.inf, 0.0, [0.0] * len(values[0]))
    for score, row in zip(scores, values, strict=True):
        state = pair(state, (score, 1.0, row))
    return state


def pair(a, b):
    top = max(a[0], b[0])
    left, right = (s * math.exp(m - top) if s else 0.0 for m, s, _ in (a, b))
    total = left + right
    return (
        top,
        total,
        [(left * x + right * y) / total for x, y in zip(a[2], b[2], strict=True)],
    )


def merge(parts):
    seen = [part for part in parts if part[1]]
    state = seen[0]
    for part in seen[1:]:
        state = pair(state, part)
    return state

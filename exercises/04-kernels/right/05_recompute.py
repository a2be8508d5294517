# ---- closed: the two segments that can be the worst
def peak(n, i, a, k):
    whole, rest = divmod(n, k)
    ends = [(whole - 1) * i + k * a] if whole else []
    return max([*ends, whole * i + rest * a] if rest else ends)


def best(n, i, a):
    peaks = [peak(n, i, a, k) for k in range(1, n + 1)]
    return peaks.index(min(peaks)) + 1


def root(n, i, a):
    return (n * i / a) ** 0.5


def again(n, kept):
    return 1 / 3 - kept / n / 3


# ---- ledger: a list of what is held, walked back
import numpy as np


def peak(n, i, a, k):
    starts = np.arange(0, n, k)
    own = np.minimum(k, n - starts) * a
    return float((np.arange(len(starts)) * i + own).max())


def best(n, i, a):
    return int(np.argmin([peak(n, i, a, k) for k in range(1, n + 1)])) + 1


def root(n, i, a):
    return np.sqrt(n / (a / i))


def again(n, kept):
    step = 3.0 * n
    return np.float64(sum(1.0 for layer in range(n) if layer < n - kept) / step)

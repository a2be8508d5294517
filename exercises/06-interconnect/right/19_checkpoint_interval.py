# ---- searched: the minimum by golden section, no derivative
def interval(saving, mean):
    golden = (5**0.5 - 1) / 2
    low, high = 0.0, math.log(1e9)
    for _ in range(200):
        a = high - golden * (high - low)
        b = low + golden * (high - low)
        if lost(math.exp(a), saving, 0, mean) < lost(math.exp(b), saving, 0, mean):
            high = b
        else:
            low = a
    return math.exp(low)


# ---- by_gpu: years of a single GPU, and NumPy
import numpy as np


def between(failures, days, gpus, larger):
    one = np.float64(days) * 24 * 3600 * gpus / failures
    return one / larger


def lost(interval, saving, restart, mean):
    return np.sum([saving / interval, (interval / 2 + restart) / mean])

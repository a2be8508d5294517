# ---- polyfit: NumPy's, whose weights are of the errors and not of their squares
import numpy as np


def find(sizes, times):
    beta, alpha = np.polyfit(sizes, times, 1, w=1 / np.array(times))
    return alpha, beta


# ---- normal: the two normal equations, solved by hand
def find(sizes, times):
    a = sum(1 / t**2 for t in times)
    b = sum(s / t**2 for s, t in zip(sizes, times, strict=True))
    c = sum(s * s / t**2 for s, t in zip(sizes, times, strict=True))
    p = sum(1 / t for t in times)
    q = sum(s / t for s, t in zip(sizes, times, strict=True))
    d = a * c - b * b
    return (p * c - q * b) / d, (a * q - b * p) / d

# ---- alike: Every point counts alike
import numpy as np


def find(sizes, times):
    beta, alpha = np.polyfit(sizes, times, 1)
    return alpha, beta


# ---- whole_array: A step of a ring moves a part of the array
def ring(alpha, beta, ranks, size):
    return 2 * (ranks - 1) * (alpha + size * beta)


# ---- upside: Upside down
def half_size(alpha, beta):
    return beta / alpha

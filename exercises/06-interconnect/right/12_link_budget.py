# ---- shares: in milliwatts, and the levels one by one
import math


def received(sent, losses):
    power = 10 ** (sent / 10)
    for loss in losses:
        power /= 10 ** (loss / 10)
    return 10 * math.log10(power)


def lane_oma(mean, extinction):
    levels = [1 + n * (extinction - 1) / 3 for n in range(4)]
    scale = 4 * mean / sum(levels)
    return scale * levels[3] - scale * levels[0]


def needed(noise, responsivity, reach, levels):
    watts = 0.0
    for _ in range(levels - 1):
        watts += 2 * reach * noise * 1e-6 / responsivity
    return watts * 1000


# ---- arrays: NumPy sums and a closed form
import numpy as np


def received(sent, losses):
    return np.cumsum([sent, *(-x for x in losses)])[-1]


def lane_oma(mean, extinction):
    return 2 * mean * np.tanh(np.log(extinction) / 2)


def needed(noise, responsivity, reach, levels):
    levels_at = np.linspace(0, 2 * reach * (levels - 1), levels)  # in the noise
    return np.ptp(levels_at) * noise * 1e-3 / responsivity

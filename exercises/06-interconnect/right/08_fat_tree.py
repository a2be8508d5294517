# ---- recursion: a level at a time
def room(radix, levels):
    return radix if levels == 1 else room(radix, levels - 1) * radix // 2


def levels_for(gpus, radix, levels=1):
    fits = gpus <= room(radix, levels)
    return levels if fits else levels_for(gpus, radix, levels + 1)


def switches(gpus, radix):
    top, below = gpus / radix, gpus / (radix / 2)
    return top + (levels_for(gpus, radix) - 1) * below


def price(gpus, radix, switch, cable):
    levels = levels_for(gpus, radix)
    return (switches(gpus, radix) * switch + levels * gpus * cable) / gpus


# ---- ports: NumPy, from the ports of each GPU
import numpy as np


def room(radix, levels):
    return 2 * np.prod(np.full(levels, radix // 2, np.int64))


def levels_for(gpus, radix):
    rooms = 2 * (radix // 2) ** np.arange(1, 21, dtype=float)
    return np.searchsorted(rooms, gpus) + 1


def switches(gpus, radix):
    ports = 2 * levels_for(gpus, radix) - 1
    return ports * gpus // radix


def price(gpus, radix, switch, cable):
    levels = levels_for(gpus, radix)
    return np.dot([2 * levels - 1, levels], [switch / radix, cable])

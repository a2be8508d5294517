# ---- counters: a counter of banks for each phase
from collections import Counter


def phases(addresses, width):
    lanes = min(32, 128 // max(width, 4))
    return [addresses[i : i + lanes] for i in range(0, 32, lanes)]


def passes(addresses, width):
    def busiest(asked):
        words = {
            (address + byte) // 4
            for address in asked
            if address is not None
            for byte in range(width)
        }
        return max(Counter(w % 32 for w in words).values(), default=0)

    return tuple(busiest(asked) for asked in phases(addresses, width))


def conflicts(addresses, width):
    ways = passes(addresses, width)
    return sum(ways) - sum(n > 0 for n in ways)


# ---- arrays: unique words, and a count of each bank
import numpy as np


def passes(addresses, width):
    wide = max(1, width // 4)
    rows = np.array_split(np.array(addresses, dtype=object), wide)
    ways = np.zeros(wide, dtype=int)
    for i, row in enumerate(rows):
        first = np.array([a // 4 for a in row if a is not None], dtype=int)
        words = np.unique(first[:, None] + np.arange(wide))
        ways[i] = np.bincount(words % 32, minlength=32).max()
    return ways


def conflicts(addresses, width):
    return np.clip(passes(addresses, width) - 1, 0, None).sum()

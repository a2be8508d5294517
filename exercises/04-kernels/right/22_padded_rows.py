# ---- tiles: counted by whole tiles
def padding(counts, tile):
    return sum((count + tile - 1) // tile * tile - count for count in counts)


def spread(tokens, top_k, experts, tile):
    a_count = tokens * top_k / experts
    return tile / 2 / a_count


def of_computed(share):
    return 1 - 1 / (1 + share)


def fewest(share, top_k, experts, tile):
    tokens = 1
    while spread(tokens, top_k, experts, tile) > share:
        tokens += 1
    return tokens


# ---- arrays: NumPy, and exact fractions
from fractions import Fraction

import numpy as np


def padding(counts, tile):
    return (-np.array(counts) % tile).sum()


def spread(tokens, top_k, experts, tile):
    return Fraction(experts * tile, 2 * tokens * top_k)


def of_computed(share):
    return np.float64(share) / np.float64(1 + share)


def fewest(share, top_k, experts, tile):
    asked = np.ceil(experts * tile / (2 * top_k * share) - 1e-9)
    return int(asked)

# ---- whole: counts of whole numbers by ceil, and a loop over the candidates
import math


def read_bytes(matrices, gains, code_bits, scale_bits, tile):
    sizes = [gains * 2.0]
    for rows, columns in matrices:
        tiles = math.ceil(rows / tile[0]) * math.ceil(columns / tile[1])
        sizes += [math.ceil(rows * columns * code_bits / 8), tiles * scale_bits / 8]
    return sum(sizes)


def tokens_per_second(weights, cache, batch, bandwidth, fixed):
    step = weights / bandwidth + batch * cache / bandwidth + fixed
    return 1 / step * batch


def right_answers(pairs, cost):
    count = 0
    for good, bad in pairs:
        if cost(bad) > cost(good):
            count += 1
    return count


def chosen(found, lost):
    best = "fp16"
    for name, (speed, right) in found.items():
        if found["fp16"][1] - right <= lost and (speed, right) > found[best]:
            best = name
    return best


# ---- arrays: with NumPy
import numpy as np


def read_bytes(matrices, gains, code_bits, scale_bits, tile):
    shapes = np.array(matrices, dtype=np.int64)
    codes = (shapes.prod(axis=1) * code_bits + 7) // 8
    tiles = (-(-shapes // np.array(tile))).prod(axis=1)
    return codes.sum() + (tiles * scale_bits).sum() / 8 + np.float64(2) * gains


def tokens_per_second(weights, cache, batch, bandwidth, fixed):
    bytes_moved = np.dot([1, batch], [weights, cache])
    return np.divide(batch, bytes_moved / bandwidth + fixed)


def right_answers(pairs, cost):
    costs = np.array([[cost(text) for text in pair] for pair in pairs])
    return np.count_nonzero(costs[:, 0] < costs[:, 1])


def chosen(found, lost):
    ranked = sorted(found.items(), key=lambda item: item[1], reverse=True)
    return next(n for n, (_, r) in ranked if r + lost >= found["fp16"][1])

# ---- exchanged: each to its nearest, then the cheapest exchanges until the sum is kept
def rounded(counts, tile):
    given = [round(count / tile) * tile for count in counts]
    while sum(given) != sum(counts):
        step = tile if sum(given) < sum(counts) else -tile
        costs = {
            n: abs(given[n] + step - counts[n]) - abs(given[n] - counts[n])
            for n in range(len(counts))
            if given[n] + step >= 0
        }
        given[min(costs, key=costs.get)] += step
    return given


def members(gates, chose, wanted):
    kept = sorted(chose, key=gates.__getitem__)[-wanted:] if wanted else []
    others = sorted(set(range(len(gates))) - set(chose), key=gates.__getitem__)
    missing = wanted - len(kept)
    return tuple(kept) + tuple(others[len(others) - missing :])


def stays():
    return ("rows in all",)


# ---- arrays: NumPy, remainders and a partition
import numpy as np


def rounded(counts, tile):
    counts = np.array(counts)
    full = counts - counts % tile
    left = (counts.sum() - full.sum()) // tile
    full[np.argsort(-(counts % tile), kind="stable")[:left]] += tile
    return full


def members(gates, chose, wanted):
    score = np.array(gates)
    score[np.array(chose, int)] += 10
    return np.argsort(-score)[:wanted]

# ---- recursion: half of it, and a level more
def work(kind, n):
    if kind == "scan":
        return n * (n.bit_length() - 1)
    if n == 1:
        return 0 if kind == "reduce" else 1
    return work(kind, n // 2) + (n // 2) * (1 if kind == "reduce" else 3)


def depth(kind, n):
    if n == 1:
        return int(kind == "lean")
    return depth(kind, n // 2) + (2 if kind == "lean" else 1)


def steps(kind, n, lanes, places=None):
    if n == 1:
        return int(kind == "lean")
    here = (places or n) if kind == "scan" else n // 2
    taken = (here + lanes - 1) // lanes * (2 if kind == "lean" else 1)
    return taken + steps(kind, n // 2, lanes, places or n)


# ---- arrays: levels as powers of two in NumPy
import numpy as np


def pairs(n):
    return 2 ** np.arange(round(np.log2(n)))


def work(kind, n):
    each = {"reduce": pairs(n).sum(), "scan": n * len(pairs(n))}
    return each.get(kind, 3 * pairs(n).sum() + 1)


def depth(kind, n):
    deep = np.log2(n)
    return 2 * deep + 1 if kind == "lean" else deep


def steps(kind, n, lanes):
    up = np.ceil(pairs(n) / lanes).sum()
    if kind == "scan":
        return np.ceil(n / lanes) * len(pairs(n))
    return 2 * up + 1 if kind == "lean" else up

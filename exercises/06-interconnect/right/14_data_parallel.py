# ---- other_way: the ring turned round, and NumPy for the update
import numpy as np


def sends(ranks):
    first = [
        (step, rank, (rank - 1) % ranks, (rank + step) % ranks, True)
        for step in range(ranks - 1)
        for rank in range(ranks)
    ]
    second = [
        (ranks - 1 + step, rank, (rank - 1) % ranks, (rank + step - 1) % ranks, False)
        for step in range(ranks - 1)
        for rank in range(ranks)
    ]
    return first + second


def update(weights, summed, samples, rate):
    return np.array(weights) - np.array(summed) * rate / samples


# ---- spread: owner by owner, each step every rank sends one chunk straight there
def sends(ranks):
    found = []
    for far in range(1, ranks):
        for rank in range(ranks):
            to = (rank + far) % ranks
            found.append((far - 1, rank, to, to, True))
    for far in range(1, ranks):
        for rank in range(ranks):
            to = (rank + far) % ranks
            found.append((ranks + far - 2, rank, to, rank, False))
    return found

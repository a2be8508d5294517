# ---- chunks: follow each chunk around
def ring(n):
    found = []
    for chunk in range(n):
        at = chunk
        for step in range(2 * n - 2):
            found.append([step, at, (at + 1) % n, chunk, int(step + 1 < n)])
            at = (at + 1) % n
    return sorted(found)


def chunks_sent(n):
    return sum(1 for send in ring(n) if send[1] == 0)


# ---- arrays: steps and chips as NumPy's, each part ends one chip earlier
import numpy as np


def ring(n):
    step, chip = np.divmod(np.arange(2 * n * (n - 1)), n)
    chunk = (chip - 1 - step) % n
    return np.stack([step, chip, (chip + 1) % n, chunk, step < n - 1], axis=1).tolist()


def chunks_sent(n):
    return float(2 * n - 2)

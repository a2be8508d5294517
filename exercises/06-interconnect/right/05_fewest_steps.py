# ---- matrix: all distances at once, in NumPy
import numpy as np


def distances(board):
    n = max(map(max, board)) + 1
    far = np.full((n, n), 10**6)
    np.fill_diagonal(far, 0)
    for a, b in board:
        far[a, b] = far[b, a] = 1
    for k in range(n):
        far = np.minimum(far, far[:, k : k + 1] + far[k])
    return far


def far(board):
    return distances(board).max()


def sends(board, chunks):
    n = max(map(max, board)) + 1
    return np.ceil(chunks * (n - 1) / len(board))


def port(board, chunks):
    cables = np.bincount(np.array(board).ravel())
    return (np.ceil(chunks / cables) + distances(board).max(axis=1) - 1).max()


# ---- sets: who knows it after each step
def far(board):
    known = {chip: {chip} for pair in board for chip in pair}
    steps = 0
    while any(len(one) < len(known) for one in known.values()):
        before = {chip: set(one) for chip, one in known.items()}
        for a, b in board:
            known[a] |= before[b]
            known[b] |= before[a]
        steps += 1
    return float(steps)


def sends(board, chunks):
    left, steps = 2 * (max(map(max, board))) * chunks, 0
    while left > 0:
        left, steps = left - 2 * len(board), steps + 1
    return steps

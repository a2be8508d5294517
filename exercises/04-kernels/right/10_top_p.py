# ---- arrays: a sort and running sums in NumPy
import numpy as np


def top_p(p, share):
    p = np.asarray(p)
    order = np.argsort(-p, kind="stable")
    before = np.concatenate(([0.0], np.cumsum(p[order])[:-1]))
    return np.sort(order[before < share])


def min_p(p, share):
    return np.flatnonzero(np.asarray(p) >= share * np.max(p))


def chain(p, share_p, share_m):
    kept = np.zeros(len(p))
    for at in top_p(p, share_p):
        kept[at] = p[at]
    kept /= kept.sum()
    kept[kept < share_m * kept.max()] = 0
    return kept / kept.sum()


# ---- threshold: what lies above a token decides, without a sort
def ahead(p, i):
    return [q for j, q in enumerate(p) if (-q, j) < (-p[i], i)]


def top_p(p, share):
    return [i for i in range(len(p)) if not sum(ahead(p, i)) >= share]


def min_p(p, share):
    top = max(p)
    return [i for i in range(len(p)) if not p[i] < top * share]

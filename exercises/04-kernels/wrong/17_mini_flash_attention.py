# ---- all_pairs: the scores of all pairs exist
def attend(q, k, v, tile):
    scores = q @ k.T / np.sqrt(q.shape[1])
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True) @ v


# ---- strips: a tile of queries meets all keys at once
def attend(q, k, v, tile):
    out = np.empty_like(q)
    for top in range(0, len(q), tile):
        scores = q[top : top + tile] @ k.T / np.sqrt(q.shape[1])
        weights = np.exp(scores - scores.max(axis=1, keepdims=True))
        out[top : top + tile] = weights @ v / weights.sum(axis=1, keepdims=True)
    return out


# ---- not_shrunk: the output does not
def attend(q, k, v, tile):
    out = np.empty_like(q)
    for top in range(0, len(q), tile):
        query = q[top : top + tile] / np.sqrt(q.shape[1])
        most, total, sums = np.full((len(query), 1), -np.inf), 0.0, 0.0
        for left in range(0, len(k), tile):
            scores = query @ k[left : left + tile].T
            new = np.maximum(most, scores.max(axis=1, keepdims=True))
            weights = np.exp(scores - new)
            total = total * np.exp(most - new) + weights.sum(axis=1, keepdims=True)
            sums = sums + weights @ v[left : left + tile]
            most = new
        out[top : top + tile] = sums / total
    return out


# ---- unscaled: The scores are not divided by sqrt(D)
def attend(q, k, v, tile):
    out = np.empty_like(q)
    for top in range(0, len(q), tile):
        most, total, sums = -np.inf, 0.0, 0.0
        for left in range(0, len(k), tile):
            scores = q[top : top + tile] @ k[left : left + tile].T
            new = np.maximum(most, scores.max(axis=1, keepdims=True))
            shrink, weights = np.exp(most - new), np.exp(scores - new)
            total = total * shrink + weights.sum(axis=1, keepdims=True)
            sums = sums * shrink + weights @ v[left : left + tile]
            most = new
        out[top : top + tile] = sums / total
    return out


# ---- no_maximum: weights overflow without the running maximum
def attend(q, k, v, tile):
    out = np.empty_like(q)
    for top in range(0, len(q), tile):
        query = q[top : top + tile] / np.sqrt(q.shape[1])
        total, sums = 0.0, 0.0
        for left in range(0, len(k), tile):
            weights = np.exp(query @ k[left : left + tile].T)
            total = total + weights.sum(axis=1, keepdims=True)
            sums = sums + weights @ v[left : left + tile]
        out[top : top + tile] = sums / total
    return out

# ---- keys_outside: tiles of keys in the outer loop, as in the first FlashAttention
def attend(q, k, v, tile):
    out = np.zeros(q.shape)
    most, total = np.full(len(q), -np.inf), np.zeros(len(q))
    for left in range(0, len(k), tile):
        keys = k[left : left + tile] / np.sqrt(q.shape[1])
        for top in range(0, len(q), tile):
            rows = slice(top, top + tile)
            scores = q[rows] @ keys.T
            new = np.maximum(most[rows], scores.max(axis=1))
            scores -= new[:, None]
            np.exp(scores, out=scores)
            shrink = np.exp(most[rows] - new)
            total[rows] = total[rows] * shrink + scores.sum(axis=1)
            out[rows] = out[rows] * shrink[:, None] + scores @ v[left : left + tile]
            most[rows] = new
    return out / total[:, None]


# ---- divided: the output is a mean after each tile
def attend(q, k, v, tile):
    done = []
    for rows in np.array_split(q, max(1, -(-len(q) // tile))):
        lse, out = np.full((len(rows), 1), -np.inf), 0.0
        for left in range(0, len(k), tile):
            scores = rows @ k[left : left + tile].T / q.shape[1] ** 0.5
            top = scores.max(axis=1, keepdims=True)
            mine = top + np.log(np.exp(scores - top).sum(axis=1, keepdims=True))
            both = np.logaddexp(lse, mine)
            own = np.exp(scores - both) @ v[left : left + tile]
            lse, out = both, np.exp(lse - both) * out + own
        done.append(out)
    return np.concatenate(done)

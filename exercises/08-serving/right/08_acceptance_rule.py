# ---- at_once: counted in one call, kept by comparing arrays
def bigram(ids, vocab):
    pairs = np.asarray(ids[:-1]) * vocab + np.asarray(ids[1:])
    counts = 1 + np.bincount(pairs, minlength=vocab * vocab).reshape(vocab, vocab)
    return counts / counts.sum(1)[:, None]


def checked(target, draft, drafted, random):
    places = range(len(drafted))
    chances = [target[i][drafted[i]] / draft[i][drafted[i]] for i in places]
    fails = np.flatnonzero(random.random(len(drafted)) >= chances)
    end = fails[0] if len(fails) else len(drafted)
    row = target[end]
    if len(fails):
        row = np.clip(row - draft[end], 0, None)
    return [*drafted[:end], random.choice(len(row), p=row / row.sum())]


def acceptance(kept, drafted):
    rejected = sum(one != drafted for one in kept)
    return 1 / (1 + rejected / sum(kept)) if sum(kept) else 0.0


# ---- plain: without arrays, the sums walked through
def bigram(ids, vocab):
    rows = [[1] * vocab for _ in range(vocab)]
    for i in range(1, len(ids)):
        rows[ids[i - 1]][ids[i]] += 1
    return [[count / sum(row) for count in row] for row in rows]


def checked(target, draft, drafted, random):
    def drawn(weights):
        at = random.random() * sum(weights)
        for token, weight in enumerate(weights):
            at -= weight
            if at < 0:
                return token
        return max(range(len(weights)), key=lambda token: weights[token])

    kept = 0
    while kept < len(drafted):
        p, q, token = target[kept], draft[kept], drafted[kept]
        if p[token] < q[token] and random.random() > p[token] / q[token]:
            more = [max(a - b, 0) for a, b in zip(p, q, strict=True)]
            return [*drafted[:kept], drawn(more)]
        kept += 1
    return [*drafted, drawn(target[-1])]


def acceptance(kept, drafted):
    asked = good = 0
    for one in kept:
        for place in range(drafted):
            asked += 1
            good += place < one
            if place >= one:
                break
    return good / asked

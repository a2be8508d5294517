# ---- blocks: block by block, and the gradient of the merged matrix by the chain rule
def expanded(codes, scales):
    parts = np.split(codes, scales.shape[1], axis=1)
    look = np.vectorize(Format("nf4").decode)
    return np.hstack(
        [look(p) * s[:, None] for p, s in zip(parts, scales.T, strict=True)]
    )


def begin(outputs, inputs, rank, rng):
    return rng.uniform(-0.1, 0.1, (rank, inputs)), np.zeros((outputs, rank))


def output(x, codes, scales, a, b):
    return x @ (expanded(codes, scales) + b @ a).T


def step(x, wanted, codes, scales, a, b, rate):
    weights = expanded(codes, scales) + b @ a
    slope = (weights @ x.T - wanted.T) @ x / len(x)
    a, b = a - rate * b.T @ slope, b - rate * slope @ a.T
    return a, b


# ---- other_zero: the other matrix begins at zero, tokens one after another
def begin(outputs, inputs, rank, rng):
    return np.zeros((rank, inputs)), rng.standard_normal((outputs, rank)) / rank


def step(x, wanted, codes, scales, a, b, rate):
    weights = expanded(codes, scales)
    down, up = np.zeros_like(a), np.zeros_like(b)
    for token, target in zip(x, wanted, strict=True):
        seen = a @ token
        off = weights @ token + b @ seen - target
        up += np.outer(off, seen)
        down += np.outer(b.T @ off, token)
    return [a - rate * down / len(x), b - rate * up / len(x)]

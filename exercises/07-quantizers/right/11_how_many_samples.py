# ---- running: the mean is kept, and moves with each sample
def mean_hessian(samples):
    if len(samples) == 0:
        raise ValueError("nothing to calibrate on")
    mean, seen = 0.0, 0
    for tokens in samples:
        together = seen + len(tokens)
        mean = mean * (seen / together) + 2 * (tokens.T @ tokens) / together
        seen = together
    return mean


def curve(weights, samples, unseen, counts, rounding):
    def error(count):
        lost = rounding(weights, mean_hessian(samples[:count])) - weights
        return np.linalg.norm(lost @ unseen.T) / np.linalg.norm(weights @ unseen.T)

    return np.array([error(count) for count in counts])


def flat_from(counts, errors, within):
    high = [i for i, e in enumerate(errors) if e > (1 + within) * errors[-1]]
    return counts[high[-1] + 1] if high else counts[0]


# ---- einsum: sums by index, roots of squares, the longest tail
def mean_hessian(samples):
    if not samples:
        raise ValueError(samples)
    total = sum(np.einsum("ti,tj->ij", s, s) for s in samples)
    return total / sum(s.shape[0] for s in samples) * 2


def curve(weights, samples, unseen, counts, rounding):
    power = np.square(np.einsum("ti,oi->to", unseen, weights)).sum()
    for count in counts:
        rounded = rounding(weights, mean_hessian(samples[:count]))
        lost = np.einsum("ti,oi->to", unseen, weights - rounded)
        yield float(np.square(lost).sum() / power) ** 0.5


def flat_from(counts, errors, within):
    tails = (
        i for i in range(len(counts)) if max(errors[i:]) <= errors[-1] * (1 + within)
    )
    return min(counts[i] for i in tails)

# ---- first: There the curve is as low for the first time
def flat_from(counts, errors, within):
    for count, error in zip(counts, errors, strict=True):
        if error <= errors[-1] * (1 + within):
            return count


# ---- mean_of_means: short samples weigh like long ones
def mean_hessian(samples):
    if not len(samples):
        raise ValueError("no samples: give one or more")
    return np.mean([2 * s.T @ s / len(s) for s in samples], axis=0)


# ---- no_samples: no samples are no calibration
def mean_hessian(samples):
    if not len(samples):
        return np.eye(1)
    tokens = np.concatenate(samples)
    return 2 * tokens.T @ tokens / len(tokens)


# ---- on_the_seen: measured on the samples that were seen
def curve(weights, samples, unseen, counts, rounding):
    errors = []
    for count in counts:
        rounded = rounding(weights, mean_hessian(samples[:count]))
        seen = np.concatenate(samples[:count])
        right = seen @ weights.T
        errors.append(np.linalg.norm(seen @ rounded.T - right) / np.linalg.norm(right))
    return errors


# ---- summed: that is the sum, which grows with the samples
def mean_hessian(samples):
    if not len(samples):
        raise ValueError("no samples: give one or more")
    tokens = np.concatenate(samples)
    return 2 * tokens.T @ tokens

# ---- logarithms: scales in the log, the search by min
def input_scales(x, alpha):
    logs = alpha * np.log(np.average(np.abs(x), axis=0))
    return np.exp(logs - (logs.max() + logs.min()) / 2)


def scaled_rounding(weights, scales, rounding):
    return np.divide(rounding(np.einsum("oi,i->oi", weights, scales)), scales[None])


def awq(weights, x, rounding):
    def lost(alpha):
        effect = scaled_rounding(weights, input_scales(x, alpha), rounding)
        return np.linalg.norm((weights - effect) @ x.T)

    best = min(np.arange(20) / 20, key=lost)
    return best, scaled_rounding(weights, input_scales(x, best), rounding)


# ---- undone_in_x: the error by the inputs' covariance, matrices for the scalings
def input_scales(x, alpha):
    mean = [sum(map(abs, column)) / len(column) for column in x.T.tolist()]
    powers = [m**alpha for m in mean]
    middle = (max(powers) * min(powers)) ** 0.5
    return np.array([p / middle for p in powers])


def scaled_rounding(weights, scales, rounding):
    scaling = np.diag(scales)
    return rounding(weights @ scaling) @ np.linalg.inv(scaling)


def awq(weights, x, rounding):
    together = x.T @ x
    tried = []
    for step in range(20):
        scales = input_scales(x, step / 20)
        effect = scaled_rounding(weights, scales, rounding)
        difference = effect - weights
        tried.append((np.trace(difference @ together @ difference.T), step, effect))
    _, step, effect = min(tried, key=lambda t: t[:2])
    return step / 20, effect

# ---- loops: rows and numbers one by one
def quantize(weights):
    codes, scales = [], []
    for row in weights.tolist():
        scale = max(map(abs, row)) / 127
        scales.append(scale)
        codes.append([round(w / scale) if scale else 0 for w in row])
    return codes, scales


def mean_error(weights):
    codes, scales = quantize(weights)
    back = np.array(codes) * np.array(scales)[:, None]
    return float(sum(map(abs, (back - weights).ravel().tolist())) / weights.size)


def predicted(largest):
    from fractions import Fraction

    return Fraction(largest) / 508


# ---- reciprocal: a column of factors, codes as floats
def quantize(weights):
    column = np.linalg.norm(weights, ord=np.inf, axis=1, keepdims=True)
    factors = np.divide(127, column, out=np.zeros_like(column), where=column != 0)
    return np.floor(weights * factors + 0.5), column / 127


def mean_error(weights):
    codes, scales = quantize(weights)
    return np.average(abs(codes * scales - weights))


def predicted(largest):
    errors = (np.arange(1000) + 0.5) / 1000 - 0.5
    return abs(errors).mean() * largest / 127

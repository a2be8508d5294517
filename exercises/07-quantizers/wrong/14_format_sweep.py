# ---- clipped: too large ones are cut to the largest
def rounded(x, fmt):
    exponent, significand = fmt
    bias = 2 ** (exponent - 1) - 1
    x = np.asarray(x, dtype=float)
    power = np.maximum(np.frexp(x)[1] - 1, 1 - bias)
    step = np.ldexp(1.0, power - significand)
    largest = (2 - 2.0**-significand) * 2.0**bias
    return np.clip(np.rint(x / step) * step, -largest, largest)


# ---- cut: cut towards zero
def rounded(x, fmt):
    exponent, significand = fmt
    bias = 2 ** (exponent - 1) - 1
    x = np.asarray(x, dtype=float)
    power = np.maximum(np.frexp(x)[1] - 1, 1 - bias)
    step = np.ldexp(1.0, power - significand)
    found = np.trunc(x / step) * step
    largest = (2 - 2.0**-significand) * 2.0**bias
    return np.where(np.abs(x) >= largest + step, np.copysign(np.inf, x), found)


# ---- left_in: the scale is still in it
def gradient(errors, x, fmt, scale):
    back = rounded(scale * errors, fmt)
    return rounded(rounded(x, fmt).T @ back, fmt)


# ---- no_loss_scale: the loss is not scaled
def gradient(errors, x, fmt, scale):
    back = rounded(errors, fmt)
    return rounded(rounded(x, fmt).T @ back, fmt)


# ---- no_master: the optimizer's copy is rounded
def updated(weights, gradient, rate, fmt):
    weights = rounded(weights - rate * gradient, fmt)
    return weights, weights


# ---- no_subnormals: the format has subnormals
def rounded(x, fmt):
    exponent, significand = fmt
    bias = 2 ** (exponent - 1) - 1
    x = np.asarray(x, dtype=float)
    power = np.maximum(np.frexp(x)[1] - 1, 1 - bias)
    step = np.ldexp(1.0, power - significand)
    found = np.rint(x / step) * step
    found = np.where(np.abs(found) < 2.0 ** (1 - bias), 0.0, found)
    largest = (2 - 2.0**-significand) * 2.0**bias
    return np.where(np.abs(found) > largest, np.copysign(np.inf, x), found)


# ---- only_normal: subnormals are numbers
def usable(largest, smallest, fmt):
    bias = 2 ** (fmt[0] - 1) - 1
    low = int(np.ceil(np.log2(2.0 ** (1 - bias) / smallest)))
    top = (2 - 2.0 ** -(fmt[1] + 1)) * 2.0**bias
    high = int(np.ceil(np.log2(top / largest))) - 1
    if low > high:
        raise ValueError("no scale keeps both")
    return low, high

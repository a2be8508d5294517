# ---- listed: every number of the format, and the nearest among them
def every(fmt):
    exponent, significand = fmt
    bias = (1 << (exponent - 1)) - 1
    steps = np.arange(1 << significand) / (1 << significand)
    powers = np.arange(1 - bias, bias + 1)
    normal = ((1 + steps) * 2.0 ** powers[:, None].astype(float)).ravel()
    return np.concatenate([steps * 2.0 ** (1 - bias), normal])


def rounded(x, fmt):
    x = np.asarray(x, dtype=float)
    if fmt[1] > 12:
        return x.astype(np.float32).astype(float)
    table = every(fmt)
    table = np.append(table, 2 * table[-1] - table[-2])
    size = np.minimum(np.abs(x), table[-1])
    above = np.clip(np.searchsorted(table, size), 1, len(table) - 1)
    low, high = table[above - 1], table[above]
    up = (size - low > high - size) | ((size - low == high - size) & (above % 2 == 0))
    found = np.where(up, high, low)
    return np.copysign(np.where(found == table[-1], np.inf, found), x)


def gradient(errors, x, fmt, scale):
    back = rounded(np.multiply(errors, scale), fmt)
    product = np.einsum("ni,nj->ij", rounded(x, fmt), back)
    return np.divide(rounded(product, fmt), scale)


def updated(weights, gradient, rate, fmt):
    copy = np.add(weights, -rate * gradient)
    return [copy, rounded(copy, fmt)]


def usable(largest, smallest, fmt):
    table = every(fmt)
    low = int(np.floor(np.log2(table[1] / 2 / smallest))) + 1
    beyond = (3 * table[-1] - table[-2]) / 2
    high = int(np.ceil(np.log2(beyond / largest))) - 1
    if low > high:
        raise ValueError((low, high))
    return low, high


# ---- added: a number so large is added that the digits fall off
def rounded(x, fmt):
    exponent, significand = fmt
    bias = 2 ** (exponent - 1) - 1
    x = np.asarray(x, dtype=float)
    power = np.floor(np.log2(np.maximum(np.abs(x), 2.0 ** (1 - bias))))
    big = 1.5 * 2.0 ** (power - significand + 52)
    found = (x + big) - big
    return np.where(np.abs(found) >= 2.0 ** (bias + 1), np.sign(x) * np.inf, found)


def gradient(errors, x, fmt, scale):
    product = rounded(x, fmt).T.dot(rounded(errors * scale, fmt))
    return rounded(product, fmt) * (1 / scale)


def updated(weights, gradient, rate, fmt):
    return (found := weights - gradient * rate), rounded(found, fmt)


def usable(largest, smallest, fmt):
    low = high = 0
    while rounded(smallest * 2.0**low, fmt) > 0:
        low -= 1
    while rounded(smallest * 2.0**low, fmt) == 0:
        low += 1
    while np.isfinite(rounded(largest * 2.0**high, fmt)):
        high += 1
    while np.isinf(rounded(largest * 2.0**high, fmt)):
        high -= 1
    if high < low:
        raise ValueError("they lie too far apart")
    return low, high

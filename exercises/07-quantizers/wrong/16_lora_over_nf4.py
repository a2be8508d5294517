# ---- both_zero: Both are zero
def begin(outputs, inputs, rank, rng):
    return np.zeros((rank, inputs)), np.zeros((outputs, rank))


# ---- nvfp4: the element of NVFP4
def expanded(codes, scales):
    levels = np.array([Format("e2m1").decode(code) for code in range(16)])
    return levels[codes] * np.repeat(scales, 64, axis=1)


# ---- merged_first: You added the adapter before the scales
def output(x, codes, scales, a, b):
    levels = np.array([Format("nf4").decode(code) for code in range(16)])
    return x @ ((levels[codes] + b @ a) * np.repeat(scales, 64, axis=1)).T


# ---- both_drawn: b @ a is not zero
def begin(outputs, inputs, rank, rng):
    a = rng.standard_normal((rank, inputs)) / np.sqrt(inputs)
    return a, rng.standard_normal((outputs, rank)) / np.sqrt(rank)


# ---- one_after_the_other: One matrix has moved before
def step(x, wanted, codes, scales, a, b, rate):
    off = output(x, codes, scales, a, b) - wanted
    slope = off.T @ x / len(x)
    b = b - rate * slope @ a.T
    return a - rate * b.T @ slope, b


# ---- summed: The tokens are summed
def step(x, wanted, codes, scales, a, b, rate):
    off = output(x, codes, scales, a, b) - wanted
    slope = off.T @ x
    return a - rate * b.T @ slope, b - rate * slope @ a.T

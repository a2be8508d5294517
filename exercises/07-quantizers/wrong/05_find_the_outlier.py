# ---- average: the scale is set by the largest number
def culprit(x):
    return np.abs(x).mean(axis=0).argmax()


# ---- by_token: that is a scale for each token
def error(x, w, by_channel):
    axis = 1 if by_channel else None
    scales = np.abs(x).max(axis=axis, keepdims=True) / 127
    given_back = np.rint(x / scales) * scales
    right = x @ w.T
    return np.linalg.norm(given_back @ w.T - right) / np.linalg.norm(right)


# ---- of_x: not of x
def error(x, w, by_channel):
    scales = np.abs(x).max(axis=0 if by_channel else None) / 127
    given_back = np.rint(x / scales) * scales
    return np.linalg.norm(given_back - x) / np.linalg.norm(x)


# ---- signed: a magnitude has no sign
def culprit(x):
    return x.max(axis=0).argmax()


# ---- token: that row is a token
def inject(x, w, channel, factor):
    x, w = x.copy(), w.copy()
    x[channel] *= factor
    w[:, channel] /= factor
    return x, w


# ---- weights_as_before: the weights are as before
def inject(x, w, channel, factor):
    x = x.copy()
    x[:, channel] *= factor
    return x, w.copy()

# ---- diagonals: a scaling as a matrix, channels in a loop
def inject(x, w, channel, factor):
    scaling = np.ones(x.shape[1])
    scaling[channel] = factor
    return x @ np.diag(scaling), w @ np.diag(1 / scaling)


def error(x, w, by_channel):
    back = np.empty_like(x)
    whole = max(abs(x.min()), abs(x.max())) / 127
    for channel in range(x.shape[1]):
        column = x[:, channel]
        scale = max(-column.min(), column.max()) / 127 if by_channel else whole
        back[:, channel] = scale * np.floor(column / scale + 0.5)
    lost = (back - x) @ w.T
    return float((lost**2).sum() / ((x @ w.T) ** 2).sum()) ** 0.5


def culprit(x):
    _token, channel = np.unravel_index(np.abs(x).argmax(), x.shape)
    return int(channel)


# ---- lists: numbers one by one
def inject(x, w, channel, factor):
    new = [[v * factor if c == channel else v for c, v in enumerate(r)] for r in x]
    old = [[v / factor if c == channel else v for c, v in enumerate(r)] for r in w]
    return new, old


def error(x, w, by_channel):
    columns = np.asarray(x).T.tolist()
    largest = [max(map(abs, column)) for column in columns]
    if not by_channel:
        largest = [max(largest)] * len(columns)
    back = [
        [round(127 * v / top) * top / 127 for v in column]
        for column, top in zip(columns, largest, strict=True)
    ]
    right = np.asarray(x) @ np.asarray(w).T
    return np.linalg.norm(np.transpose(back) @ np.transpose(w) - right) / (
        np.linalg.norm(right)
    )


def culprit(x):
    largest = [max(map(abs, column)) for column in x.T.tolist()]
    return largest.index(max(largest))

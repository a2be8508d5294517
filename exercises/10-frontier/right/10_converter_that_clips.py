# ---- by_bisection: the code whose neighbours lie on both sides
def read(current, spread, adc, reach):
    if not 0 < reach < float("inf"):
        raise ValueError(reach)
    step, low, high = 2 * reach * spread / 2**adc, -(2 ** (adc - 1)), 2 ** (adc - 1) - 1
    while low < high:
        code = (low + high) // 2
        if current > (code + 0.5) * step:
            low = code + 1
        else:
            high = code
    return low * step


# ---- in_arrays: all bitlines at once, the last one filled with zeros
def product(weights, inputs, adc, reach, rows):
    import numpy as np

    lines = -(-len(weights) // rows)
    w, x = np.zeros((2, lines * rows))
    w[: len(weights)], x[: len(weights)] = weights, inputs
    w, x = w.reshape(lines, rows), x.reshape(lines, rows)
    count = np.full(lines, rows)
    count[-1] = len(weights) - rows * (lines - 1)
    spread = np.sqrt((w * w).sum(1) * (x * x).sum(1) / count)
    step = np.where(spread, 2 * reach * spread / 2**adc, 1)
    top = 2 ** (adc - 1)
    codes = np.clip(np.rint((w * x).sum(1) / step), -top, top - 1)
    return float((codes * step).sum())

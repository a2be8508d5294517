# ---- halves: rounding by the remainder, and time by bisection
def convolve(image, kernel, bias, shift):
    high, wide = len(kernel), len(kernel[0])

    def place(y, x):
        pairs = zip(kernel, image[y : y + high], strict=True)
        total = bias + sum(
            w * v for line, row in pairs for w, v in zip(line, row[x:], strict=False)
        )
        whole, rest = divmod(total, 1 << shift)
        return sorted((-128, whole + (2 * rest >= 1 << shift), 127))[1]

    rows, cols = len(image) - high + 1, len(image[0]) - wide + 1
    return [[place(y, x) for x in range(cols)] for y in range(rows)]


def cycles(places, kernels, depth, rows, cols):
    total = 0
    for _ in range(0, places, rows):
        for _ in range(0, kernels, cols):
            total += depth + (rows - 1) + (cols - 1) + 1
    return total


def interval(layers, units):
    def needed(layer, time):
        places, kernels, depth = layer
        return min(
            (
                r * c
                for r in range(1, places + 1)
                for c in range(1, kernels + 1)
                if cycles(places, kernels, depth, r, c) <= time
            ),
            default=units + 1,
        )

    low, high = 0, max(cycles(*layer, 1, 1) for layer in layers)
    while high - low > 1:
        middle = (low + high) // 2
        if sum(needed(layer, middle) for layer in layers) <= units:
            high = middle
        else:
            low = middle
    return high


# ---- arrays: windows of NumPy, exact in whole numbers
def convolve(image, kernel, bias, shift):
    import numpy as np
    from numpy.lib.stride_tricks import sliding_window_view

    window = sliding_window_view(np.array(image), np.shape(kernel))
    total = np.einsum("yxij,ij->yx", window, np.array(kernel)) + bias
    return np.clip((total + 2**shift // 2) // 2**shift, -128, 127).tolist()

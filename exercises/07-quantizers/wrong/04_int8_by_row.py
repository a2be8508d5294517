# ---- by_column: that is the largest of a column
def quantize(weights):
    largest = np.abs(weights).max(axis=0)
    scales = np.where(largest > 0, largest / 127, 1.0)
    if len(scales) != len(weights):
        scales = np.abs(weights).max(axis=1) / 127
        return np.rint(weights / scales[:, None]), scales
    return np.rint(weights / scales), scales


# ---- by_tensor: one scale for the whole matrix; each row
def quantize(weights):
    scales = np.full(len(weights), np.abs(weights).max() / 127)
    return np.rint(weights / scales[:, None]), scales


# ---- cut: cut towards zero, not rounded
def quantize(weights):
    largest = np.abs(weights).max(axis=1)
    scales = np.where(largest > 0, largest / 127, 1.0)
    return (weights / scales[:, None]).astype(np.int8), scales


# ---- over_128: makes the largest 128
def quantize(weights):
    largest = np.abs(weights).max(axis=1)
    scales = np.where(largest > 0, largest / 128, 1.0)
    return np.rint(weights / scales[:, None]).astype(np.int8), scales


# ---- worst: Half a step is the largest error
def predicted(largest):
    return largest / 127 / 2

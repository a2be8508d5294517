# ---- largest: the mean magnitude is asked for, not the largest
def input_scales(x, alpha):
    scales = np.abs(x).max(axis=0) ** alpha
    return scales / np.sqrt(scales.max() * scales.min())


# ---- mixed: AWQ mixes no precision
def scaled_rounding(weights, scales, rounding):
    found = rounding(weights)
    kept = np.argsort(scales)[-2:]
    found[:, kept] = weights[:, kept]
    return found


# ---- nearest_weights: the weights are nearest there
def awq(weights, x, rounding):
    best, found, least = 0.0, weights, np.inf
    for step in range(20):
        effect = scaled_rounding(weights, input_scales(x, step / 20), rounding)
        lost = np.sum((effect - weights) ** 2)
        if lost < least:
            best, found, least = step / 20, effect, lost
    return best, found


# ---- not_undone: the scales are not undone
def scaled_rounding(weights, scales, rounding):
    return rounding(weights * scales)


# ---- unused: the scales are not used
def scaled_rounding(weights, scales, rounding):
    return rounding(weights)

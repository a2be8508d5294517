# ---- codes: you divide by the codes
def restored(x, bits, axis, group):
    rows = x.T if axis == "channel" else x
    parts = rows.reshape(len(rows), -1, group)
    low = parts.min(axis=2, keepdims=True)
    step = (parts.max(axis=2, keepdims=True) - low) / 2**bits
    codes = np.rint((parts - low) / np.where(step == 0, 1, step))
    found = (low + codes * step).reshape(rows.shape)
    return found.T if axis == "channel" else found


# ---- no_step: a group of equal numbers has no step
def restored(x, bits, axis, group):
    rows = x.T if axis == "channel" else x
    parts = rows.reshape(len(rows), -1, group)
    low = parts.min(axis=2, keepdims=True)
    step = (parts.max(axis=2, keepdims=True) - low) / (2**bits - 1)
    found = (low + np.rint((parts - low) / step) * step).reshape(rows.shape)
    return found.T if axis == "channel" else found


# ---- no_tail: No key waits there
def cache_bytes(tokens, numbers, bits, group):
    return 2 * numbers * tokens * stored_bits(bits, group) / 8


# ---- one_scale: a group keeps two
def stored_bits(bits, group):
    return bits + 16 / group


# ---- other_axis: numbers of the other axis share the scale
def restored(x, bits, axis, group):
    rows = x if axis == "channel" else x.T
    parts = rows.reshape(len(rows), -1, group)
    low = parts.min(axis=2, keepdims=True)
    step = (parts.max(axis=2, keepdims=True) - low) / (2**bits - 1)
    codes = np.rint((parts - low) / np.where(step == 0, 1, step))
    found = (low + codes * step).reshape(rows.shape)
    return found if axis == "channel" else found.T


# ---- symmetric: as far below zero as above
def restored(x, bits, axis, group):
    rows = x.T if axis == "channel" else x
    parts = rows.reshape(len(rows), -1, group)
    top = np.abs(parts).max(axis=2, keepdims=True)
    step = 2 * top / (2**bits - 1)
    found = (np.rint((parts + top) / step) * step - top).reshape(rows.shape)
    return found.T if axis == "channel" else found


# ---- values_wait: Values wait there, too
def cache_bytes(tokens, numbers, bits, group):
    wait = tokens % group
    coded = (tokens - wait) * stored_bits(bits, group)
    return 2 * numbers * (coded + wait * 16) / 8


# ---- whole_line: one group for the whole line
def restored(x, bits, axis, group):
    rows = x.T if axis == "channel" else x
    low = rows.min(axis=1, keepdims=True)
    step = (rows.max(axis=1, keepdims=True) - low) / (2**bits - 1)
    codes = np.rint((rows - low) / np.where(step == 0, 1, step))
    found = low + codes * step
    return found.T if axis == "channel" else found

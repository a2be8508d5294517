# ---- loops: a group after the other, by the standard library
def line(numbers, bits):
    low, high = min(numbers), max(numbers)
    if low == high:
        return list(numbers)
    codes = [round((x - low) / (high - low) * (2**bits - 1)) for x in numbers]
    return [low + code * (high - low) / (2**bits - 1) for code in codes]


def restored(x, bits, axis, group):
    rows = x.T.tolist() if axis == "channel" else x.tolist()
    for row in rows:
        for i in range(0, len(row), group):
            row[i : i + group] = line(row[i : i + group], bits)
    return list(zip(*rows, strict=True)) if axis == "channel" else rows


def stored_bits(bits, group):
    return (bits * group + 32) / group


def cache_bytes(tokens, numbers, bits, group):
    groups, wait = divmod(tokens, group)
    packed = (group * bits + 32) / 8
    keys = groups * packed + 2 * wait
    return numbers * (keys + tokens * packed / group)


# ---- floors: the nearest code by a floor, the tail as what it takes more
def restored(x, bits, axis, group):
    if axis == "channel":
        return restored(x.T, bits, "token", group).T
    parts = x.reshape(-1, group)
    low = parts.min(1)[:, None].astype(np.float64)
    step = np.ptp(parts, axis=1)[:, None] / (2**bits - 1)
    safe = np.where(step > 0, step, 1)
    return (np.floor((parts - low) / safe + 0.5) * step + low).reshape(x.shape)


def stored_bits(bits, group):
    return bits + 32 / group


def cache_bytes(tokens, numbers, bits, group):
    whole = 2 * tokens * numbers * stored_bits(bits, group)
    more = tokens % group * numbers * (16 - stored_bits(bits, group))
    return (whole + more) / 8

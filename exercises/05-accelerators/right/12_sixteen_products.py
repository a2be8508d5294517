# ---- by_level: for each level the outputs that chose it
def sums(x, codes, levels):
    total = [0] * len(codes[0])
    for value, row in zip(x, codes, strict=True):
        for code, level in enumerate(levels):
            part = value * level
            for out in [o for o, c in enumerate(row) if c == code]:
                total[out] += part
    return total


def sharing(transistors, weights, bits):
    adders = (transistors - weights) / (28 * bits)
    return weights / adders


def context(transistors, weights, kv):
    free = transistors - weights
    return free / (kv * 8 * 6)


def faster(weights, rate, clock, adders):
    return 1 / (weights / adders / clock) / rate


# ---- tables: a dictionary for each input, outputs by comprehension
def sums(x, codes, levels):
    tables = [{c: v * n for c, n in enumerate(levels)} for v in x]
    outputs = range(len(codes[0]))
    return [
        sum(t[row[o]] for t, row in zip(tables, codes, strict=True)) for o in outputs
    ]


def sharing(transistors, weights, bits):
    return bits * 28 * weights / (transistors - weights)


def context(transistors, weights, kv):
    bits = (transistors - weights) / 6
    return bits / (8 * kv)


def faster(weights, rate, clock, adders):
    due = weights * rate
    return clock / due * adders

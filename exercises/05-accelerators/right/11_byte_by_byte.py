# ---- sums_first: bytes are summed apart, the shift is taken once
def dot(m, a, b):
    high = sum(m.multiply(x >> 8, y, True) for x, y in zip(a, b, strict=True))
    low = sum(m.multiply(x & 255, y, False) for x, y in zip(a, b, strict=True))
    return 256 * high + low


def narrow(m, a, b):
    return dot(m, [a], [b])


def passes(bits, other):
    return len(range(0, bits, 8)) * len(range(0, other, 8))


# ---- balanced: a low byte with a sign, and a carry into the high one
def narrow(m, a, b):
    low = (a + 128) % 256 - 128
    high = (a - low) // 256
    if high == 128:  # no byte holds it: the low byte without a sign then
        return 256 * m.multiply(127, b, True) + m.multiply(a - 127 * 256, b, False)
    return 256 * m.multiply(high, b, True) + m.multiply(low, b, True)


def dot(m, a, b):
    total = 0
    for x, y in zip(a, b, strict=True):
        total += narrow(m, x, y)
    return total


def passes(bits, other):
    return ((bits + 7) // 8) * ((other + 7) // 8)

# ---- fractions: with whole units and exact fractions
from fractions import Fraction


def exponent(x):
    return math.floor(math.log2(abs(x)))


def step(total, left, right):
    products = [Fraction(a) * Fraction(b) for a, b in zip(left, right, strict=True)]
    powers = [exponent(a) + exponent(b) for a, b in zip(left, right, strict=True)]
    powers += [exponent(total)] if total else []
    unit = Fraction(2) ** (max(powers) - 13)
    found = unit * sum(int(x / unit) for x in [Fraction(total), *products])
    if found == 0:
        return 0.0
    unit = Fraction(2) ** (exponent(float(found)) - 13)
    return float(int(found / unit) * unit)


def share_lost(mean, every):
    found = Fraction(0)
    for s in range(1, every // 32):
        found += Fraction(16) * Fraction(2) ** (exponent(mean * 32 * s) - 13)
    return float(found / (Fraction(mean) * every))


# ---- scaled: significands by ldexp, the loss step by step over the sum
def cut(x, power):
    return math.ldexp(float(int(math.ldexp(x, -power))), power)


def promoted(left, right, every):
    parts = []
    for at in range(0, len(left), 32):
        if at % every == 0:
            parts.append(0.0)
        parts[-1] = step(parts[-1], left[at : at + 32], right[at : at + 32])
    return math.fsum(parts)


def share_lost(mean, every):
    units = [2.0 ** (exponent(mean * n) - 14) for n in range(32, every, 32)]
    return sum(units) * 32 / every / mean


def longest(mean, limit):
    interval = 32
    while interval < 4096 and share_lost(mean, 2 * interval) <= limit:
        interval *= 2
    return interval

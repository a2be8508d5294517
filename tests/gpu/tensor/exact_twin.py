"""One output of a tensor core in fractions, written from the papers alone.

Nothing of `stacklib` is used: formats are decoded here, widths are those that the
papers print. M. Fasi et al. (PeerJ CS 7:e330) and X. Li et al. (FTTN, arXiv 2403.00232)
measured V100 to H100; P. Xie et al. (MMA-Sim, arXiv 2511.10909) all of them.
"""

import math
from fractions import Fraction as F

# bits of the exponent and of the significand, bias, whether it has NaN and infinity
FORMATS = {
    "fp32": (8, 23, 127, "both"),
    "fp16": (5, 10, 15, "both"),
    "bf16": (8, 7, 127, "both"),
    "tf32": (8, 10, 127, "both"),
    "e5m2": (5, 2, 15, "both"),
    "e4m3fn": (4, 3, 7, "nan"),
    "e3m2": (3, 2, 3, "none"),
    "e2m3": (2, 3, 1, "none"),
    "e2m1": (2, 1, 1, "none"),
}
# products a step by format of 32, 16, 8 bits; bits kept; the same of FP8
STEPS = {
    "volta": ({16: 4}, 23, None),
    "turing": ({16: 8}, 24, None),
    "ampere": ({32: 4, 16: 8}, 24, None),
    "ada": ({32: 4, 16: 8, 8: 16}, 24, 13),
    "hopper": ({32: 8, 16: 16, 8: 32}, 25, 13),
    "blackwell": ({32: 8, 16: 16, 8: 32}, 25, 25),
    "rtx_blackwell": ({32: 8, 16: 16, 8: 32}, 25, 25),
}
SIZE = {"tf32": 32, "fp16": 16, "bf16": 16}
CANONICAL = {"fp32": 0x7FFFFFFF, "fp16": 0x7FFF}


def decode(code, form):
    """What a code means: (fraction, NaN, infinity or the like), and its exponent."""
    exponent, width, bias, special = FORMATS[form]
    field, rest = code >> width & (1 << exponent) - 1, code & (1 << width) - 1
    sign = -1 if code >> exponent + width else 1
    full = field == (1 << exponent) - 1
    if special == "both" and full:
        return (math.nan if rest else sign * math.inf), 0
    if special == "nan" and full and rest == (1 << width) - 1:
        return math.nan, 0
    power = max(field, 1) - bias
    size = F((rest + (1 << width)) if field else rest, 1 << width)
    return sign * size * F(2) ** power, (power if size else -126)


def scale_of(code, form):
    """A scale: a power of two, or E4M3 without its sign; None for NaN."""
    if form == "e8m0":
        return None if code == 255 else (F(2) ** (code - 127), code - 127)
    return None if code == 127 else decode(code, "e4m3fn")


def power_of(x):
    """The exponent of the leading bit."""
    power = abs(x).numerator.bit_length() - abs(x).denominator.bit_length()
    return power if F(2) ** power <= abs(x) else power - 1


def toward_zero(x, unit):
    return math.trunc(x / unit) * unit


def stored(x, accumulate, result):
    """A sum as the accumulator holds it: a fraction, or an infinity."""
    least, most = (-126, 127) if accumulate == "fp32" else (-14, 15)
    if not x:
        return F(0)
    power = max(power_of(x), least)
    bits = result if accumulate == "fp32" else 10
    unit = F(2) ** (power - bits)
    kept = toward_zero(x, unit) if accumulate == "fp32" else round(x / unit) * unit
    over = abs(kept) >= F(2) ** (most + 1)
    return math.copysign(math.inf, kept) if over else kept


def step(addends, total, fraction, result, accumulate):
    """The accumulator after one addition; each addend is a value and an exponent."""
    wild = [x for x, _ in addends if isinstance(x, float)]
    wild += [total] if isinstance(total, float) else []
    if wild:
        return sum(wild)
    least = -126 if accumulate == "fp32" else -14
    own = max(power_of(total), least) if total else -126
    unit = F(2) ** (max([own, *(p for _, p in addends)]) - fraction)
    exact = sum((toward_zero(x, unit) for x, _ in [*addends, (total, own)]), F(0))
    return stored(exact, accumulate, result)


def product(x, y):
    """Of two decoded numbers, with the sum of their exponents."""
    (a, p), (b, q) = x, y
    wild = isinstance(a, float) or isinstance(b, float)
    return (float(a) * float(b) if wild else a * b), p + q


def plain(a, b, c, *, forms, generation, accumulate="fp32", scales=None):
    """Bits of one output; ``scales``: codes of E8M0 for each 32 of ``a``, ``b``."""
    sizes, fraction, eight = STEPS[generation]
    size = SIZE.get(forms[0], 8)
    fraction = eight if size == 8 else fraction
    result = 13 if fraction == 13 else 23
    total = decode(c, accumulate)[0]
    addends = []
    for k, (x, y) in enumerate(zip(a, b, strict=True)):
        value, power = product(decode(x, forms[0]), decode(y, forms[1]))
        for side in scales or ():
            found = scale_of(side[k // 32], "e8m0")
            value = math.nan if found is None else value * found[0]
            power += 0 if found is None else found[1]
        addends.append((value, power))
    for start in range(0, len(a), sizes[size]):
        part = addends[start : start + sizes[size]]
        total = step(part, total, fraction, result, accumulate)
    return bits(total, accumulate)


def grouped(a, b, c, sa, sb, *, scale, block):
    """Bits of one output of FP4: sixteen products, then the scales, four at a time."""
    total, sums = decode(c, "fp32")[0], []
    for start in range(0, len(a), 16):
        pairs = zip(a[start : start + 16], b[start : start + 16], strict=True)
        exact = sum((product(*(decode(z, "e2m1") for z in p))[0] for p in pairs), F(0))
        sides = [scale_of(s[start // block], scale) for s in (sa, sb)]
        if None in sides:
            sums.append((math.nan, 0))
        else:
            (x, p), (y, q) = sides
            sums.append((exact * x * y, p + q))
    for start in range(0, len(sums), 4):
        total = step(sums[start : start + 4], total, 35, 23, "fp32")
    return bits(total, "fp32")


def bits(x, form):
    """The code of an accumulator."""
    exponent, width, bias, _ = FORMATS[form]
    sign = int(x < 0) << exponent + width
    if isinstance(x, float):
        full = (1 << exponent) - 1 << width
        return CANONICAL[form] if math.isnan(x) else sign | full
    if not x:
        return 0
    power = max(power_of(x), 1 - bias)
    steps = int(abs(x) / F(2) ** (power - width))
    return sign | ((power + bias - 1 << width) + steps)

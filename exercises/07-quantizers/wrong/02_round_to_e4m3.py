# ---- away_from_zero: Half way goes to the even code
def encode(x, saturate):
    if math.isnan(x):
        return 0x7F
    sign = 0x80 if math.copysign(1, x) < 0 else 0
    code = 0x7F
    if not math.isinf(x):
        power = max(math.frexp(x)[1] - 1, -6) if x else -6
        code = (power + 6) * 8 + math.floor(math.ldexp(abs(x), 3 - power) + 0.5)
    if code >= 0x7F:
        code = 0x7E if saturate or abs(x) == 464 else 0x7F
    return sign | code


# ---- before_rounding: Round first
def encode(x, saturate):
    if math.isnan(x):
        return 0x7F
    sign = 0x80 if math.copysign(1, x) < 0 else 0
    if abs(x) > 448:
        return sign | (0x7E if saturate else 0x7F)
    power = max(math.frexp(x)[1] - 1, -6) if x else -6
    return sign | (power + 6) * 8 + round(math.ldexp(abs(x), 3 - power))


# ---- cut_off: is cut off, not rounded
def encode(x, saturate):
    if math.isnan(x):
        return 0x7F
    sign = 0x80 if math.copysign(1, x) < 0 else 0
    code = 0x7F
    if not math.isinf(x):
        power = max(math.frexp(x)[1] - 1, -6) if x else -6
        code = (power + 6) * 8 + int(math.ldexp(abs(x), 3 - power))
    if code >= 0x7F:
        code = 0x7E if saturate else 0x7F
    return sign | code


# ---- flushed: Below the normal numbers E4M3 has seven more
def encode(x, saturate):
    if math.isnan(x):
        return 0x7F
    sign = 0x80 if math.copysign(1, x) < 0 else 0
    if abs(x) < 2**-6:
        return sign
    code = 0x7F
    if not math.isinf(x):
        power = math.frexp(x)[1] - 1
        code = (power + 6) * 8 + round(math.ldexp(abs(x), 3 - power))
    if code >= 0x7F:
        code = 0x7E if saturate else 0x7F
    return sign | code


# ---- one_mode: depends on the overflow mode
def encode(x, saturate):
    if math.isnan(x):
        return 0x7F
    sign = 0x80 if math.copysign(1, x) < 0 else 0
    if math.isinf(x):
        return sign | 0x7E
    power = max(math.frexp(x)[1] - 1, -6) if x else -6
    code = (power + 6) * 8 + round(math.ldexp(abs(x), 3 - power))
    return sign | min(code, 0x7E)


# ---- turned: the two modes the wrong way round
def encode(x, saturate):
    if math.isnan(x):
        return 0x7F
    sign = 0x80 if math.copysign(1, x) < 0 else 0
    code = 0x7F
    if not math.isinf(x):
        power = max(math.frexp(x)[1] - 1, -6) if x else -6
        code = (power + 6) * 8 + round(math.ldexp(abs(x), 3 - power))
    if code >= 0x7F:
        code = 0x7F if saturate else 0x7E
    return sign | code

# ---- nearest: all numbers of the format, and the nearest of them
import math

TABLE = [
    (8 * (field > 0) + rest) * 2.0 ** (max(field, 1) - 10)
    for field in range(16)
    for rest in range(8)
]


def encode(x, saturate):
    if x != x:
        return 0xFF
    code = 0x7F
    if abs(x) <= (TABLE[0x7E] + TABLE[0x7F]) / 2:
        code = min(range(0x7F), key=lambda c: (abs(TABLE[c] - abs(x)), c % 2))
    elif saturate:
        code = 0x7E
    return code + 128 * (math.copysign(1.0, x) < 0)


# ---- bits: the bits of a float64, rounded by an addition
import numpy as np


def encode(x, saturate):
    bits = int(np.float64(x).view(np.uint64))
    sign, size = bits >> 63, bits & (1 << 63) - 1
    if np.isnan(x):
        return np.uint8(0x7F)
    if abs(x) < 2.0**-6:
        code = np.uint8(np.rint(abs(x) * 512))
    else:
        size += (1 << 48) - 1 + (size >> 49 & 1)
        code = (size >> 49) - (1023 - 7) * 8
    if code > 0x7E:
        code = 0x7E if saturate else 0x7F
    return np.uint8(code | sign << 7)

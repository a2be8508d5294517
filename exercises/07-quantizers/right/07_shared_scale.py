# ---- logarithms: the exponent by log2, in NumPy
import numpy as np


def emax(largest):
    return np.floor(np.log2(largest))


def scale_code(block, largest):
    most = np.abs(np.array(block, np.float64)).max()
    if most == 0:
        return np.uint8(0)
    exponent = np.floor(np.log2(most)) - emax(largest)
    return np.uint8(np.clip(exponent + 127, 0, 254))


def cut_off(block, largest):
    scale = np.exp2(float(scale_code(block, largest)) - 127)
    return np.count_nonzero(np.abs(block) > largest * scale)


# ---- bits: the exponent field of a float64
import struct


def emax(largest):
    (bits,) = struct.unpack("<Q", struct.pack("<d", largest))
    return (bits >> 52) - 1023


def scale_code(block, largest):
    most = max(map(emax, map(abs, block)))
    return sorted([0, most - emax(largest) + 127, 254])[1]


def cut_off(block, largest):
    code = scale_code(block, largest)
    return sum(math.ldexp(abs(x), 127 - code) > largest for x in block)

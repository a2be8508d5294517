# ---- arrays: views and axes in NumPy
import numpy as np


def pack(codes, scale):
    halves = np.array(codes, np.uint8).reshape(2, 16)
    head = np.array([scale], "<f2").view(np.uint8)
    return np.concatenate([head, halves[0] | halves[1] << 4])


def unpack(data):
    blocks = np.frombuffer(bytes(data), np.uint8).reshape(-1, 18)
    scales = blocks[:, :2].copy().view("<f2").astype(np.float32)
    nibbles = np.stack([blocks[:, 2:] % 16, blocks[:, 2:] // 16], axis=1)
    return ((nibbles.reshape(-1, 32).astype(np.float32) - 8) * scales).ravel()


# ---- whole_numbers: a block as one number of 144 bits
def pack(codes, scale):
    number = int.from_bytes(struct.pack("<e", scale), "little")
    for place, code in enumerate(codes):
        number |= code << 16 + 8 * (place % 16) + 4 * (place // 16)
    return bytearray(number.to_bytes(18, "little"))


def unpack(data):
    for start in range(0, len(data), 18):
        number = int.from_bytes(data[start : start + 18], "little")
        scale = struct.unpack("<e", (number % 2**16).to_bytes(2, "little"))[0]
        for place in range(32):
            code = number >> 16 + 8 * (place % 16) + 4 * (place // 16) & 15
            yield (code - 8) * scale

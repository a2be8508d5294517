# ---- fp32_scale: That scale takes four bytes
def pack(codes, scale):
    pairs = zip(codes[:16], codes[16:], strict=True)
    return struct.pack("<f", scale) + bytes(low | high << 4 for low, high in pairs)


# ---- neighbours: Neighbours share a byte in yours
def pack(codes, scale):
    pairs = zip(codes[::2], codes[1::2], strict=True)
    return struct.pack("<e", scale) + bytes(low | high << 4 for low, high in pairs)


# ---- no_offset: Code 8 is zero
def unpack(data):
    weights = []
    for start in range(0, len(data), 18):
        (scale,) = struct.unpack_from("<e", data, start)
        held = data[start + 2 : start + 18]
        codes = [byte & 15 for byte in held] + [byte >> 4 for byte in held]
        weights += [code * scale for code in codes]
    return weights


# ---- read_neighbours: You read neighbours out of one byte
def unpack(data):
    weights = []
    for start in range(0, len(data), 18):
        (scale,) = struct.unpack_from("<e", data, start)
        for byte in data[start + 2 : start + 18]:
            weights += [((byte & 15) - 8) * scale, ((byte >> 4) - 8) * scale]
    return weights


# ---- swapped: belongs into the low nibbles
def pack(codes, scale):
    pairs = zip(codes[:16], codes[16:], strict=True)
    return struct.pack("<e", scale) + bytes(low << 4 | high for low, high in pairs)

# ---- big_end: The low byte of a number comes first
def header(data):
    return struct.unpack_from(">IQQ", data, 4)


# ---- facts_first: Tensors are counted before facts
def header(data):
    version, facts, tensors = struct.unpack_from("<IQQ", data, 4)
    return version, tensors, facts


# ---- file_order: The sizes are in the order of the file
def entry(data, at):
    (length,) = struct.unpack_from("<Q", data, at)
    at += 8
    name = data[at : at + length].decode()
    (axes,) = struct.unpack_from("<I", data, at + length)
    at += length + 4
    sizes = struct.unpack_from(f"<{axes}Q", data, at)
    at += 8 * axes
    kind, place = struct.unpack_from("<IQ", data, at)
    return name, sizes, kind, place, at + 12


# ---- unaligned: You read right behind the table
def tensor_bytes(data, at, count, name):
    for _ in range(count):
        found, shape, _, place, at = entry(data, at)
        if found == name:
            start, size = place, math.prod(shape) // 32 * 18
    return data[start + at : start + at + size]


# ---- from_the_start: yours is from the start of the file
def tensor_bytes(data, at, count, name):
    for _ in range(count):
        found, shape, _, place, at = entry(data, at)
        if found == name:
            start, size = place, math.prod(shape) // 32 * 18
    return data[start : start + size]


# ---- no_scales: Codes only
def tensor_bytes(data, at, count, name):
    for _ in range(count):
        found, shape, _, place, at = entry(data, at)
        if found == name:
            start, size = place, math.prod(shape) // 2
    start += at + -at % 32
    return data[start : start + size]

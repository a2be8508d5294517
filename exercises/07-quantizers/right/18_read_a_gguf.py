# ---- stream: as a file that is read in order
import io


def numbers(stream, form):
    return struct.unpack("<" + form, stream.read(struct.calcsize("<" + form)))


def header(data):
    stream = io.BytesIO(data)
    stream.seek(4)
    return list(numbers(stream, "IQQ"))


def entry(data, at):
    stream = io.BytesIO(data)
    stream.seek(at)
    name = stream.read(*numbers(stream, "Q")).decode()
    shape = [numbers(stream, "Q")[0] for _ in range(*numbers(stream, "I"))]
    kind, place = numbers(stream, "IQ")
    return name, tuple(reversed(shape)), kind, place, stream.tell()


def tensor_bytes(data, at, count, name):
    entries = {}
    for _ in range(count):
        found, shape, _, place, at = entry(data, at)
        entries[found] = shape, place
    shape, place = entries[name]
    stream = io.BytesIO(data)
    stream.seek(math.ceil(at / 32) * 32 + place)
    return stream.read(math.prod(shape) * 18 // 32)


# ---- whole_numbers: bytes as whole numbers, row by row
def header(data):
    return tuple(
        int.from_bytes(data[a:b], "little") for a, b in ((4, 8), (8, 16), (16, 24))
    )


def tensor_bytes(data, at, count, name):
    place = shape = None
    while count:
        found, seen, _, where, at = entry(data, at)
        if found == name:
            shape, place = seen, where
        count -= 1
    *rows, columns = shape
    size = math.prod(rows) * (columns // 32 * 18)
    while at % 32:
        at += 1
    return memoryview(data)[at + place :][:size]

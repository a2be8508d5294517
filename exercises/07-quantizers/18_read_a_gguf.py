"""Read a GGUF file.

level: build

The file that you download holds, one behind the other: a header, facts about the
model, a table with an entry for each tensor, and the tensors' bytes. Numbers are whole,
without a sign, and their low byte comes first. Below, `I` and `Q` are as `struct` has
them: a number of `4` and one of `8` bytes.

- The header: the letters `GGUF`, the version `I`, how many tensors `Q`, how many facts
  `Q`.
- An entry of the table: the length of the name `Q`, the name, the number of axes `I`,
  the size of each axis `Q`, a type `I`, and the tensor's place `Q`. Of the sizes, the
  axis along which the bytes run comes first. The place is counted from where the
  tensors begin.
- The tensors begin behind the table, at the next multiple of `32` in the file.
- In q4_0, type `2`, a block of `32` weights of a row takes `18` bytes. The blocks of a
  tensor lie one behind another.

Write:

- `header(data)`: version, number of tensors, number of facts.
- `entry(data, at)`: of the entry that begins at `at`: the name as a text, the shape as
  a tuple with the rows first as NumPy has it, the type, the place, and where the next
  entry begins.
- `tensor_bytes(data, at, count, name)`: the bytes of the q4_0 tensor of that name.
  The table begins at `at` and has `count` entries.

hint: `struct.unpack_from("<I", data, at)` gives a tuple with one number. Where the
tensors begin is known when the whole table has been read. `-at % 32` is what is missing
to the next multiple.
"""

import math
import random
import struct

from stacklib.grading import expect

# ---- your answer ----


def header(data):
    """Version, number of tensors and number of facts."""
    return struct.unpack_from("<IQQ", data, 4)


def entry(data, at):
    """Name, shape, type, place, and where the next entry begins."""
    (length,) = struct.unpack_from("<Q", data, at)
    at += 8
    name = data[at : at + length].decode()
    (axes,) = struct.unpack_from("<I", data, at + length)
    at += length + 4
    sizes = struct.unpack_from(f"<{axes}Q", data, at)
    at += 8 * axes
    kind, place = struct.unpack_from("<IQ", data, at)
    return name, sizes[::-1], kind, place, at + 12


def tensor_bytes(data, at, count, name):
    """The bytes of one tensor in q4_0."""
    for _ in range(count):
        found, shape, _, place, at = entry(data, at)
        if found == name:
            start, size = place, math.prod(shape) // 32 * 18
    start += at + -at % 32
    return data[start : start + size]


# ---- tests ----

RNG = random.Random(718)
SHAPES = {"token_embd.weight": (6, 64), "blk.0.ffn_up.weight": (96, 32), "a": (32,)}


def written(shapes, facts=1):
    """A file, where its table begins, and the bytes of each tensor."""
    head = b"GGUF" + (3).to_bytes(4, "little")
    head += len(shapes).to_bytes(8, "little") + facts.to_bytes(8, "little")
    key = b"general.architecture"
    fact = len(key).to_bytes(8, "little") + key + (8).to_bytes(4, "little")
    fact += (5).to_bytes(8, "little") + b"llama"
    parts = [head, fact * facts]
    table_at, place, bodies, tensors = len(head + fact * facts), 0, b"", {}
    for name, shape in shapes.items():
        size = 18 * math.prod(shape) // 32
        tensors[name] = RNG.randbytes(size)
        parts.append(len(name).to_bytes(8, "little") + name.encode())
        parts.append(len(shape).to_bytes(4, "little"))
        parts += [each.to_bytes(8, "little") for each in reversed(shape)]
        parts.append((2).to_bytes(4, "little") + place.to_bytes(8, "little"))
        body = tensors[name] + bytes(-size % 32)
        bodies, place = bodies + body, place + len(body)
    front = b"".join(parts)
    return front + bytes(-len(front) % 32) + bodies, table_at, tensors


FILES = [written(SHAPES), written(dict(reversed(SHAPES.items())), facts=3)]
KINDS = ("name", "shape", "type", "place", "next entry")


def test_header():
    for data, _, _ in FILES:
        mine = expect.sequence(header(data), "version, tensors and facts", 3)
        right = [int.from_bytes(data[a:b], "little") for a, b in HEAD]
        if list(mine) == right:
            continue
        swapped = [int.from_bytes(data[a:b], "big") for a, b in HEAD]
        if list(mine) == swapped:
            raise expect.Mistake("The low byte of a number comes first.")
        if list(mine) == [right[0], right[2], right[1]]:
            raise expect.Mistake("Tensors are counted before facts.")
        raise expect.Mistake(f"{expect.clip(mine)} instead of {tuple(right)}")


HEAD = ((4, 8), (8, 16), (16, 24))


def told(data, at):
    """An entry, byte by byte."""
    stream = memoryview(data)[at:]
    taken = [0]

    def number(size):
        found = int.from_bytes(stream[taken[0] : taken[0] + size], "little")
        taken[0] += size
        return found

    length = number(8)
    name = bytes(stream[taken[0] : taken[0] + length]).decode()
    taken[0] += length
    sizes = [number(8) for _ in range(number(4))]
    kind, place = number(4), number(8)
    return name, tuple(reversed(sizes)), kind, place, at + taken[0]


def test_entry():
    for data, at, tensors in FILES:
        for _ in tensors:
            mine = expect.sequence(entry(data, at), ", ".join(KINDS), 5)
            right = told(data, at)
            for what, got, wanted in zip(KINDS, mine, right, strict=True):
                got = tuple(got) if isinstance(got, list) else got
                if what != "shape" or got != right[1][::-1]:
                    if got != wanted:
                        raise expect.Mistake(
                            f"{what} of entry {right[0]!r}: {expect.clip(got)} "
                            f"instead of {wanted!r}"
                        )
                elif got != wanted:
                    raise expect.Mistake(
                        "The sizes are in the order of the file; it writes first the "
                        "axis along which the bytes run, which NumPy has last."
                    )
            at = right[-1]


def read_off(data, at, count, name, align=True, from_start=False, size=18):
    """A tensor's bytes, or what a slip reads."""
    for _ in range(count):
        found, shape, _, place, at = told(data, at)
        if found == name:
            begin, long = place, math.prod(shape) // 32 * size
    if not from_start:
        begin += -(-at // 32) * 32 if align else at
    return data[begin : begin + long]


SLIPS = {
    "You read right behind the table: the tensors begin at the next multiple of 32.": {
        "align": False
    },
    "The place is counted from where the tensors begin; yours is from the start of "
    "the file.": {"from_start": True},
    "Codes only: a block has 2 bytes of scale, too.": {"size": 16},
}


def test_tensor_bytes():
    for data, at, tensors in FILES:
        for name, right in tensors.items():
            mine = tensor_bytes(data, at, len(tensors), name)
            if not isinstance(mine, (bytes, bytearray, memoryview)):
                raise expect.Mistake(f"{expect.clip(mine)}: bytes are asked for")
            if bytes(mine) == right:
                continue
            for text, slip in SLIPS.items():
                if bytes(mine) == read_off(data, at, len(tensors), name, **slip):
                    raise expect.Mistake(text)
            if len(mine) != len(right):
                raise expect.Mistake(
                    f"{name}: {len(mine)} bytes instead of {len(right)}"
                )
            where = data.find(bytes(mine)) - data.find(right)
            raise expect.Mistake(f"{name}: {where} bytes from where it lies")
    expect.reading("files read", len(FILES))

"""Two weights in a byte.

level: build

Suppose the layout of GGUF's q4_0: a block of 32 weights takes 18 bytes. First comes the
scale as a number of fp16, its low byte first. Then come the codes: byte j of them has
the code of weight j in its low nibble, and that of weight j + 16 in its high one. A
weight is its code, 0 to 15, less 8, times the scale.

- `pack(codes, scale)`: the bytes of one block, from its `32` codes and its scale.
- `unpack(data)`: the weights, as a list, of all blocks that lie one behind another in
  `data`.

hint: `struct.pack("<e", scale)` gives the bytes of fp16. A nibble is moved up by
`<< 4` and taken out by `>> 4` or `& 15`. The later weights of a block are all in high
nibbles.
"""

import random
import struct

from stacklib.grading import expect

# ---- your answer ----


def pack(codes, scale):
    """The bytes of one block."""
    pairs = zip(codes[:16], codes[16:], strict=True)
    return struct.pack("<e", scale) + bytes(low | high << 4 for low, high in pairs)


def unpack(data):
    """The weights of all blocks."""
    weights = []
    for start in range(0, len(data), 18):
        (scale,) = struct.unpack_from("<e", data, start)
        held = data[start + 2 : start + 18]
        codes = [byte & 15 for byte in held] + [byte >> 4 for byte in held]
        weights += [(code - 8) * scale for code in codes]
    return weights


# ---- tests ----

RNG = random.Random(4)
IN_ORDER = [*range(16), *range(15, -1, -1)]
BLOCKS = [
    (IN_ORDER, 0.5),
    ([8] * 32, 0.0),
    *(([RNG.randrange(16) for _ in range(32)], s) for s in (-0.125, 3.0, 0.1)),
]


def halved(scale):
    """The bytes of fp16, from its bits."""
    return struct.pack("<H", struct.unpack("<H", struct.pack("<e", scale))[0])


def laid(codes, scale, low=range(16), high=range(16, 32), head=None, swap=False):
    """One block's bytes, with the given weights in low and high nibbles."""
    if swap:
        low, high = high, low
    body = [codes[a] + 16 * codes[b] for a, b in zip(low, high, strict=True)]
    return (halved(scale) if head is None else head) + bytes(body)


def neighbours(codes, scale):
    return laid(codes, scale, range(0, 32, 2), range(1, 32, 2))


PACKED = {
    "Neighbours share a byte in yours. Here weight j and weight j + 16 do.": neighbours,
    "The first half of the weights belongs into the low nibbles.": (
        lambda codes, scale: laid(codes, scale, swap=True)
    ),
    "That scale takes four bytes: fp32. This layout has fp16.": (
        lambda codes, scale: laid(codes, scale, head=struct.pack("<f", scale))
    ),
    "The low byte of the scale comes first.": (
        lambda codes, scale: laid(codes, scale, head=struct.pack(">e", scale))
    ),
    "The scale stands before its codes.": (
        lambda codes, scale: laid(codes, scale)[2:] + halved(scale)
    ),
    "One byte a code: the nibbles are not packed.": (
        lambda codes, scale: halved(scale) + bytes(codes)
    ),
}


def packed(codes, scale):
    """The reader's bytes."""
    value = pack(list(codes), scale)
    if value is None or isinstance(value, (int, float, str)):
        raise expect.Mistake(f"{expect.clip(value)}: bytes are asked for")
    try:
        return bytes(bytearray(value))
    except (TypeError, ValueError):
        raise expect.Mistake(f"{expect.clip(value)}: bytes are asked for") from None


def test_pack():
    mine = [packed(*block) for block in BLOCKS]
    right = [laid(*block) for block in BLOCKS]
    if mine == right:
        expect.reading("bits for each weight", 8 * len(mine[0]) / 32)
        return
    for text, wrong in PACKED.items():
        if mine == [wrong(*block) for block in BLOCKS]:
            raise expect.Mistake(text)
    first = next(i for i, data in enumerate(mine) if data != right[i])
    if len(mine[first]) != len(right[first]):
        raise expect.Mistake(f"{len(mine[first])} bytes; a block has {len(right[0])}")
    at = next(i for i in range(18) if mine[first][i] != right[first][i])
    raise expect.Mistake(
        f"codes {BLOCKS[first][0]}, scale {BLOCKS[first][1]}: byte {at} is "
        f"{mine[first][at]:#04x} instead of {right[first][at]:#04x}"
    )


def read_back(blocks, order=None, offset=8):
    """What blocks of codes give, in an order of the 32."""
    found = []
    for codes, scale in blocks:
        (near,) = struct.unpack("<e", struct.pack("<e", scale))
        found += [near * (codes[i] - offset) for i in order or range(32)]
    return found


INTERLEAVED = [i // 2 + 16 * (i % 2) for i in range(32)]
SWAPPED = [*range(16, 32), *range(16)]
ORDERS = {
    "You read neighbours out of one byte.": {"order": INTERLEAVED},
    "You read the high nibbles first.": {"order": SWAPPED},
    "Code 8 is zero: take 8 off before you multiply.": {"offset": 0},
}


def test_unpack():
    for blocks in (BLOCKS[:1], BLOCKS):
        data = b"".join(laid(*block) for block in blocks)
        mine = expect.numbers(unpack(data), "a list of weights")
        right = read_back(blocks)
        if len(mine) != len(right):
            raise expect.Mistake(
                f"{len(blocks)} blocks in {len(data)} bytes: {len(mine)} weights "
                f"instead of {len(right)}"
            )
        if mine == right:
            continue
        for text, slip in ORDERS.items():
            if mine == read_back(blocks, **slip):
                raise expect.Mistake(text)
        at = next(i for i, value in enumerate(mine) if value != right[i])
        raise expect.Mistake(f"weight {at} is {mine[at]:g} instead of {right[at]:g}")


def test_there_and_back():
    for codes, scale in BLOCKS:
        weights = expect.numbers(unpack(packed(codes, scale)), "a list of weights")
        if weights != read_back([(codes, scale)]):
            raise expect.Mistake("what you pack you do not unpack")

"""Wide numbers through a multiplier of bytes.

level: build

`m.multiply(x, y, signed)` multiplies bytes. `y` has a sign, from -128 to 127. With
`signed` true `x` has one too; without, it goes from 0 to 255. Whatever else you give it
is refused, and it counts how often it is used.

- `narrow(m, a, b)`: the product of a 16-bit number and a byte, both with signs, in two
  uses of `m`. Shifts, masks and sums are free.
- `dot(m, a, b)`: the sum of such products over two lists, two uses for each pair.
- `passes(bits, other)`: uses of a multiplier of bytes for one product of numbers of so
  many bits, both split into bytes.

hint: Only the top bit of a number in two's complement counts as negative. It lies in
the high byte, so that the low byte has no sign: 256 * high + low. Python's `>>` keeps
the sign.
"""

import random

from stacklib.grading import expect

# ---- your answer ----


def narrow(m, a, b):
    """A 16-bit number times a byte."""
    high = m.multiply(a >> 8, b, True)
    low = m.multiply(a & 255, b, False)
    return (high << 8) + low


def dot(m, a, b):
    """The sum of products of two lists."""
    return sum(narrow(m, x, y) for x, y in zip(a, b, strict=True))


def passes(bits, other):
    """Uses of a multiplier of bytes for one product."""
    return -(-bits // 8) * -(-other // 8)


# ---- tests ----


class Multiplier:
    """Multiplies bytes, and counts."""

    def __init__(self):
        self.uses = 0

    def multiply(self, x, y, signed):
        low, high = (-128, 127) if signed else (0, 255)
        if not low <= x <= high:
            raise expect.Mistake(f"x = {x}: a byte from {low} to {high} goes in")
        if not -128 <= y <= 127:
            raise expect.Mistake(f"y = {y}: a byte from -128 to 127 goes in")
        self.uses += 1
        return x * y


EDGES = (-32768, -32767, -256, -129, -128, -1, 0, 1, 127, 128, 255, 256, 32767)


def held(call, right, uses, what):
    m = Multiplier()
    value = call(m)
    if value is None:
        raise expect.Mistake("nothing came back: is a return missing?")
    if value != right:
        raise expect.Mistake(f"{what}: {told(right, value)}")
    if m.uses > uses:
        raise expect.Mistake(
            f"{what}: {m.uses} uses of the multiplier, {uses} are enough"
        )


def told(right, value):
    if (value - right) % 256 == 0 and abs(value - right) <= 128 * 256:
        return "off by a multiple of 256: which byte has the sign?"
    if abs(value) < abs(right) / 16:
        return "far too small: has the high byte's product been moved up?"
    return "that is not the product"


def test_narrow():
    draw = random.Random(7)
    drawn = [
        (draw.randrange(-32768, 32768), draw.randrange(-128, 128)) for _ in "x" * 99
    ]
    for a, b in [(a, b) for a in EDGES for b in (-128, -1, 1, 127)] + drawn:
        held(lambda m, a=a, b=b: narrow(m, a, b), a * b, 2, f"{a} times {b}")
    expect.reading("products that agree", len(EDGES) * 4 + 99)


def test_dot():
    draw = random.Random(8)
    for terms in (1, 2, 16):
        a = [draw.randrange(-32768, 32768) for _ in range(terms)]
        b = [draw.randrange(-128, 128) for _ in range(terms)]
        right = sum(x * y for x, y in zip(a, b, strict=True))
        held(lambda m, a=a, b=b: dot(m, a, b), right, 2 * terms, f"a sum of {terms}")


def test_passes():
    expect.function_matches(
        passes,
        lambda bits, other: len(range(0, bits, 8)) * len(range(0, other, 8)),
        [{"bits": n, "other": k} for n in (8, 12, 16, 24, 32) for k in (8, 9, 16)],
        rel=1e-9,
        mistakes={
            "Every byte of one meets every byte of the other: multiply.": (
                lambda bits, other: len(range(0, bits, 8)) + len(range(0, other, 8))
            ),
            "A byte that is not full is a byte: round up.": (
                lambda bits, other: (bits // 8) * (other // 8)
            ),
            "The other number is split, too.": (
                lambda bits, other: len(range(0, bits, 8))
            ),
        },
    )

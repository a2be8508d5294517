"""One exponent for a block.

level: build

Suppose the MX formats: a block of 32 numbers shares one scale of E8M0. Its code, 0 to
254, stands for 2 to the code minus 127; the elements are stored divided by it. The
paper of the standard rounds the exponent down: take the exponent of the block's
largest magnitude, that of the largest power of two which is not above it, and subtract
`emax`, the same exponent of the largest number of the element format.

- `emax(largest)`: that exponent, from the largest number of an element format.
- `scale_code(block, largest)`: the code of the scale. What lies beyond either end
  takes the code there. A block of zeros has code 0.
- `cut_off(block, largest)`: how many elements lie beyond the largest number of their
  format once they are divided by the scale, and so will be cut off.

hint: `math.frexp` splits a number into a part below one and a power; the exponent
wanted is one lower. A block whose largest magnitude is 7, stored in E2M1 that
ends at 6: both exponents are 2, so the scale is one.
"""

import math
import random

from stacklib.grading import expect
from stacklib.quantizers import Format

# ---- your answer ----


def emax(largest):
    """The exponent of the largest number of an element format."""
    return math.frexp(largest)[1] - 1


def scale_code(block, largest):
    """The E8M0 code of a block's shared scale."""
    most = max(abs(x) for x in block)
    if not most:
        return 0
    code = math.frexp(most)[1] - 1 - emax(largest) + 127
    return min(max(code, 0), 254)


def cut_off(block, largest):
    """How many elements are beyond the largest number once they are divided."""
    scale = 2.0 ** (scale_code(block, largest) - 127)
    return sum(abs(x) / scale > largest for x in block)


# ---- tests ----

ELEMENTS = ("e4m3fn", "e5m2", "e3m2", "e2m3", "e2m1")
ENDS = {name: Format(name).largest for name in ELEMENTS}
RNG = random.Random(32)


def drawn(size):
    return [RNG.gauss(0, size) for _ in range(32)]


BLOCKS = {
    "ones": [1.0] * 32,
    "up to 7": [7.0 * i / 31 for i in range(32)],
    "a large negative one": [0.25] * 31 + [-5.9],
    "just below a power of two": [1.9990234375] + [0.5] * 31,
    "just above one": [4.0009765625] + [0.5] * 31,
    "normal": drawn(1.0),
    "normal and small": drawn(3e-5),
    "normal and large": drawn(7e4),
    "one outlier": [*drawn(1.0)[:31], 500.0],
    "too small for the lowest scale": [2.0**-140] * 32,
    "beyond the highest scale": [2.0**900] * 32,
    "zeros": [0.0] * 32,
}


def exponent(x):
    """By comparison: the largest power of two that is not above x."""
    power = -1075
    while 2.0 ** min(power + 1, 1023) <= x and power < 1023:
        power += 1
    return power


def code_of(block, largest, exponent_of=exponent, less=True):
    most = max(map(abs, block))
    if most == 0:
        return 0
    code = exponent_of(most) - (exponent(largest) if less else 0) + 127
    return min(max(code, 0), 254)


def test_emax():
    expect.function_matches(
        emax,
        lambda largest: exponent(largest),
        [{"largest": value} for value in [*ENDS.values(), 5.0]],
        rel=1e-9,
        mistakes={
            "That is rounded; the power of two must not be above the number.": (
                lambda largest: round(math.log2(largest))
            ),
            "`frexp` gives a part below one: its power is one higher.": (
                lambda largest: exponent(largest) + 1
            ),
        },
    )


SLIPS = {
    "Without `emax`: the elements are then below two, and the upper exponents of their "
    "format are never used.": lambda block, largest: code_of(
        block, largest, less=False
    ),
    "You round the exponent to the nearest; the standard rounds it down.": (
        lambda block, largest: code_of(block, largest, lambda x: round(math.log2(x)))
    ),
    "You round the exponent up; the standard rounds it down.": (
        lambda block, largest: code_of(
            block, largest, lambda x: math.ceil(math.log2(x))
        )
    ),
    "You divided the largest magnitude by the largest number. The standard takes the "
    "exponents of the two apart.": lambda block, largest: code_of(
        block, largest, lambda x: exponent(x / largest) + exponent(largest)
    ),
    "The largest magnitude counts, not the largest number.": (
        lambda block, largest: code_of([max(0.0, *block)], largest)
    ),
}


def mine_of(block, largest):
    return expect.whole(
        expect.call(scale_code, {"block": list(block), "largest": largest})
    )


def test_scale_code():
    failed = [
        (name, element, code)
        for name, block in BLOCKS.items()
        for element, largest in ENDS.items()
        if name != "zeros"
        and (code := mine_of(block, largest)) != code_of(block, largest)
    ]
    if not failed:
        return
    for text, slip in SLIPS.items():
        if all(slip(BLOCKS[n], ENDS[e]) == code for n, e, code in failed):
            raise expect.Mistake(text)
    name, element, code = failed[0]
    right = code_of(BLOCKS[name], ENDS[element])
    raise expect.Mistake(f"{name}, {element}: code {code} instead of {right}")


def test_zeros():
    """A block of zeros, and one that holds a zero first."""
    for largest in ENDS.values():
        try:
            code = mine_of(BLOCKS["zeros"], largest)
        except (ValueError, ArithmeticError):
            raise expect.Mistake(
                "a block of zeros: it has no exponent, and code 0"
            ) from None
        if code:
            raise expect.Mistake(f"a block of zeros has code {code}; code 0 is asked")


def test_cut_off():
    right, mine, bits = {}, {}, 127
    for name, block in BLOCKS.items():
        for element, largest in ENDS.items():
            scale = 2.0 ** (code_of(block, largest) - bits)
            held = cut_off(list(block), largest)
            mine[name, element] = expect.whole(held)
            right[name, element] = sum(abs(x) > largest * scale for x in block)
    for case in right:
        if mine[case] != right[case]:
            raise expect.Mistake(f"{', '.join(case)}: {mine[case]} are not cut off")
    expect.reading("of a block up to 7, cut off by E2M1", mine["up to 7", "e2m1"])

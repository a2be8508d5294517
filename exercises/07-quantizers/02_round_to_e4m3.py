"""Round into a byte.

level: build

According to its paper, E4M3 has a sign, four bits of exponent with bias 7 and three of
significand. Field zero holds subnormal numbers, the code of all ones is NaN, and there
is no infinity.

Write `encode(x, saturate)`: the code, 0 to 255, of the number of E4M3 that is nearest
to the float `x`. Midway between two, the one whose code is even. The sign is kept,
that of zero too.

What rounds beyond the largest number, infinity included, has no code. Two libraries
part here: with `saturate` it becomes the largest number, as `torch` does; without it
becomes NaN, as `ml_dtypes` does. NaN is NaN in both; either of its two codes will do.

hint: `math.frexp` gives the exponent. Divide by the size of the step there, which
below the normal numbers grows no finer, and `round` takes a tie to the even one. A
significand that rounds up to the next power of two carries into the exponent by
itself, if you add and do not paste.
"""

import itertools
import math
import random

from stacklib.grading import expect
from stacklib.quantizers import Format

# ---- your answer ----


def encode(x, saturate):
    """The code of the number of E4M3 that is nearest to x."""
    if math.isnan(x):
        return 0x7F
    sign = 0x80 if math.copysign(1, x) < 0 else 0
    code = 0x7F
    if not math.isinf(x):
        power = max(math.frexp(x)[1] - 1, -6) if x else -6
        code = (power + 6) * 8 + round(math.ldexp(abs(x), 3 - power))
    if code >= 0x7F:
        code = 0x7E if saturate else 0x7F
    return sign | code


# ---- tests ----

E4M3 = Format("e4m3fn")
NANS = (0x7F, 0xFF)
GRID = [E4M3.decode(code) for code in range(0x7F)]
RNG = random.Random(7)
INSIDE = [
    0.0,
    *GRID[1::9],
    *(RNG.uniform(-448, 448) for _ in range(200)),
    *(RNG.choice((-1, 1)) * 2 ** RNG.uniform(-5, 8.7) for _ in range(200)),
]
BETWEEN = [(a + b) / 2 for a, b in itertools.pairwise(GRID[8:])]
SMALL = [RNG.uniform(-1, 1) * 2**-6 for _ in range(60)] + [2**-10, 3 * 2**-10, -0.0]
LARGE = [449.0, -460.0, 463.99, 464.0, -464.0]  # they round to the largest number
BEYOND = [464.01, 465.0, -480.0, 512.0, -1e30, math.inf, -math.inf]


def mine(x, saturate):
    return expect.whole(expect.call(encode, {"x": x, "saturate": saturate}))


def sized(code):
    """What a code stands for, in words."""
    return "NaN" if code in NANS else f"{E4M3.decode(code & 255):g}"


def differing(numbers, saturate=False):
    """The numbers whose code is another, with both codes."""
    found = []
    for x in numbers:
        got, right = mine(x, saturate), E4M3.encode(x, saturate)
        if got != right and not (got in NANS and right in NANS):
            found.append((x, got, right))
    return found


def fail(found, why):
    """A Mistake for the first number that differs, if any does."""
    for x, got, right in found:
        if not 0 <= got <= 255:
            raise expect.Mistake(f"{x!r}: {got} is no code of eight bits")
        raise expect.Mistake(
            f"{x!r} becomes {got:#04x}, {sized(got)}; {right:#04x} is {sized(right)}"
            f"{why}"
        )


def test_inside():
    found = differing(INSIDE)
    down = all(got == cut(x) for x, got, _ in found)
    fail(found, ". What lies behind the last bit is cut off, not rounded." * down)


def cut(x):
    """The code of the next number towards zero."""
    at = max(i for i, value in enumerate(GRID) if value <= abs(x))
    return at | (0x80 if math.copysign(1, x) < 0 else 0)


def test_half_way():
    found = differing(BETWEEN + [-x for x in BETWEEN])
    up = all(got == right + 1 for _, got, right in found)
    fail(found, ". Half way goes to the even code, not away from zero." * up)


def test_subnormal():
    found = differing(SMALL)
    flushed = all(not got & 0x7F for _, got, _ in found)
    why = ". Below the normal numbers E4M3 has seven more." * flushed
    signed = [x for x, got, right in found if got == right ^ 0x80 and not x]
    fail(found, ". Zero has a sign too." if signed else why)


def test_overflow():
    for saturate in (False, True):
        found = differing(LARGE, saturate)
        fail(found, ". Round first: what is too large is told by the rounded number.")
    apart = [differing(BEYOND, saturate) for saturate in (False, True)]
    turned = [len(found) == len(BEYOND) for found in apart]
    why = ". What is too large depends on the overflow mode." * any(turned)
    if all(turned):
        why = ". You have the two modes the wrong way round."
    fail(apart[0] + apart[1], why)


def test_nan():
    for saturate in (False, True):
        if mine(math.nan, saturate) not in NANS:
            raise expect.Mistake("NaN is no number, in either mode: it stays NaN.")
    exact = sum(mine(x, False) == code for code, x in enumerate(GRID))
    expect.reading("numbers of E4M3 that keep their code", f"{exact} of {len(GRID)}")

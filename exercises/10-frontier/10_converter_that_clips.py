"""A bitline's converter: what it rounds, what it cuts, and the range that cuts nothing.

level: build

Suppose a column of whole numbers as weights, cut into bitlines of `rows` cells, the
last one maybe shorter. A bitline adds weight times input. Its sum has a deviation: the
root of its cells' number times the mean square of its weights times that of its inputs.
The converter reads `reach` deviations to either side in `2 ** adc` equal steps: a sum
becomes the nearest whole number of steps, from `-2 ** (adc - 1)` up to
`2 ** (adc - 1) - 1`.

- `read(current, spread, adc, reach)`: what it makes of a sum of deviation `spread`;
  a range that is not above zero is a `ValueError`.
- `product(weights, inputs, adc, reach, rows)`: the sum of all that it makes; a bitline
  without a deviation adds nothing.
- `safe(rows)`: the smallest range, in deviations, that cuts no sum, whatever is put in.

hint: The inputs that make the largest sum look like the weights. What is that sum, in
deviations?
"""

import math
from functools import partial
from random import Random

from stacklib.grading import expect

# ---- your answer ----


def read(current, spread, adc, reach):
    """Whole steps, the last ones at the ends."""
    if not 0 < reach < math.inf:
        raise ValueError(f"reach = {reach!r}: it reads nothing")
    step, top = 2 * reach * spread / 2**adc, 2 ** (adc - 1)
    return min(max(round(current / step), -top), top - 1) * step


def product(weights, inputs, adc, reach, rows):
    """One bitline after the other."""
    total = 0
    for at in range(0, len(weights), rows):
        w, x = weights[at : at + rows], inputs[at : at + rows]
        spread = math.sqrt(sum(a * a for a in w) * sum(b * b for b in x) / len(w))
        if spread:
            current = sum(a * b for a, b in zip(w, x, strict=True))
            total += read(current, spread, adc, reach)
    return total


def safe(rows):
    """By Cauchy and Schwarz."""
    return math.sqrt(rows)


# ---- tests ----

RANDOM = Random(10)
W, X = ([127, *(RANDOM.randint(-127, 127) for _ in range(99))] for _ in range(2))


def made(current, spread, adc, reach, sides=2, ends=True):
    """By the place of a sum in its range."""
    step = sides * reach * spread / 2**adc
    code = math.floor(current / step + 0.5)
    if ends:
        code = sorted((-(2**adc) // 2, code, 2**adc // 2 - 1))[1]
    return code * step


def test_read():
    told = {
        "Beyond its range a converter has no codes.": partial(made, ends=False),
        "A range lies to both sides of zero.": partial(made, sides=1),
    }
    case = {"spread": 100, "adc": 4, "reach": 4}
    cases = [{**case, "current": x} for x in (30, -170, 900, -900, 20)]
    expect.function_matches(read, made, cases, rel=1e-9, mistakes=told)
    for reach in (0, -4, math.nan):
        bad = {"current": 30, **case, "reach": reach}
        expect.refuses(read, bad, because="such a range reads nothing")


def theirs(weights, inputs, adc, reach, rows):
    """By the package; both lists reach 127, so its scales are one."""
    from stacklib.frontier import analog_matmul

    return float(analog_matmul([weights], adc=adc, reach=reach, rows=rows)(inputs)[0])


def test_product():
    case = {"weights": W, "inputs": X, "rows": 32, "reach": 4}
    cases = [{**case, "adc": adc} for adc in (3, 6, 12)]
    cases.append({**case, "adc": 6, "inputs": [*X[:32], *[0] * 32, *X[64:]]})
    told = {
        "A column is cut into bitlines of `rows` cells.": lambda rows, **case: theirs(
            rows=len(W), **case
        )
    }
    expect.function_matches(product, theirs, cases, rel=1e-4, mistakes=told)


def test_safe():
    told = {
        "A sum grows with its cells, but so does its deviation.": lambda rows: rows,
        "The largest sum is not a usual one.": lambda rows: 1,
    }
    cases = [{"rows": rows} for rows in (1, 64, 256, 1000)]
    expect.function_matches(
        safe, lambda rows: rows**0.5, cases, rel=1e-9, mistakes=told
    )

"""Tokens of a warm Jetson, and the numbers of its INT8 file.

level: build
project: P9.4

From die to air it is `resistance` K/W, the air has `air` degrees, and at `limit`
degrees the firmware cuts the watts. Suppose a token costs `joules` at any clock.

- `warm(tokens, joules, watts, resistance, limit, air)`: tokens a second after hours of
  a board that makes `tokens` cold, with `watts`. Refuse air as warm as the limit.

An exported product reads codes of 0 to 255: `x = scale * (code - zero)`.

- `scale(low, high)`, `zero(low, high)`: of a range, widened so that zero is in it;
  `zero` is the whole number nearest to where zero lies.
- `dot(x, weights, low, high, weight_scale)`: round each of `x` to a code, cut what lies
  outside 0 to 255, sum whole numbers with the codes `weights`, and scale once.

hint: For hours, all watts pass the resistance. A range of 1 to 3 begins at 0. `round`
of Python takes the even number where two are as near, as ONNX does.
"""

from stacklib.diy import heat
from stacklib.grading import expect
from stacklib.tinylm.low_precision.edge import affine

# ---- your answer ----


def warm(tokens, joules, watts, resistance, limit, air):
    """Tokens a second after hours."""
    if not air < limit:
        raise ValueError(f"air = {air!r}: below the limit of {limit} degrees is needed")
    left = min(watts, (limit - air) / resistance)
    return min(tokens, left / joules)


def scale(low, high):
    """Of a range that holds zero."""
    return (max(high, 0) - min(low, 0)) / 255


def zero(low, high):
    """The code of zero."""
    return round(-min(low, 0) / scale(low, high))


def dot(x, weights, low, high, weight_scale):
    """A product of whole numbers, scaled once."""
    step, none = scale(low, high), zero(low, high)
    codes = [min(max(round(one / step) + none, 0), 255) for one in x]
    whole = sum((code - none) * w for code, w in zip(codes, weights, strict=True))
    return whole * step * weight_scale


# ---- tests ----

BOARD = {"tokens": 16.7, "joules": 1.5, "limit": 87}
CASES = [
    BOARD | {"watts": watts, "resistance": r, "air": air}
    for watts in (15, 25, 40)
    for r, air in ((3.8, 25), (2.3, 25), (5.5, 45))
]
ENDS = [
    {"low": low, "high": high}
    for low, high in ((-1.0, 3.0), (1.0, 3.0), (-2.5, -0.5), (-0.1, 0.7), (-40.0, 8.0))
]


def after_hours(tokens, joules, watts, resistance, limit, air, below=True):
    """By the package's chain of heat."""
    if below:
        watts = heat([resistance], [50], watts, 3, air, most=limit).watts[-1]
    return min(tokens, watts / joules)


def test_warm():
    told = {
        "Only what lies over the air drives heat out.": lambda **case: after_hours(
            **case | {"watts": min(case["watts"], 87 / case["resistance"])}, below=0
        ),
        "After hours the die is at its limit, or below it.": (
            lambda **case: after_hours(**case, below=False)
        ),
    }
    expect.function_matches(
        warm, after_hours, CASES, unit="token/s", rel=1e-6, mistakes=told
    )
    expect.refuses(warm, CASES[0] | {"air": 90}, because="no watt leaves such a die")


def test_the_codes_are_those_of_the_file():
    def right(low, high):
        return float(affine(low, high)[0])

    told = {
        "Zero must be in the range.": lambda low, high: (high - low) / 255,
        "Between 256 codes lie 255 steps.": (
            lambda low, high: float(affine(low, high)[0]) * 255 / 256
        ),
    }
    expect.function_matches(scale, right, ENDS, rel=1e-6, mistakes=told)
    expect.function_matches(zero, lambda low, high: affine(low, high)[1], ENDS)


def by_codes(x, weights, low, high, weight_scale, most=255):
    """The same, number by number."""
    step, none = affine(low, high)
    codes = [max(-most + 255, min(most, round(a / float(step)) + none)) for a in x]
    return sum(
        float(step) * (code - none) * weight_scale * w
        for code, w in zip(codes, weights, strict=True)
    )


def test_dot():
    shared = {"x": [0.31, -0.43, 2.2, 9.0], "weight_scale": 0.01}
    cases = [
        shared | {"weights": [100, -127, 3, w]} | end for w in (5, -90) for end in ENDS
    ]
    told = {
        "What lies outside the range is cut at its end.": (
            lambda **case: by_codes(**case, most=1e6)
        ),
        "Whole numbers are summed, so each input is rounded to one first.": (
            lambda x, weights, weight_scale, **ends: (
                sum(a * w for a, w in zip(x, weights, strict=True)) * weight_scale
            )
        ),
    }
    expect.function_matches(dot, by_codes, cases, rel=1e-5, mistakes=told)

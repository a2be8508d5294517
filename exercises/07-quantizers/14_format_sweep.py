"""A classifier in four formats.

level: build
project: P7.1

A linear classifier is trained with everything that is multiplied rounded to a format.
A format is a pair: bits of exponent, and of significand behind the leading one. Its
exponents are biased as IEEE 754 has them, it has subnormals, and the highest exponent
is infinity. Its loss is a mean over `mean_over` samples, of which this device has only
a few; so every gradient is small.

- `rounded(x, fmt)`: the nearest numbers of the format, ties to the even one. What would
  be beyond the largest becomes infinity with its sign.
- `gradient(errors, x, fmt, scale)`: the gradient of the weights, which is `x.T @
  errors`. `errors` are exact: probabilities less answers, over `mean_over`. The
  backward pass starts from the scaled loss: `scale` times `errors`, rounded, then times
  the rounded `x`, and the product rounded. Return what the gradient would be without
  the scale, in full precision.
- `updated(weights, gradient, rate, fmt)`: one step of descent on the optimizer's copy
  of the weights, and the rounded weights which the next forward pass uses, in this
  order. The copy is in full precision.
- `usable(largest, smallest, fmt)`: exponents of the least and of the largest power of
  two that are loss scales with which a gradient of magnitude `smallest` does not become
  zero and one of `largest` stays finite. Raise ValueError where no scale does both.

The readings are a sweep: FP32, BF16, FP16 and an FP8, with and without a loss scale.

hint: `np.frexp` gives a significand below one and an exponent; the step of a
format at a number is a power of two with that exponent, but never smaller than the step
of its subnormals. `np.rint` rounds ties to even.
"""

import math

import numpy as np

from stacklib.grading import expect

# ---- your answer ----


def rounded(x, fmt):
    """The nearest numbers of the format."""
    exponent, significand = fmt
    bias = 2 ** (exponent - 1) - 1
    x = np.asarray(x, dtype=float)
    power = np.maximum(np.frexp(x)[1] - 1, 1 - bias)
    step = np.ldexp(1.0, power - significand)
    found = np.rint(x / step) * step
    largest = (2 - 2.0**-significand) * 2.0**bias
    return np.where(np.abs(found) > largest, np.copysign(np.inf, x), found)


def gradient(errors, x, fmt, scale):
    """The gradient of the weights, its scale taken out."""
    back = rounded(scale * errors, fmt)
    return rounded(rounded(x, fmt).T @ back, fmt) / scale


def updated(weights, gradient, rate, fmt):
    """The optimizer's copy after a step, and the weights to compute with."""
    weights = weights - rate * gradient
    return weights, rounded(weights, fmt)


def usable(largest, smallest, fmt):
    """Exponents of the least and of the largest loss scale that work."""
    works = [
        power
        for power in range(-200, 200)
        if rounded(smallest * 2.0**power, fmt) != 0
        and np.isfinite(rounded(largest * 2.0**power, fmt))
    ]
    if not works:
        raise ValueError("no scale keeps both")
    return works[0], works[-1]


# ---- tests ----

FP32, BF16, FP16, FP8 = (8, 23), (8, 7), (5, 10), (4, 3)
NAMES = {"FP32": FP32, "BF16": BF16, "FP16": FP16, "FP8": FP8}
NARROW = {name: fmt for name, fmt in NAMES.items() if name != "FP32"}
MEAN_OVER, SAMPLES, CLASSES = 2**26, 96, 3
RNG = np.random.default_rng(71)
ANSWERS = RNG.integers(CLASSES, size=SAMPLES)
X = RNG.standard_normal((SAMPLES, 6))
X[:, :CLASSES] += 2.5 * np.eye(CLASSES)[ANSWERS]
BEGIN = RNG.standard_normal((6, CLASSES)) * 0.1


def errors_of(weights, x=X, answers=ANSWERS):
    """Probabilities less answers, over all samples of all devices."""
    logits = x @ weights
    top = np.exp(logits - logits.max(axis=1, keepdims=True))
    found = top / top.sum(axis=1, keepdims=True)
    found[np.arange(len(answers)), answers] -= 1
    return found / MEAN_OVER


def numbers_of(fmt):
    """Every finite number of a format from zero up, in order."""
    exponent, significand = fmt
    bias = 2 ** (exponent - 1) - 1
    steps = 2**significand
    found = [m / steps * 2.0 ** (1 - bias) for m in range(steps)]
    for power in range(1 - bias, bias + 1):
        found += [(1 + m / steps) * 2.0**power for m in range(steps)]
    return np.array(found)


TABLES = {name: numbers_of(fmt) for name, fmt in NARROW.items()}
TABLES["five bits"] = numbers_of((3, 1))


def nearest(x, table, rule="even"):
    """By search among the numbers; beyond the last, and half a step, infinity."""
    size = np.abs(x)
    at = np.clip(np.searchsorted(table, size, side="right") - 1, 0, len(table) - 1)
    low, high = table[at], table[np.minimum(at + 1, len(table) - 1)]
    step = table[-1] - table[-2]
    last = at == len(table) - 1
    high = np.where(last, table[-1] + step, high)
    over = size - low > high - size
    tie = size - low == high - size
    if rule == "cut":
        up = np.zeros_like(over)
    elif rule == "away":
        up = over | tie
    else:
        up = over | (tie & (at % 2 == 1))
    found = np.where(up, high, low)
    beyond = (last & up) | (size >= table[-1] + step)
    if rule == "clipped":
        found = np.where(beyond, table[-1], found)
    else:
        found = np.where(beyond, np.inf, found)
    return np.copysign(found, x)


def array(value, shape, what):
    """The reader's array, of this shape."""
    try:
        found = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        raise expect.Mistake(f"{what}: an array is asked for") from None
    if found.shape != shape:
        raise expect.Mistake(f"{what}: of shape {found.shape} instead of {shape}")
    return found


def test_rounded():
    formats = {**NARROW, "five bits": (3, 1)}
    for name, fmt in formats.items():
        table = TABLES[name]
        few = table[:: max(1, len(table) // 400)]
        ties = (table[:-1] + table[1:])[:: max(1, len(table) // 400)] / 2
        some = np.concatenate(
            [few, ties, few * 1.013, table[-1:] * 1.4, [table[1] / 3]]
        )
        x = np.concatenate([some, -some])
        with np.errstate(all="ignore"):
            mine = array(rounded(x.copy(), fmt), x.shape, name)
        right = nearest(x, table)
        if np.array_equal(mine, right):
            continue
        at = int(np.flatnonzero(~(mine == right))[0])
        raise expect.Mistake(
            f"{name}: {x[at]:g} becomes {mine[at]:g} instead of {right[at]:g}"
            f"{why(x, table, fmt, mine)}"
        )


def why(x, table, fmt, mine):
    """What explains all of the reader's numbers."""
    least = 2.0 ** (2 - 2 ** (fmt[0] - 1))
    even = nearest(x, table)
    slips = {
        "cut towards zero, not to the nearest": nearest(x, table, "cut"),
        "ties go to the even number, not away from zero": nearest(x, table, "away"),
        "too large ones are cut to the largest; they become infinite": (
            nearest(x, table, "clipped")
        ),
        "the format has subnormals, and yours has none": (
            np.where(np.abs(even) < least, 0 * x, even)
        ),
    }
    for text, wrong in slips.items():
        if np.array_equal(mine, wrong):
            return f": {text}"
    return ""


def descended(errors, x, fmt, scale):
    table = TABLES[fmt]
    back = nearest(scale * errors, table)
    return nearest(nearest(x, table).T @ back, table), back


def test_gradient():
    errors = errors_of(BEGIN)
    for name, scale in (("BF16", 1.0), ("FP16", 2.0**20), ("FP8", 2.0**26)):
        mine = gradient(errors.copy(), X.copy(), NARROW[name], scale)
        mine = array(mine, BEGIN.shape, "a gradient")
        product, back = descended(errors, X, name, scale)
        if np.allclose(mine, product / scale, rtol=1e-9, atol=0):
            continue
        bare, _ = descended(errors, X, name, 1.0)
        exact = nearest(X, TABLES[name]).T @ errors
        slips = {
            "the loss is not scaled, so what is small becomes zero": bare,
            "the scale is still in it; divide it out": product,
            "the scale is taken out behind the product and rounded again": (
                nearest(product / scale, TABLES[name])
            ),
            "the errors are not rounded": (
                nearest(scale * exact, TABLES[name]) / scale
            ),
            "the product is not rounded": nearest(X, TABLES[name]).T @ back / scale,
        }
        for text, wrong in slips.items():
            if np.allclose(mine, wrong, rtol=1e-9, atol=0):
                raise expect.Mistake(f"{name}, scale {scale:g}: {text}")
        raise expect.Mistake(
            f"{name}, scale {scale:g}: the first is {mine[0, 0]:.4g} instead of "
            f"{product[0, 0] / scale:.4g}"
        )


def test_updated():
    weights, slope = BEGIN + 1.0, np.full_like(BEGIN, 0.01)
    pair = updated(weights.copy(), slope.copy(), 0.5, FP8)
    pair = expect.sequence(pair, "the copy and the rounded weights", 2)
    copy, used = (array(one, BEGIN.shape, "weights") for one in pair)
    right = weights - 0.5 * slope
    if np.allclose(copy, nearest(right, TABLES["FP8"]), rtol=1e-12):
        raise expect.Mistake(
            "the optimizer's copy is rounded: a step smaller than the format's is lost"
        )
    if np.allclose(copy, weights + 0.5 * slope, rtol=1e-9):
        raise expect.Mistake("uphill: a step goes against the gradient")
    if not np.allclose(copy, right, rtol=1e-9):
        raise expect.Mistake(f"a copy of {copy[0, 0]:.6g} instead of {right[0, 0]:.6g}")
    if not np.allclose(used, nearest(right, TABLES["FP8"]), rtol=1e-12):
        raise expect.Mistake("the weights to compute with are the rounded ones")


RANGES = [
    {"largest": 1e-3, "smallest": 1e-8, "fmt": FP16},
    {"largest": 1.0, "smallest": 1.0, "fmt": FP8},
    {"largest": 2.0**-20, "smallest": 2.0**-30, "fmt": FP8},
    {"largest": 3e-5, "smallest": 2e-7, "fmt": FP8},
]


def by_ends(largest, smallest, fmt):
    """From the smallest number and the largest, without a search."""
    table = next(TABLES[n] for n, f in NARROW.items() if f == fmt)
    low = math.log2(table[1] / 2 / smallest)
    low = math.floor(low) + 1  # half of the smallest still becomes zero
    top = table[-1] + (table[-1] - table[-2]) / 2
    high = math.log2(top / largest)
    return low, math.ceil(high) - 1


def sound():
    """Whether the reader's rounding keeps the ends of a format."""
    table = TABLES["FP8"]
    x = np.array([table[1] * 0.75, table[-1], table[-1] * 1.2])
    return np.array_equal(rounded(x, FP8), nearest(x, table))


def test_usable():
    if not sound():
        raise expect.Mistake("`rounded` is not right yet at the ends of a format")
    for case in RANGES:
        mine = expect.sequence(expect.call(usable, case), "two exponents", 2)
        mine, right = tuple(map(int, mine)), by_ends(**case)
        if mine == right:
            continue
        swapped = by_ends(case["smallest"], case["largest"], case["fmt"])
        if mine == swapped:
            note = "the largest has to stay finite, the smallest above zero"
        elif mine[1] > right[1] and mine[0] == right[0]:
            note = "with the upper one the largest is infinite"
        elif mine[0] > right[0] and mine[1] == right[1]:
            note = "subnormals are numbers: a smaller scale keeps the smallest"
        else:
            note = "try the powers of two next to yours"
        raise expect.Mistake(
            f"{expect.called(usable, case)}: {mine}, not {right}: {note}"
        )
    expect.refuses(
        usable,
        {"largest": 1.0, "smallest": 1e-9, "fmt": FP8},
        because="no scale keeps both in so few exponents",
    )


def test_the_sweep():
    for name, fmt in NAMES.items():
        for power in (0, 26):
            right = accuracy(fmt, 2.0**power)
            expect.reading(f"{name}, loss scale 2^{power}", f"{100 * right:.0f} %")


def accuracy(fmt, scale):
    """Share classified right after forty steps of the reader's training."""
    copy, used = BEGIN.copy(), rounded(BEGIN, fmt)
    seen = rounded(X, fmt)
    for _ in range(40):
        slope = gradient(errors_of(used, seen), X, fmt, scale)
        copy, used = updated(copy, slope * (MEAN_OVER / SAMPLES), 0.5, fmt)
    right = (seen @ used).argmax(axis=1) == ANSWERS
    if not np.isfinite(used).all():
        return 0.0
    return right.mean()

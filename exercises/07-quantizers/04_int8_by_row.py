"""A scale for each row.

level: build
project: P7.5

Symmetric INT8 stores a weight as a whole number from -127 to 127, times a scale. The
scale of a row is such that the largest magnitude of the row becomes 127. A weight
becomes the nearest code.

- `quantize(weights)`: from an array of rows the codes, an array of the same shape, and
  the scales, one for each row. A row of zeros comes back as zeros, whatever its scale.
- `mean_error(weights)`: the mean, over the whole matrix, of the distance between a
  weight and what its code and scale give back.
- `predicted(largest)`: that mean for one row of many weights, known by its largest
  magnitude alone. Each weight lies anywhere between two codes with equal chance.

A guide printed `0.002` for a matrix of 1024 by 1024 normal numbers. The readings say
what it is.

hint: `np.abs(weights).max(axis=1, keepdims=True)` is a column of largest magnitudes.
Guard it against a row of zeros before dividing. An error lies with equal chance
anywhere between minus and plus the largest there can be; what is its magnitude on
average, in steps?
"""

import numpy as np

from stacklib.grading import expect

# ---- your answer ----


def quantize(weights):
    """Codes of the weights, and a scale for each row."""
    largest = np.abs(weights).max(axis=1)
    scales = np.where(largest > 0, largest / 127, 1.0)
    return np.rint(weights / scales[:, None]).astype(np.int8), scales


def mean_error(weights):
    """Mean distance between the weights and what is given back."""
    codes, scales = quantize(weights)
    return np.abs(weights - codes * scales[:, None]).mean()


def predicted(largest):
    """The mean error expected of a row with this largest magnitude."""
    return largest / 127 / 4


# ---- tests ----

RNG = np.random.default_rng(0)
NORMAL = RNG.standard_normal((1024, 1024))
UNEQUAL = RNG.standard_normal((24, 40)) * np.geomspace(1e-3, 1e3, 24)[:, None]
SQUARE = RNG.uniform(-1, 1, (32, 32)) * RNG.uniform(0.1, 9, (32, 1))
ONE = np.array([[0.5, -2.0, 0.01]])
NEGATIVE = np.array([[1.0, -4.0, 2.0], [8.0, 3.0, -1.0]])
CASES = {
    "rows of unequal size": UNEQUAL,
    "as many rows as columns": SQUARE,
    "one row": ONE,
    "a row whose largest is negative": NEGATIVE,
}


def array(value, shape, what):
    """The reader's array, of this shape and without NaN."""
    try:
        found = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        raise expect.Mistake(f"{expect.clip(value)}: {what} are asked for") from None
    if found.shape != shape:
        raise expect.Mistake(f"{what}: of shape {found.shape} instead of {shape}")
    if not np.isfinite(found).all():
        raise expect.Mistake(f"{what}: NaN or infinity is among them")
    return found


def answered(weights):
    """The reader's codes, and scales in a column."""
    pair = expect.sequence(quantize(weights.copy()), "codes and scales", 2)
    scales = np.asarray(pair[1], dtype=float)
    if scales.shape == (len(weights),):
        scales = scales[:, None]
    codes = array(pair[0], weights.shape, "codes")
    return codes, array(scales, (len(weights), 1), "scales, one for each row")


def told(codes, scales, weights):
    """What is wrong with scales, by what they are."""
    by_row = np.abs(weights).max(axis=1, keepdims=True)
    slips = {
        "one scale for the whole matrix; each row has its own": (
            np.abs(weights).max() / 127 + 0 * by_row
        ),
        "the largest over 128 makes the largest 128, which no code of a signed byte "
        "is": by_row / 128,
        "those scales multiply; a weight is code times scale": 127 / by_row,
        "the largest of its sign is not the largest magnitude": (
            weights.max(axis=1, keepdims=True) / 127
        ),
    }
    if weights.shape[0] == weights.shape[1]:
        by_column = np.abs(weights).max(axis=0)[:, None] / 127
        slips["that is the largest of a column, not of a row"] = by_column
    for text, wrong in slips.items():
        if np.allclose(scales, wrong, rtol=1e-6):
            return text
    return f"{scales[0, 0]:.4g} is not the scale of the first row"


def test_quantize():
    for name in sorted(CASES, key=len, reverse=True):
        weights = CASES[name]
        codes, scales = answered(weights)
        right = np.abs(weights).max(axis=1, keepdims=True) / 127
        if not np.allclose(scales, right, rtol=1e-6):
            raise expect.Mistake(f"{name}: {told(codes, scales, weights)}")
        if np.any(codes != np.round(codes)):
            raise expect.Mistake(f"{name}: codes are whole numbers")
        off = np.abs(codes - weights / scales)
        if off.max() > 0.5001:
            cut = np.array_equal(codes, np.trunc(weights / scales))
            why = "cut towards zero, not rounded" if cut else "not the nearest code"
            raise expect.Mistake(f"{name}: {why}: {off.max():.2f} of a step away")


def test_a_row_of_zeros():
    weights = np.array([[0.0, 0.0, 0.0], [1.0, -0.5, 0.25]])
    if answered(weights)[0][0].any():
        raise expect.Mistake("a row of zeros comes back as zeros")


def restored(weights, axis, top):
    scales = np.abs(weights).max(axis=axis, keepdims=True) / top
    return np.clip(np.rint(weights / scales), -127, 127) * scales


def distance(weights, axis=1, top=127):
    return np.abs(weights - restored(weights, axis, top)).mean()


def test_mean_error():
    mine = expect.read(mean_error(NORMAL.copy()))
    expect.number(
        mine,
        distance(NORMAL),
        rel=0.001,
        mistakes={
            "That is with one scale for the whole matrix.": distance(NORMAL, None),
            "That is the root of the mean square.": np.sqrt(
                np.square(NORMAL - restored(NORMAL, 1, 127)).mean()
            ),
            "Distances have no sign: take the magnitude first.": (
                NORMAL - restored(NORMAL, 1, 127)
            ).mean(),
        },
    )
    expect.number(mean_error(UNEQUAL.copy()), distance(UNEQUAL), rel=0.001)
    expect.reading("mean error by row", f"{mine:.4f}")
    expect.reading("with one scale for the matrix", f"{distance(NORMAL, None):.4f}")


def test_predicted():
    expect.function_matches(
        predicted,
        lambda largest: largest / (4 * 127),
        [{"largest": value} for value in (0.3, 1.0, 3.45, 60.0)],
        rel=0.005,
        mistakes={
            "Half a step is the largest error, not the mean.": (
                lambda largest: largest / 254
            ),
            "That is the root of the mean square, a step over the root of twelve.": (
                lambda largest: largest / 127 / 12**0.5
            ),
        },
    )

"""A norm that is never written.

level: build
project: P4.5

Write a tile program that joins a layer norm with the linear layer behind it. For each
row of `x`, `columns` FP32 numbers, it takes the mean off, divides by
`sqrt(variance + eps)` with `eps = 1e-5`, multiplies by `gain` and adds `shift`, number
by number; then it stores the products of that row with the `outputs` rows of `matrix`.
The variance is the mean of the squared distances from the mean, over `columns`.

Suppose that there is a program for each row, that all arrays are FP32 and lie row
behind row (`matrix` has a row of `columns` numbers for each output), that `BLOCK` is
the next power of two from `columns`, and `OUT` that of `outputs`. It runs on
`gpu.launch_tiles`; names are Triton's (`tl`). `values[None, :]` makes a row of a tile
and `at[:, None]` a column, so that a tile of `OUT` by `BLOCK` is loaded from
`matrix + of[:, None] * columns + at[None, :]`.

Asked: right results at `columns = 768`, `BLOCK = 1024`, also for rows far from zero;
the normed row stays on the chip; each number of `x` is read once.

hint: After the mean is taken off, what do lanes beyond the row hold? And what do they
hold after `shift` is added? A mask on the load of `matrix` takes care of the second.
"""

from functools import cache

import numpy as np

from stacklib import gpu
from stacklib.gpu import tiles as tl
from stacklib.grading import expect

# ---- your answer ----


def norm_linear(
    x,
    gain,
    shift,
    matrix,
    out,
    columns,
    outputs,
    BLOCK: tl.constexpr,
    OUT: tl.constexpr,
):
    """The products of a normed row."""
    row = tl.program_id(0)
    at, of = tl.arange(0, BLOCK), tl.arange(0, OUT)
    inside, there = at < columns, of < outputs
    values = tl.load(x + row * columns + at, mask=inside, other=0.0)
    apart = values - tl.sum(values, axis=0) / columns
    apart = tl.where(inside, apart, 0.0)
    variance = tl.sum(apart * apart, axis=0) / columns
    normed = apart / tl.sqrt(variance + 1e-5)
    normed = normed * tl.load(gain + at, mask=inside, other=0.0)
    normed = normed + tl.load(shift + at, mask=inside, other=0.0)
    both = there[:, None] & inside[None, :]
    tile = tl.load(matrix + of[:, None] * columns + at[None, :], mask=both, other=0.0)
    products = tl.sum(tile * normed[None, :], axis=1)
    tl.store(out + row * outputs + of, products, mask=there)


# ---- tests ----

RNG = np.random.default_rng(45)


def given(rows, columns, outputs, mean):
    x = RNG.standard_normal((rows, columns)) + mean
    gain, shift = 1 + 0.1 * RNG.standard_normal((2, columns))
    matrix = RNG.standard_normal((outputs, columns)) / columns**0.5
    return [a.astype(np.float32) for a in (x, gain, shift, matrix)]


CASES = {
    "1,024 columns": given(2, 1024, 16, 1.0),
    "768 columns, mean 1": given(3, 768, 20, 1.0),
    "768 columns, mean -30": given(2, 768, 20, -30.0),
    "33 columns, 3 outputs": given(4, 33, 3, 2.0),
}


def side(n):
    return 1 << (n - 1).bit_length()


def right(x, gain, shift, matrix, *, lanes=0, sample=0, shifted=True, deviation=True):
    """In float64. Slips: lanes in the mean or in the variance, no shift, no root."""
    x, gain, shift, matrix = (a.astype(float) for a in (x, gain, shift, matrix))
    mean = x.sum(1, keepdims=True) / (lanes or x.shape[1])
    apart = x - mean
    squares = (apart**2).sum(1, keepdims=True)
    squares = squares + mean**2 * max(0, sample - x.shape[1])
    variance = squares / (lanes or x.shape[1]) + 1e-5
    normed = apart / (np.sqrt(variance) if deviation else variance) * gain
    return (normed + shift * shifted) @ matrix.T


SLIPS = {
    "Lanes beyond the row hold minus the mean when they are squared: the variance is "
    "too large. Mask them once more.": lambda a: right(*a, sample=side(a[0].shape[1])),
    "You divide by the lanes of the tile; a mean is over the numbers of the row.": (
        lambda a: right(*a, lanes=side(a[0].shape[1]))
    ),
    "`shift` is missing: it is added before the product.": (
        lambda a: right(*a, shifted=False)
    ),
    "You divide by the variance, not by its root.": (
        lambda a: right(*a, deviation=False)
    ),
}


@cache
def run(name):
    """Launch the program; what the machine refuses is told with what it means."""
    x, gain, shift, matrix = CASES[name]
    (rows, columns), outputs = x.shape, len(matrix)
    sizes = {"BLOCK": side(columns), "OUT": side(outputs)}
    arrays = x, gain, shift, matrix, gpu.empty((rows, outputs))
    try:
        return gpu.launch_tiles(
            norm_linear, rows, *arrays, columns, outputs, check=False, **sizes
        )
    except gpu.KernelError as error:
        if "Raise has no meaning" in str(error) or "NotImplemented" in str(error):
            raise NotImplementedError("write norm_linear") from None
        raise expect.Mistake(f"{name}: {error}") from None


def test_products():
    failed = {}
    for name, arrays in CASES.items():
        mine = np.asarray(run(name).results["out"], float)
        if not close(mine, right(*arrays)):
            failed[name] = mine
    for text, slip in SLIPS.items():
        if failed and all(close(m, slip(CASES[n]), 1e-3) for n, m in failed.items()):
            raise expect.Mistake(f"{next(iter(failed))}: {text}")
    for name, mine in failed.items():
        wanted = right(*CASES[name])
        raise expect.Mistake(f"{name}: begins {mine[0, :2]} and not {wanted[0, :2]}")


def close(mine, wanted, within=2e-4):
    return mine.shape == wanted.shape and bool(
        np.abs(mine - wanted).max() < within * (1 + np.abs(wanted).max())
    )


def test_bytes():
    """Programs load x once each and gain, shift and matrix each; they store `out`."""
    name = "768 columns, mean 1"
    x, gain, shift, matrix = CASES[name]
    asked, rows = run(name).report.traffic.asked, len(x)
    operands = rows * (gain.nbytes + shift.nbytes + matrix.nbytes)
    times = (asked["load"] - operands) / x.nbytes
    expect.reading("times each number of x is read", f"{times:.3g}")
    if times > 1.001:
        raise expect.Mistake(
            f"beyond the operands, {times:.3g} times the bytes of x are read: load a "
            "row once, it stays in registers"
        )
    results = 4 * rows * len(matrix)
    if asked["store"] > results:
        raise expect.Mistake(
            f"{asked['store']} bytes are stored, the results have {results}: the "
            "normed row need not go to memory"
        )

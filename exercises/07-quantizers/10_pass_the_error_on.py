"""Pass the error on.

level: build
project: P7.2

GPTQ rounds a layer's columns one by one, and lets those that are not yet rounded make
up for the error. `weights` has a row for each output and a column for each input.
`hessian` is square: it says how much the inputs appear together. The error of a rounded
layer is measured in it.

- `layer_error(difference, hessian)`: the sum over the rows d of the difference between
  rounded and given weights of `d @ hessian @ d`.
- `gptq(weights, hessian, scales)`: the rounded weights. Row i has the fixed scale
  `scales[i]`; a rounded weight is a whole number from -7 to 7, times it.

GPTQ as its paper has it, columns in order, from the first to the last:

1. An input that is never there has zero on the diagonal: set that to one, and its
   column of the weights to zero.
2. Add to the diagonal a `0.01` part of its mean.
3. Take `U`, the upper triangle with `U.T @ U` equal to the inverse of the hessian.
4. Round column j. Divide its error, before less after, by `U[j, j]`; take that times
   `U[j, j+1:]` off the columns that follow, row by row.

The readings hold your error against that of plain rounding.

hint: `np.linalg.cholesky` gives a lower triangle; of the inverse you want its
transpose. Work on a copy. `np.outer(error, U[j, j+1:])` is what all rows lose at once.
"""

import numpy as np

from stacklib.grading import expect

# ---- your answer ----


def layer_error(difference, hessian):
    """The error of a layer, in the norm of the hessian."""
    return np.sum(difference @ hessian * difference)


def gptq(weights, hessian, scales):
    """Weights rounded column by column, each error made up for by those that follow."""
    weights, hessian = weights.copy(), hessian.copy()
    diagonal = np.diag_indices_from(hessian)
    dead = hessian[diagonal] == 0
    hessian[dead, dead] = 1
    weights[:, dead] = 0
    hessian[diagonal] += 0.01 * hessian[diagonal].mean()
    upper = np.linalg.cholesky(np.linalg.inv(hessian)).T
    for j in range(weights.shape[1]):
        codes = np.clip(np.rint(weights[:, j] / scales), -7, 7)
        error = (weights[:, j] - codes * scales) / upper[j, j]
        weights[:, j] = codes * scales
        weights[:, j + 1 :] -= np.outer(error, upper[j, j + 1 :])
    return weights


# ---- tests ----

RNG = np.random.default_rng(72)


def layer(rows, columns, samples, shared=0.8):
    """Weights, the hessian of inputs that go together, and a scale for each row."""
    common = RNG.standard_normal((samples, 4)) @ RNG.standard_normal((4, columns))
    inputs = shared * common + RNG.standard_normal((samples, columns))
    weights = RNG.standard_normal((rows, columns))
    hessian = 2 * inputs.T @ inputs / samples
    return weights, hessian, np.abs(weights).max(axis=1) / 7


def dead(columns=12, never=5):
    weights, hessian, scales = layer(6, columns, 100)
    hessian[never] = hessian[:, never] = 0
    return weights, hessian, scales


LAYERS = {
    "12 columns": layer(8, 12, 200),
    "64 columns": layer(24, 64, 400),
    "fewer samples than columns": layer(8, 32, 10),
}
DIAGONAL = (*layer(8, 16, 100)[:1], np.diag(RNG.uniform(0.5, 5, 16)))
DEAD = dead()


def plain(weights, hessian, scales):
    """Rounding to the nearest, each weight for itself."""
    return np.clip(np.rint(weights / scales[:, None]), -7, 7) * scales[:, None]


def sized(weights, given, hessian):
    return float(np.einsum("ri,ij,rj->", weights - given, hessian, weights - given))


def compensated(weights, hessian, scales, how="solve"):
    """The same by solving, at each column, for what makes up best among the rest; or
    with one of the mistakes.
    """
    weights, hessian = weights.copy(), hessian.copy()
    never = np.diag(hessian) == 0
    hessian[never, never], weights[:, never] = 1, 0
    hessian += 0.01 * np.diag(hessian).mean() * np.eye(len(hessian))
    inverse = np.linalg.inv(hessian)
    for j in range(len(hessian)):
        rest = slice(j + 1, None)
        rounded = np.clip(np.rint(weights[:, j] / scales), -7, 7) * scales
        error, weights[:, j] = weights[:, j] - rounded, rounded
        if how == "hessian":
            part = np.linalg.cholesky(hessian).T
            gain = -part[j, rest] / part[j, j]
        elif how == "inverse":
            gain = -inverse[j, rest] / inverse[j, j]
        else:
            gain = np.linalg.solve(hessian[rest, rest], hessian[rest, j])
        weights[:, rest] += np.outer(-error if how == "sign" else error, gain)
    return weights


def answered(weights, hessian, scales):
    """The reader's rounded weights, on the grid of their rows."""
    given = weights.copy(), hessian.copy()
    try:
        found = gptq(*given, scales.copy())
    except np.linalg.LinAlgError as error:
        raise expect.Mistake(
            f"{error}: with fewer samples than columns the hessian alone has no "
            "inverse; step 2 is for that"
        ) from None
    if not (np.array_equal(given[0], weights) and np.array_equal(given[1], hessian)):
        raise expect.Mistake("the arrays given are changed: work on a copy")
    try:
        found = np.asarray(found, dtype=float)
    except (TypeError, ValueError):
        raise expect.Mistake("an array of rounded weights is asked for") from None
    if found.shape != weights.shape:
        raise expect.Mistake(f"weights of {weights.shape} come back as {found.shape}")
    if not np.isfinite(found).all():
        raise expect.Mistake("NaN or infinity is among the weights")
    codes = found / scales[:, None]
    if np.abs(codes - np.rint(codes)).max() > 1e-6 or np.abs(codes).max() > 7.001:
        raise expect.Mistake("a weight is a whole number from -7 to 7, times its scale")
    return found


def test_layer_error():
    for name, (weights, hessian, scales) in LAYERS.items():
        rounded = plain(weights, hessian, scales)
        difference = rounded - weights
        right = sized(rounded, weights, hessian)
        value = expect.read(layer_error(difference.copy(), hessian.copy()))
        if np.isclose(value, right):
            continue
        try:
            expect.number(
                value,
                right,
                rel=1e-6,
                mistakes={
                    "That is the sum of squares, as if inputs never went together.": (
                        (difference**2).sum()
                    ),
                    "That is the root; the sum is asked for.": right**0.5,
                },
            )
        except expect.Mistake as mistake:
            raise expect.Mistake(f"{name}: {mistake}") from None


SLIPS = {
    "That is the factor of the hessian; its inverse says who can make up.": "hessian",
    "That is the inverse of all columns, done ones among them; in its triangle U those "
    "are gone.": "inverse",
    "The error is added where it has to be taken off.": "sign",
}


def test_gptq():
    answers = {name: answered(*given) for name, given in LAYERS.items()}
    if all(np.allclose(answers[n], plain(*LAYERS[n])) for n in LAYERS):
        raise expect.Mistake(
            "that is plain rounding: the columns that follow have to make up"
        )
    for name, given in LAYERS.items():
        weights, hessian, _scales = given
        mine = sized(answers[name], weights, hessian)
        nearest = sized(plain(*given), weights, hessian)
        if np.allclose(answers[name], compensated(*given)):
            share = 100 * mine / nearest
            expect.reading(f"{name}, of the error of plain rounding", f"{share:.0f} %")
            continue
        for text, how in SLIPS.items():
            if np.allclose(answers[name], compensated(*given, how)):
                raise expect.Mistake(
                    f"{text} Of plain rounding's: {mine / nearest:.2f}"
                )
        right = sized(compensated(*given), weights, hessian)
        raise expect.Mistake(
            f"{name}: the error is {mine:.4g}, plain rounding's {nearest:.4g}, "
            f"GPTQ's {right:.4g}"
        )


def test_inputs_that_never_go_together():
    """A diagonal hessian leaves nothing to make up with."""
    weights, hessian = DIAGONAL
    scales = np.abs(weights).max(axis=1) / 7
    if not np.allclose(answered(weights, hessian, scales), plain(*DIAGONAL, scales)):
        raise expect.Mistake(
            "with a diagonal hessian no column makes up for another: that is plain "
            "rounding"
        )


def test_a_dead_input():
    weights, hessian, scales = DEAD
    try:
        found = answered(weights, hessian, scales)
    except expect.Mistake as mistake:
        raise expect.Mistake(f"an input that is never there: {mistake}") from None
    if found[:, 5].any():
        raise expect.Mistake("the column of an input that is never there becomes zero")
    if not np.allclose(found, compensated(*DEAD)):
        raise expect.Mistake("beside a dead input the others are not what they should")

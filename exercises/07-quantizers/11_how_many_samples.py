"""How many samples?

level: build
project: P7.4

A quantizer looks at the inputs of a layer before it rounds: at how large each is, and
at which go together. How many samples does it have to see?

A sample is an array with a row for each token and a column for each input. Samples need
not be equally long.

- `mean_hessian(samples)`: `2` times the mean, over all tokens of all samples, of the
  outer product of a token's inputs with themselves. A mean and not a sum, so that more
  samples do not make it larger. No samples at all raise ValueError.
- `curve(weights, samples, unseen, counts, rounding)`: for each of the `counts` the
  error of the layer when the first so many samples are seen. `rounding(weights,
  hessian)` gives the rounded weights. The error is measured on `unseen`, one sample
  that no quantizer has met: the norm of what the product `unseen @ weights.T` loses,
  over the norm of the product.
- `flat_from(counts, errors, within)`: where the curve is flat: the fewest samples from
  which on, to the end of the curve, no error is above the last one by more than the
  part `within` of it.

hint: Stack the samples, and `x.T @ x` sums the outer products of all tokens. Sum over
the tokens of different samples before you divide: a mean of means weighs short samples
like long ones. A flat part ends at the end: come from there.
"""

import numpy as np

from stacklib.grading import expect

# ---- your answer ----


def mean_hessian(samples):
    """Twice the mean outer product of the inputs, over all tokens."""
    if not len(samples):
        raise ValueError("no samples: give one or more")
    tokens = np.concatenate(samples)
    return 2 * tokens.T @ tokens / len(tokens)


def curve(weights, samples, unseen, counts, rounding):
    """The relative error on unseen inputs, after so many samples."""
    right = unseen @ weights.T
    errors = []
    for count in counts:
        rounded = rounding(weights, mean_hessian(samples[:count]))
        lost = np.linalg.norm(unseen @ rounded.T - right)
        errors.append(lost / np.linalg.norm(right))
    return errors


def flat_from(counts, errors, within):
    """The fewest samples from which on the error stays near the last."""
    found = counts[-1]
    for count, error in zip(counts[::-1], errors[::-1], strict=True):
        if error > errors[-1] * (1 + within):
            break
        found = count
    return found


# ---- tests ----

RNG = np.random.default_rng(74)
COLUMNS, COUNTS = 32, [1, 2, 4, 16, 64, 256]
MIX = RNG.standard_normal((10, COLUMNS)) * np.geomspace(0.2, 3, COLUMNS)


def sample(tokens):
    """Inputs that go together, with a little of their own."""
    shared = RNG.standard_normal((tokens, 10)) @ MIX
    return shared + 0.3 * RNG.standard_normal((tokens, COLUMNS))


WEIGHTS = RNG.standard_normal((16, COLUMNS))
SAMPLES = [sample(int(n)) for n in RNG.integers(2, 9, 256)]
UNSEEN = sample(400)


def summed(samples):
    """Token by token, over all samples."""
    total = np.zeros((samples[0].shape[1],) * 2)
    for one in samples:
        total += sum(np.outer(token, token) for token in one)
    return 2 * total


def averaged(samples):
    return summed(samples) / sum(map(len, samples))


def mean_of_means(samples):
    return sum(summed([one]) / len(one) for one in samples) / len(samples)


def gptq(weights, hessian):
    """Rounding to four bits, each column's error passed on."""
    weights, size = weights.copy(), len(hessian)
    scales = np.abs(weights).max(axis=1) / 7
    hessian = hessian + 0.01 * np.trace(hessian) / size * np.eye(size)
    upper = np.linalg.cholesky(np.linalg.inv(hessian)).T
    for j in range(size):
        rounded = np.clip(np.rint(weights[:, j] / scales), -7, 7) * scales
        weights[:, j:] -= np.outer(weights[:, j] - rounded, upper[j, j:] / upper[j, j])
        weights[:, j] = rounded
    return weights


def matrix(value, size, what):
    """The reader's square matrix."""
    try:
        found = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        raise expect.Mistake(f"{what} is asked for") from None
    if found.shape != (size, size):
        raise expect.Mistake(f"{what} of {found.shape} instead of {(size, size)}")
    return found


def test_mean_hessian():
    for count in (1, 3, 40):
        seen = [one.copy() for one in SAMPLES[:count]]
        mine, right = matrix(mean_hessian(seen), COLUMNS, "a hessian"), averaged(seen)
        if np.allclose(mine, right):
            continue
        slips = {
            "that is the sum, which grows with the samples; the mean is asked for": (
                summed(seen)
            ),
            "that is a mean of means: short samples weigh like long ones": (
                mean_of_means(seen)
            ),
            "divided by the samples, not by their tokens": summed(seen) / count,
            "twice that is asked for": right / 2,
        }
        for text, wrong in slips.items():
            if np.allclose(mine, wrong):
                raise expect.Mistake(f"{count} samples: {text}")
        raise expect.Mistake(
            f"{count} samples: the first on the diagonal is {mine[0, 0]:.4g} instead "
            f"of {right[0, 0]:.4g}"
        )
    expect.refuses(
        mean_hessian, {"samples": []}, because="no samples are no calibration"
    )


def relative(rounded, inputs):
    right = inputs @ WEIGHTS.T
    return np.linalg.norm(inputs @ rounded.T - right) / np.linalg.norm(right)


def errors_of(inputs_of):
    """The curve, measured on what ``inputs_of`` gives for a count."""
    return [
        relative(gptq(WEIGHTS, averaged(SAMPLES[:n])), inputs_of(n)) for n in COUNTS
    ]


def test_curve():
    given = (WEIGHTS.copy(), list(SAMPLES), UNSEEN.copy(), list(COUNTS))
    mine = expect.numbers(curve(*given, gptq), "an error for each count")
    if len(mine) != len(COUNTS):
        raise expect.Mistake(f"{len(mine)} errors for {len(COUNTS)} counts")
    expected = errors_of(lambda n: UNSEEN)
    if not np.allclose(mine, expected, rtol=1e-4):
        seen = errors_of(lambda n: np.concatenate(SAMPLES[:n]))
        if np.allclose(mine, seen, rtol=1e-4):
            raise expect.Mistake(
                "measured on the samples that were seen, where few look best; measure "
                "on unseen ones"
            )
        every = errors_of(lambda n: np.concatenate(SAMPLES))
        if np.allclose(mine, every, rtol=1e-4):
            raise expect.Mistake("measured on all samples, the seen ones among them")
        length = np.linalg.norm(UNSEEN @ WEIGHTS.T)
        if np.allclose(mine, np.array(expected) * length, rtol=1e-4):
            raise expect.Mistake("divide by the norm of the product: it is relative")
        at = int(np.argmax(~np.isclose(mine, expected, rtol=1e-4)))
        raise expect.Mistake(
            f"{COUNTS[at]} samples: {mine[at]:.4f} instead of {expected[at]:.4f}"
        )
    for n, value in zip(COUNTS, mine, strict=True):
        if n in (1, 16, 256):
            expect.reading(f"error on unseen inputs, {n} samples", f"{value:.4f}")


CURVES = [
    {"counts": [1, 16, 256], "errors": [0.3, 0.21, 0.2], "within": 0.1},
    {"counts": [1, 2, 4, 8, 16], "errors": [9, 2, 4, 2.05, 2], "within": 0.05},
    {"counts": [1, 2, 4, 8], "errors": [5, 1.4, 1.04, 1.0], "within": 0.05},
    {"counts": [1, 2, 4], "errors": [4, 3, 2], "within": 0.1},
    {"counts": [1, 2, 4], "errors": [1, 1, 1], "within": 0.0},
]


def from_the_end(counts, errors, within):
    near = [error <= errors[-1] * (1 + within) for error in errors]
    return next(n for i, n in enumerate(counts) if all(near[i:]))


def test_flat_from():
    expect.function_matches(
        flat_from,
        from_the_end,
        CURVES,
        rel=1e-9,
        mistakes={
            "There the curve is as low for the first time, and rises again.": (
                lambda counts, errors, within: next(
                    n
                    for n, error in zip(counts, errors, strict=True)
                    if error <= errors[-1] * (1 + within)
                )
            ),
            "That is its place in the list; the number of samples is asked for.": (
                lambda counts, **c: counts.index(from_the_end(counts, **c))
            ),
        },
    )

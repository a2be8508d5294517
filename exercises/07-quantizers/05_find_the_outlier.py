"""Find the channel.

level: build
project: P7.5

Activations `x` are rows of tokens, their columns are channels; weights `w` have a row
for each output and a column for each channel. The layer is `x @ w.T`. Where one channel
is much larger than the others it sets the scale of the whole tensor, and the others
lose their bits.

- `inject(x, w, channel, factor)`: new arrays, in which that channel of the activations
  is `factor` times as large and the product is what it was.
- `error(x, w, by_channel)`: how far the product is off when `x` is rounded to symmetric
  INT8, as the norm of the difference over the norm of the product. One scale serves the
  whole of `x`, or, with `by_channel`, each channel has its own; a scale is the largest
  magnitude over `127`.
- `culprit(x)`: the number of the channel whose scale must change: the one that sets the
  scale of the tensor.

The readings show the error without an outlier, with one, and with the culprit undone.

hint: Whatever multiplies a column of `x` has to be divided out of a column of `w`. A
mean hides a single large number; a scale is set by the largest magnitude.
`np.linalg.norm` is the root of the sum of squares.
"""

import numpy as np

from stacklib.grading import expect

# ---- your answer ----


def inject(x, w, channel, factor):
    """Activations with one channel enlarged, and weights that undo it."""
    x, w = x.copy(), w.copy()
    x[:, channel] *= factor
    w[:, channel] /= factor
    return x, w


def error(x, w, by_channel):
    """Relative error of the product with x in INT8."""
    scales = np.abs(x).max(axis=0 if by_channel else None) / 127
    given_back = np.rint(x / scales) * scales
    right = x @ w.T
    return np.linalg.norm(given_back @ w.T - right) / np.linalg.norm(right)


def culprit(x):
    """The channel that sets the scale of the tensor."""
    return np.abs(x).max(axis=0).argmax()


# ---- tests ----

RNG = np.random.default_rng(75)
X, W = RNG.standard_normal((96, 40)), RNG.standard_normal((24, 40))
CHANNEL, FACTOR = 13, 64.0
SPIKE = RNG.standard_normal((96, 40))
SPIKE[:, 5] += 6.0  # large on average
SPIKE[70, 31] = 30.0  # and one number that is larger still
LOW = -np.abs(RNG.standard_normal((50, 8))) * np.array([1, 1, 9, 1, 1, 1, 1, 1.0])
LOW[3, 6] = 4.0


def pair(x, w, channel=CHANNEL, factor=FACTOR):
    """The reader's two arrays."""
    given = x.copy(), w.copy()
    found = expect.sequence(inject(*given, channel, factor), "two arrays", 2)
    if not (np.array_equal(given[0], x) and np.array_equal(given[1], w)):
        raise expect.Mistake("the arrays given are changed: make new ones")
    try:
        new = tuple(np.asarray(a, dtype=float) for a in found)
    except (TypeError, ValueError):
        raise expect.Mistake("two arrays of numbers are asked for") from None
    for a, old in zip(new, (x, w), strict=True):
        if a.shape != old.shape:
            raise expect.Mistake(f"an array of {a.shape} in place of {old.shape}")
    return new


def test_inject():
    new_x, new_w = pair(X, W)
    right = X.copy()
    right[:, CHANNEL] *= FACTOR
    if not np.allclose(new_x, right):
        by_token = X.copy()
        by_token[CHANNEL] *= FACTOR
        if np.allclose(new_x, by_token):
            raise expect.Mistake("that row is a token; channels are columns")
        raise expect.Mistake(f"channel {CHANNEL} is not {FACTOR:g} times as large")
    if np.allclose(new_w, W):
        raise expect.Mistake("the weights are as before, and the product is another")
    if not np.allclose(new_x @ new_w.T, X @ W.T):
        times = new_w[0, CHANNEL] / W[0, CHANNEL]
        raise expect.Mistake(
            f"the product is another: that column of the weights is {times:g} times "
            "what it was"
        )


def rounded(x, axis):
    scales = np.abs(x).max(axis=axis, keepdims=True) / 127
    return np.rint(x / scales) * scales


def off(x, w, axis, of=None):
    right = x @ w.T
    lost = np.linalg.norm(rounded(x, axis) @ w.T - right)
    return lost / (np.linalg.norm(right) if of is None else of)


def enlarged(factor=FACTOR):
    x, w = X.copy(), W.copy()
    x[:, CHANNEL] *= factor
    w[:, CHANNEL] /= factor
    return x, w


def test_error():
    plain, outlier = (X, W), enlarged()
    cases = [(*pair, by) for pair in (plain, outlier) for by in (False, True)]
    mine = [expect.read(error(x.copy(), w.copy(), by)) for x, w, by in cases]
    right = [off(x, w, 0 if by else None) for x, w, by in cases]
    if not np.allclose(mine, right, rtol=1e-4):
        slips = {
            "that is a scale for each token; a channel is a column": (1, None),
            "one scale for all in both; by_channel wants one for each column": (
                None,
                None,
            ),
            "a scale for each channel in both": (0, 0),
            "the two are turned round": (None, 0),
        }
        for text, (yes, no) in slips.items():
            wrong = [off(x, w, yes if by else no) for x, w, by in cases]
            if np.allclose(mine, wrong, rtol=1e-4):
                raise expect.Mistake(text)
        wrong = [off(x, w, 0 if by else None, 1.0) for x, w, by in cases]
        if np.allclose(mine, wrong, rtol=1e-4):
            raise expect.Mistake("divide by the norm of the product: it is relative")
        wrong = [
            np.linalg.norm(rounded(x, 0 if by else None) - x) / np.linalg.norm(x)
            for x, w, by in cases
        ]
        if np.allclose(mine, wrong, rtol=1e-4):
            raise expect.Mistake("the error of the product is asked for, not of x")
        raise expect.Mistake(f"{mine[0]:.4g} by tensor; it is off by {right[0]:.4g}")
    names = ("by tensor", "by channel", "outlier, by tensor", "outlier, by channel")
    for name, value in zip(names, mine, strict=True):
        expect.reading(f"error {name}", f"{100 * value:.2f} %")


def test_culprit():
    cases = {"an enlarged channel": enlarged()[0], "one spike": SPIKE, "negative": LOW}
    for name, x in cases.items():
        mine = expect.whole(culprit(x.copy()))
        size = np.abs(x)
        if mine == size.max(axis=0).argmax():
            continue
        if mine == size.mean(axis=0).argmax():
            why = "largest on average; the scale is set by the largest number"
        elif mine == size.max(axis=1).argmax():
            why = "that is a token"
        elif mine == x.max(axis=0).argmax():
            why = "a magnitude has no sign"
        else:
            why = "not the channel that sets the scale"
        raise expect.Mistake(f"{name}: channel {mine}: {why}")


def test_undone():
    """Dividing the culprit out again gives the first error back."""
    x, w = enlarged()
    back = pair(x, w, expect.whole(culprit(x)), 1 / FACTOR)
    value = expect.read(error(*back, False))
    expect.number(value, off(X, W, None), rel=1e-3)
    expect.reading("error by tensor, the culprit undone", f"{100 * value:.2f} %")

"""An adapter over NF4.

level: build
project: P7.6

QLoRA freezes a layer in NF4 and learns a correction of low rank beside it. Here is one
layer, with calibration inputs and what the exact layer makes of them, and gradient
steps in NumPy.

`codes` has a row for each output and a column for each input. Along a row, blocks of
`64` weights share a scale: `scales` has one column for each block. A weight is the
code's place in NF4's table, `Format("nf4").decode(code)`, times the scale.

- `expanded(codes, scales)`: the frozen weights.
- `begin(outputs, inputs, rank, rng)`: the two matrices `a` (rank rows, a column for
  each input) and `b` (a row for each output, rank columns). At the start the layer has
  to give what the frozen weights give, and still be able to learn.
  `rng` is a generator of NumPy.
- `output(x, codes, scales, a, b)`: what the layer gives for inputs `x`, a token in each
  row. Its weights are the frozen ones plus `b @ a`.
- `step(x, wanted, codes, scales, a, b, rate)`: the new `a` and `b` after one step of
  gradient descent. The loss is the sum of squares of output less `wanted`, over `2` and
  over the number of tokens. Both gradients are taken before either matrix is moved.

The readings hold the error after your steps against the error of the frozen layer.

hint: With D the output less what is wanted, the gradient of the weights would be
`D.T @ x` over the tokens. `b @ a` takes their place: what does the chain rule make of
it for either matrix? Which gradient is zero when the other matrix is?
"""

import numpy as np

from stacklib.grading import expect
from stacklib.quantizers import Format

# ---- your answer ----


def expanded(codes, scales):
    """The frozen weights."""
    levels = np.array([Format("nf4").decode(code) for code in range(16)])
    return levels[codes] * np.repeat(scales, 64, axis=1)


def begin(outputs, inputs, rank, rng):
    """The two matrices before the first step."""
    a = rng.standard_normal((rank, inputs)) / np.sqrt(inputs)
    return a, np.zeros((outputs, rank))


def output(x, codes, scales, a, b):
    """What the layer gives, adapter and all."""
    return x @ expanded(codes, scales).T + x @ a.T @ b.T


def step(x, wanted, codes, scales, a, b, rate):
    """Both matrices after one step of gradient descent."""
    off = output(x, codes, scales, a, b) - wanted
    slope = off.T @ x / len(x)
    return a - rate * b.T @ slope, b - rate * slope @ a.T


# ---- tests ----

RNG = np.random.default_rng(716)
OUTPUTS, INPUTS, TOKENS, RANK = 24, 128, 96, 4
RATE, STEPS = 0.05, 150
TABLE = [Format("nf4").decode(code) for code in range(16)]
FLOATS = [Format("e2m1").decode(code) for code in range(16)]
EXACT = RNG.standard_normal((OUTPUTS, INPUTS)) * RNG.uniform(0.2, 1, (OUTPUTS, 1))
X = RNG.standard_normal((TOKENS, 8)) @ RNG.standard_normal((8, INPUTS))
X = X / 8 + 0.1 * RNG.standard_normal((TOKENS, INPUTS))
WANTED = X @ EXACT.T


def coded(weights):
    """Codes and scales of NF4."""
    blocks = weights.reshape(len(weights), -1, 64)
    scales = np.abs(blocks).max(axis=2)
    far = np.abs((blocks / scales[..., None])[..., None] - np.array(TABLE))
    return far.argmin(axis=3).reshape(weights.shape), scales


CODES, SCALES = coded(EXACT)


def looked_up(table=TABLE, block=64):
    """The frozen weights, number by number, or what a slip makes of them."""
    many = SCALES.shape[1]
    return np.array(
        [
            [
                table[code] * SCALES[i, j // block % many]
                for j, code in enumerate(CODES[i])
            ]
            for i in range(OUTPUTS)
        ]
    )


FROZEN = looked_up()


def array(value, shape, what):
    """An array of the reader's, of the shape that was asked for."""
    if value is None:
        raise expect.Mistake("nothing came back: is a return missing?")
    try:
        found = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        raise expect.Mistake(f"{expect.clip(value)}: {what} asked for") from None
    if found.shape != shape:
        raise expect.Mistake(f"{what} of shape {found.shape} instead of {shape}")
    return found


def both(value, rank=RANK):
    """Two matrices of the reader's."""
    pair = expect.sequence(value, "a and b", 2)
    a = array(pair[0], (rank, INPUTS), "a")
    return a, array(pair[1], (OUTPUTS, rank), "b")


def test_expanded():
    mine = array(expanded(CODES.copy(), SCALES.copy()), EXACT.shape, "weights")
    if np.allclose(mine, FROZEN, rtol=1e-5, atol=1e-6):
        return
    slips = {
        "You read the codes as e2m1, the element of NVFP4. NF4's are places in a "
        "table of its own.": {"table": FLOATS},
        "You read the codes as e2m1 and share scales as NVFP4 does.": {
            "table": FLOATS,
            "block": 16,
        },
        "Scales of NF4 hold for 64 weights; 16 is the block of NVFP4.": {"block": 16},
        "Neighbouring weights share a scale, 64 of them.": {"block": 1},
    }
    for text, slip in slips.items():
        if np.allclose(mine, looked_up(**slip), rtol=1e-5, atol=1e-6):
            raise expect.Mistake(text)
    i, j = np.argwhere(~np.isclose(mine, FROZEN, rtol=1e-5, atol=1e-6))[0]
    raise expect.Mistake(
        f"code {CODES[i, j]}, scale {SCALES[i, j // 64]:.4g}: the weight is "
        f"{mine[i, j]:.4g} instead of {FROZEN[i, j]:.4g}"
    )


def test_begin():
    a, b = both(begin(OUTPUTS, INPUTS, RANK, np.random.default_rng(1)))
    if not a.any() and not b.any():
        raise expect.Mistake(
            "Both are zero. The gradient of each is a product with the other, so "
            "neither ever moves."
        )
    if np.abs(b @ a).max() > 1e-12:
        raise expect.Mistake(
            "Before the first step the layer has to give what the frozen one gives: "
            "b @ a is not zero."
        )
    rank = np.linalg.matrix_rank(a if a.any() else b)
    if rank < RANK:
        raise expect.Mistake(
            f"rows alike learn alike: of rank {RANK} only {rank} is used"
        )


A, B = RNG.standard_normal((RANK, INPUTS)), RNG.standard_normal((OUTPUTS, RANK))


def test_output():
    mine = array(
        output(X.copy(), CODES.copy(), SCALES.copy(), A.copy(), B.copy()),
        WANTED.shape,
        "outputs",
    )
    each = np.repeat(SCALES, 64, axis=1)
    right = X @ (FROZEN + B @ A).T
    if np.allclose(mine, right, rtol=1e-4, atol=1e-4):
        return
    slips = {
        "You added the adapter before the scales: they multiply it too. It belongs "
        "to the weights after they are expanded.": (FROZEN / each + B @ A) * each,
        "The adapter is left out.": FROZEN,
        "The adapter alone: the frozen weights are left out.": B @ A,
        "It is taken off instead of added.": FROZEN - B @ A,
    }
    for text, weights in slips.items():
        if np.allclose(mine, X @ weights.T, rtol=1e-4, atol=1e-4):
            raise expect.Mistake(text)
    near = FROZEN + B @ A
    merged = coded(near)
    if np.allclose(mine, X @ restored(*merged).T, rtol=1e-4, atol=1e-4):
        raise expect.Mistake(
            "You merged the adapter and rounded again: what it has learned is "
            "smaller than the steps between codes."
        )
    raise expect.Mistake(f"off by up to {np.abs(mine - right).max():.3g}")


def restored(codes, scales):
    """Weights of other codes."""
    return np.array(TABLE)[codes] * np.repeat(scales, 64, axis=1)


def moved(rate, mean=True, order="", loss=1.0):
    """Both matrices after a step, by differences of the loss along each direction."""
    off = X @ (FROZEN + B @ A).T - WANTED
    slope = np.einsum("to,ti->oi", off, X) * loss / (TOKENS if mean else 1)
    new_a = A - rate * np.einsum("or,oi->ri", B, slope)
    new_b = B - rate * np.einsum("oi,ri->or", slope, A)
    if order:
        first = (new_a, B) if order == "a" else (A, new_b)
        again = np.einsum("to,ti->oi", X @ (FROZEN + first[1] @ first[0]).T - WANTED, X)
        again /= TOKENS
        if order == "a":
            new_b = B - rate * np.einsum("oi,ri->or", again, new_a)
        else:
            new_a = A - rate * np.einsum("or,oi->ri", new_b, again)
    return new_a, new_b


def half_moved(rate, which):
    """One matrix moved, and then the other with the same slope."""
    off = X @ (FROZEN + B @ A).T - WANTED
    slope = np.einsum("to,ti->oi", off, X) / TOKENS
    new_a, new_b = moved(rate)
    if which == "b":
        return A - rate * np.einsum("or,oi->ri", new_b, slope), new_b
    return new_a, B - rate * np.einsum("oi,ri->or", slope, new_a)


def test_step():
    rate = 1e-3
    given = [X.copy(), WANTED.copy(), CODES.copy(), SCALES.copy(), A.copy(), B.copy()]
    mine = both(step(*given, rate))
    late = "One matrix has moved before the gradient of the other is taken."
    slips = {
        late: (
            *(moved(rate, order=o) for o in "ab"),
            *(half_moved(rate, o) for o in "ab"),
        ),
        "That climbs: a step goes against the gradient.": (moved(-rate),),
        "The tokens are summed; the loss is a mean over them.": (
            moved(rate, mean=False),
        ),
        "Twice the gradient: half the square is the loss.": (moved(rate, loss=2.0),),
        "Only one of them has moved.": (
            (moved(rate)[0], B),
            (A, moved(rate)[1]),
        ),
    }
    right = moved(rate)
    if not alike(mine, right):
        for text, wrongs in slips.items():
            if any(alike(mine, wrong) for wrong in wrongs):
                raise expect.Mistake(text)
        share = [np.abs(m - r).max() for m, r in zip(mine, right, strict=True)]
        raise expect.Mistake(f"a is off by {share[0]:.3g}, b by {share[1]:.3g}")
    if not np.array_equal(given[2], CODES) or not np.array_equal(given[3], SCALES):
        raise expect.Mistake("codes and scales are frozen; yours have changed")


def alike(pair, other):
    """Whether both matrices agree, as closely as a step is long."""
    moves = (m - old for m, old in zip(pair, (A, B), strict=True))
    wanted = [o - old for o, old in zip(other, (A, B), strict=True)]
    return all(
        np.allclose(m, w, rtol=1e-3, atol=1e-4 * (np.abs(w).max() + 1e-12))
        for m, w in zip(moves, wanted, strict=True)
    )


def error(weights, x=X):
    """Relative error of the layer's output."""
    return np.linalg.norm(x @ (weights - EXACT).T) / np.linalg.norm(x @ EXACT.T)


def test_it_learns():
    a, b = both(begin(OUTPUTS, INPUTS, RANK, np.random.default_rng(2)))
    before = error(FROZEN)
    for _ in range(STEPS):
        a, b = both(step(X, WANTED, CODES, SCALES, a, b, RATE))
    after = error(FROZEN + b @ a)
    expect.reading("error of the frozen layer", f"{100 * before:.2f} %")
    expect.reading(f"after {STEPS} steps", f"{100 * after:.2f} %")
    if not after < 0.9 * before:
        raise expect.Mistake(
            f"after {STEPS} steps the error is {after / before:.3f} of what it was: "
            "nothing has been learned"
        )

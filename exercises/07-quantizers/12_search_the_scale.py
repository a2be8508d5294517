"""Search the scale.

level: build

AWQ gives the inputs that are large more of the grid: it multiplies their columns of the
weights before rounding and divides them out afterwards. Every weight has as many bits
as every other. `weights` has a row for each output and a column for each input, `x` a
row for each token; the layer is `x @ weights.T`.

- `input_scales(x, alpha)`: for each input the mean magnitude in `x`, to the power
  `alpha`; then all divided by the root of the largest of them times the smallest.
- `scaled_rounding(weights, scales, rounding)`: the weights that the layer has in
  effect: columns times their scales, rounded by `rounding(weights)`, and the scales
  undone.
- `awq(weights, x, rounding)`: the best `alpha` of `0`, `1/20`, `2/20` up to `19/20`,
  and the weights in effect with it. Best is where the sum of squares of what the
  product loses on `x` is least; of equals the smallest.

With `alpha` zero it is plain rounding. The readings show what the search wins.

hint: `x` divided by a scale, times weights multiplied by it, is what it was: undo it
where you like, but undo it. Scales of one input multiply a column. Compare products,
not weights: a large input makes a small error large.
"""

import numpy as np

from stacklib.grading import expect

# ---- your answer ----


def input_scales(x, alpha):
    """A scale for each input, from its mean magnitude."""
    scales = np.abs(x).mean(axis=0) ** alpha
    return scales / np.sqrt(scales.max() * scales.min())


def scaled_rounding(weights, scales, rounding):
    """The weights in effect, rounded between scaling and undoing it."""
    return rounding(weights * scales) / scales


def awq(weights, x, rounding):
    """The best alpha, and the weights in effect with it."""
    best, found, least = 0.0, weights, np.inf
    for step in range(20):
        effect = scaled_rounding(weights, input_scales(x, step / 20), rounding)
        lost = np.sum((x @ (effect - weights).T) ** 2)
        if lost < least:
            best, found, least = step / 20, effect, lost
    return best, found


# ---- tests ----

RNG = np.random.default_rng(712)
ALPHAS = [step / 20 for step in range(20)]


def layer(inputs, spread):
    """Weights, and inputs of sizes that differ by so many powers of e."""
    sizes = np.exp(spread * RNG.standard_normal(inputs))
    x = RNG.standard_normal((64, inputs)) * sizes
    return RNG.standard_normal((12, inputs)), x


LAYERS = {
    "inputs of many sizes": layer(32, 1.2),
    "a few large inputs": layer(24, 0.4),
    "inputs of one size": layer(16, 0.0),
}
LAYERS["a few large inputs"][1][:, [3, 9]] *= 25


def rtn(weights):
    """Four bits to the nearest, a scale for each row."""
    scales = np.abs(weights).max(axis=1, keepdims=True) / 7
    return np.rint(weights / scales) * scales


def right_scales(x, alpha, power=1):
    mean = np.sqrt(np.square(x).mean(axis=0)) if power == 2 else np.abs(x).mean(axis=0)
    logs = alpha * np.log(mean)
    return np.exp(logs - (logs.max() + logs.min()) / 2)


def effective(weights, x, alpha):
    s = right_scales(x, alpha)
    return rtn(weights @ np.diag(s)) @ np.diag(1 / s)


def loss(effect, weights, x):
    return float(np.linalg.norm(x @ weights.T - x @ effect.T) ** 2)


def array(value, shape, what):
    """The reader's array, of this shape."""
    try:
        found = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        raise expect.Mistake(f"{what} are asked for") from None
    if found.shape != shape:
        raise expect.Mistake(f"{what}: of {found.shape} instead of {shape}")
    if not np.isfinite(found).all():
        raise expect.Mistake(f"{what}: NaN or infinity is among them")
    return found


def test_input_scales():
    for name, (_, x) in LAYERS.items():
        for alpha in (0.0, 0.5, 0.95):
            what = f"{name}, alpha {alpha:g}"
            mine = array(np.ravel(input_scales(x.copy(), alpha)), x.shape[1:], "scales")
            right = right_scales(x, alpha)
            if np.allclose(mine, right):
                continue
            raw = np.abs(x).mean(axis=0) ** alpha
            slips = {
                "divide by the root of the largest times the smallest": raw,
                "the mean magnitude is asked for, not the largest": (
                    scaled_middle(np.abs(x).max(axis=0) ** alpha)
                ),
                "the mean magnitude, not the mean": (
                    scaled_middle(np.abs(x.mean(axis=0)) ** alpha)
                ),
                "a large input wants a large scale: those are one over them": 1 / right,
            }
            for text, wrong in slips.items():
                if np.allclose(mine, wrong):
                    raise expect.Mistake(f"{what}: {text}")
            raise expect.Mistake(f"{what}: {mine[0]:.4g} instead of {right[0]:.4g}")


def scaled_middle(scales):
    return scales / np.sqrt(scales.max() * scales.min())


def test_scaled_rounding():
    for name, (weights, x) in LAYERS.items():
        s = right_scales(x, 0.5)
        value = scaled_rounding(weights.copy(), s.copy(), rtn)
        explain(name, array(value, weights.shape, "weights"), weights, s, 0.5, x)


def explain(name, mine, weights, s, alpha, x):
    """A Mistake that says what is wrong with the weights in effect."""
    right = effective(weights, x, alpha)
    if np.allclose(mine, right):
        return
    kept = [j for j in range(len(s)) if np.allclose(mine[:, j], weights[:, j])]
    if kept and len(kept) < len(s):
        raise expect.Mistake(
            f"{name}: input {kept[0]} keeps its weights as they were. AWQ mixes no "
            "precision: every column is rounded"
        )
    slips = {
        "the scales are not undone, and the layer is another": rtn(weights * s),
        "you divide where you should multiply, and the other way round": (
            rtn(weights / s) * s
        ),
    }
    if alpha:
        slips["that is plain rounding: the scales are not used"] = rtn(weights)
    for text, wrong in slips.items():
        if np.allclose(mine, wrong):
            raise expect.Mistake(f"{name}: {text}")
    raise expect.Mistake(
        f"{name}: the product loses {loss(mine, weights, x):.4g}, and should lose "
        f"{loss(right, weights, x):.4g}"
    )


def test_alpha_zero():
    """Scales of one change nothing."""
    for name, (weights, x) in LAYERS.items():
        s = np.ravel(input_scales(x.copy(), 0.0))
        mine = array(scaled_rounding(weights.copy(), s, rtn), weights.shape, "weights")
        if not np.allclose(mine, rtn(weights)):
            raise expect.Mistake(f"{name}: with alpha zero it is plain rounding")


def test_awq():
    for name, (weights, x) in LAYERS.items():
        found = expect.sequence(awq(weights.copy(), x.copy(), rtn), "alpha, weights", 2)
        alpha = expect.read(found[0])
        mine = array(found[1], weights.shape, "weights")
        losses = [loss(effective(weights, x, a), weights, x) for a in ALPHAS]
        best = ALPHAS[int(np.argmin(losses))]
        if abs(alpha - best) > 1e-9:
            apart = [np.sum((effective(weights, x, a) - weights) ** 2) for a in ALPHAS]
            tried = scaled_rounding(weights.copy(), right_scales(x, 0.5), rtn)
            undone = np.allclose(tried, effective(weights, x, 0.5))
            if undone and abs(alpha - ALPHAS[int(np.argmin(apart))]) < 1e-9:
                why = "the weights are nearest there; the product counts"
            elif not any(abs(alpha - a) < 1e-9 for a in ALPHAS):
                why = "that is none of the twenty"
            else:
                why = f"alpha {best:g} loses less"
            raise expect.Mistake(f"{name}: alpha {alpha:g}: {why}")
        explain(name, mine, weights, right_scales(x, best), best, x)
        share = 100 * min(losses) / loss(rtn(weights), weights, x)
        text = f"alpha {best:g}, {share:.0f} % of plain rounding's"
        expect.reading(f"{name}, squares lost", text)

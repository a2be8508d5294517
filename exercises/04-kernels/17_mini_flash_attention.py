"""A small FlashAttention, and its memory measured.

level: build
project: P4.6

Attention of one head: `q`, `k` and `v` are arrays of S rows and D numbers in float64.
The result is softmax(q @ k.T / sqrt(D)) @ v, row by row, and the matrix of S by S
scores must never exist. Go over the queries `tile` rows at a time, and for each over
the keys and values `tile` rows at a time; S need not be a multiple of `tile`.

- `attend(q, k, v, tile)`: the result, an array of S rows and D numbers.

Two things are graded: the result, and the most memory that Python and NumPy held while
it was computed (`tracemalloc`), the result included. Suppose S = 2,048, D = 16 and
tiles of 64 rows: it may be as much as four arrays of S by D and twelve tiles of scores.
The scores of all pairs are far more, and those of one tile of queries with *all* keys
are too many as well once they have been turned into weights.

Scores may be far apart: use the running maximum.

hint: for each tile of queries start with a maximum of -inf, a sum of 0 and an output of
0 for each row. A tile of keys gives scores, a new maximum, and a factor
exp(old - new) by which sum and output shrink before the tile's own are added.
"""

import tracemalloc

import numpy as np

from stacklib.grading import expect

# ---- your answer ----


def attend(q, k, v, tile):
    """Attention in tiles: softmax(q @ k.T / sqrt(D)) @ v."""
    out = np.empty_like(q)
    scale = q.shape[1] ** -0.5
    for top in range(0, len(q), tile):
        query = q[top : top + tile] * scale
        most = np.full((len(query), 1), -np.inf)
        total = np.zeros((len(query), 1))
        sums = np.zeros_like(query)
        for left in range(0, len(k), tile):
            scores = query @ k[left : left + tile].T
            new = np.maximum(most, scores.max(axis=1, keepdims=True))
            shrink, weights = np.exp(most - new), np.exp(scores - new)
            total = total * shrink + weights.sum(axis=1, keepdims=True)
            sums = sums * shrink + weights @ v[left : left + tile]
            most = new
        out[top : top + tile] = sums / total
    return out


# ---- tests ----

RNG = np.random.default_rng(17)
LONG, WIDE, TILE = 2048, 16, 64
CASES = {  # S, D, tile, size of the scores
    "whole tiles": (128, 16, 32, 1),
    "a ragged last tile": (100, 8, 32, 1),
    "one tile": (20, 4, 64, 1),
    "one row": (1, 8, 16, 1),
    "scores of thousands": (96, 8, 32, 60),
}


def drawn(rows, wide, size=1):
    q, k, v = RNG.standard_normal((3, rows, wide))
    return q * size, k * size, v


def formula(q, k, v, scale=None, base=True):
    scores = q @ k.T * (q.shape[1] ** -0.5 if scale is None else scale)
    weights = np.exp(scores - (scores.max(axis=1, keepdims=True) if base else 0))
    return weights / weights.sum(axis=1, keepdims=True) @ v


def unscaled(q, k, v, tile):
    return formula(q, k, v, scale=1.0)


def forgetful(q, k, v, tile, keep_sum=True):
    """The output is not shrunk where the maximum rises; nor the sum."""
    scores = q @ k.T * q.shape[1] ** -0.5
    most = np.full((len(q), 1), -np.inf)
    total, sums = np.zeros((len(q), 1)), np.zeros(q.shape)
    for left in range(0, len(k), tile):
        part = scores[:, left : left + tile]
        new = np.maximum(most, part.max(axis=1, keepdims=True))
        weights = np.exp(part - new)
        total = total * (np.exp(most - new) if keep_sum else 1)
        total += weights.sum(axis=1, keepdims=True)
        sums += weights @ v[left : left + tile]
        most = new
    return sums / total


SLIPS = {
    "The scores are not divided by sqrt(D).": unscaled,
    "The sum shrinks where the maximum rises, the output does not.": forgetful,
    "Neither sum nor output shrinks where the maximum rises.": (
        lambda q, k, v, tile: forgetful(q, k, v, tile, keep_sum=False)
    ),
}


def same(mine, right):
    return np.allclose(mine, right, rtol=1e-9, atol=1e-9, equal_nan=True)


def mine_of(q, k, v, tile):
    with np.errstate(all="ignore"):
        found = np.asarray(attend(q.copy(), k.copy(), v.copy(), tile))
    if found.shape != q.shape:
        raise expect.Mistake(f"an array of {q.shape} is asked for, not {found.shape}")
    return found


def test_result():
    failed = []
    for name, (rows, wide, tile, size) in CASES.items():
        given = drawn(rows, wide, size)
        mine = mine_of(*given, tile)
        if not same(mine, formula(*given)):
            failed.append((name, given, tile, mine))
    if not failed:
        return
    if [name for name, *_ in failed] == ["scores of thousands"]:
        raise expect.Mistake(
            "right until scores are large: weights overflow without the running maximum"
        )
    for text, slip in SLIPS.items():
        if all(same(mine, slip(*given, tile)) for _, given, tile, mine in failed):
            raise expect.Mistake(text)
    name, given, _, mine = failed[0]
    off = np.nanmax(np.abs(mine - formula(*given)))
    raise expect.Mistake(f"{name}: off by {off:.3g}")


def test_memory():
    q, k, v = drawn(LONG, WIDE)
    tracemalloc.start()
    try:
        attend(q, k, v, TILE)
        held = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    each, room = 8, 4 * LONG * WIDE + 12 * TILE * TILE
    expect.reading("memory at 2,048 rows", f"{held / 1e6:.2f}", "MB")
    if held <= each * room:
        return
    said = f"{held / 1e6:.2f} MB at once, where {each * room / 1e6:.2f} MB are allowed"
    if held > each * LONG * LONG:
        raise expect.Mistake(f"{said}: the scores of all pairs exist")
    raise expect.Mistake(f"{said}: a tile of queries meets all keys at once")

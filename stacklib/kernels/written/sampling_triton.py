"""FlashSampling: the next token without its logits ever being written.

A token drawn from softmax(logits / temperature) is the argmax of logits / temperature +
Gumbel noise (E. Gumbel, 1954; C. Maddison et al., "A* sampling", 2014, section 2). An
argmax joins like a sum, so a tile of the LM head's product gives its own best, and one
small kernel takes the best of those: what is written is a number and a place a tile.

Noise is ``-log(-log(1 - u))`` of a uniform number u that stands for a token's number
and a row's: the same seed draws the same tokens, whatever the tiles.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls
# (a kernel's parameters are pointers and numbers of the device)

from __future__ import annotations

from .host_triton import (
    FLOATS,
    Array,
    cdiv,
    empty,
    in_one_piece,
    interpreted,
    jit,
    launch,
    look,
    next_power_of_2,
    tile_side,
    tl,
)
from .parts_triton import product

MOST_ROWS = 64  # of a tile


@jit
def gumbel(seed, number):
    """Gumbel noise of a number: ``-log(E)`` with E = -log(1 - u), exponential.

    Large noise comes of small E, which is u (1 + u / 2 + u**2 / 3) where 1 - u would
    round u away. A step of u is 2**-31, and its middle counts: by its start, tokens of
    e**-20 came a tenth too often.
    """
    u = tl.rand(seed, number) + 2.3283064e-10
    series = u * (1.0 + u * (0.5 + u * 0.33333334))
    exponential = tl.where(u < 0.01, series, -tl.log(tl.maximum(1.0 - u, 2.9802322e-8)))
    return -tl.log(exponential)


@jit
def tiles_kernel(
    hidden,
    weights,
    best,
    place,
    rows,
    tokens,
    width,
    of_logits,
    of_noise,
    seed,
    BLOCK_B: tl.constexpr,
    BLOCK_V: tl.constexpr,
    BLOCK_K: tl.constexpr,
    NOISE: tl.constexpr,
    WIDE: tl.constexpr,
):
    """The best of a tile of the vocabulary, for a tile of rows.

    Tiles of rows follow one another, so that those that read the same part of the LM
    head run together.
    """
    row = tl.program_id(0) * BLOCK_B + tl.arange(0, BLOCK_B)
    token = tl.program_id(1) * BLOCK_V + tl.arange(0, BLOCK_V)
    # -- logits of the tile ------------------------------------------------------------
    logits = tl.zeros([BLOCK_B, BLOCK_V], dtype=tl.float32)
    for start in range(0, width, BLOCK_K):
        deep = start + tl.arange(0, BLOCK_K)
        inside = (row[:, None] < rows) & (deep[None, :] < width)
        h_at = hidden + row.to(tl.int64)[:, None] * width + deep[None, :]
        h_tile = tl.load(h_at, mask=inside, other=0.0)
        there = (token[None, :] < tokens) & (deep[:, None] < width)
        w_at = weights + token.to(tl.int64)[None, :] * width + deep[:, None]
        w_tile = tl.load(w_at, mask=there, other=0.0)
        logits = product(h_tile, w_tile, logits, WIDE)
    # -- noise, and the best -----------------------------------------------------------
    scores = logits * of_logits
    if NOISE:
        scores += of_noise * gumbel(seed, row[:, None] * tokens + token[None, :])
    # NaN would win against all, and lanes past the row against NaN.
    there = (token[None, :] < tokens) & (scores == scores)
    scores = tl.where(there, scores, float("-inf"))
    top = tl.max(scores, axis=1)
    at = tl.argmax(scores, axis=1) + tl.program_id(1) * BLOCK_V
    tile = row.to(tl.int64) * tl.num_programs(1) + tl.program_id(1)
    tl.store(best + tile, top, mask=row < rows)
    tl.store(place + tile, at, mask=row < rows)


@jit
def best_kernel(best, place, out, tiles, BLOCK_T: tl.constexpr):
    """The best of a row's tiles."""
    row = tl.program_id(0).to(tl.int64)
    tile = tl.arange(0, BLOCK_T)
    inside = tile < tiles
    top = tl.load(best + row * tiles + tile, mask=inside, other=float("-inf"))
    winner = tl.argmax(top, axis=0)
    tl.store(out + row, tl.load(place + row * tiles + winner))


def flash_sampling(
    hidden: Array,
    weights: Array,
    temperature: float,
    seed: int,
    *,
    blocks: tuple[int, int, int] | None = None,
) -> Array:
    """A token a row, drawn from softmax(hidden @ weights.T / temperature).

    - ``hidden``: array (rows, width).
    - ``weights``: array (tokens, width); the LM head.
    - ``temperature``: float; from 0, which takes the largest logit.
    - ``seed``: int; from 0 to 2**31 - 1.
    - ``blocks``: tuple of int, optional; sides of a tile along rows, tokens and width;
      powers of two from 16. By default a tile holds all rows, up to 64 of them, so
      that the LM head is read once for each 64.
    - gives array (rows,), int32.
    - raises ``ValueError, TypeError`` for shapes and formats that do not fit, a
      temperature below 0, or more than 2**31 logits, whose numbers would repeat.
    """
    rules = {"hidden": (hidden, ("rows", "width"))}
    rules |= {"weights": (weights, ("tokens", "width"))}
    sizes = look(rules, FLOATS)
    rows, tokens, width = (sizes[n] for n in ("rows", "tokens", "width"))
    if not 0 <= temperature < float("inf"):
        raise ValueError(f"temperature = {temperature!r}: a finite number from 0")
    if not 0 <= seed < 2**31 or int(seed) != seed:
        raise ValueError(f"seed = {seed!r}: a whole number from 0, below 2**31")
    if rows * tokens >= 2**31:
        raise ValueError(f"{rows} rows of {tokens:,} tokens: noise has 2**31 numbers")
    default = (min(MOST_ROWS, max(16, next_power_of_2(rows))), 128, 64)
    b, v, k = (tile_side("blocks", side, 16) for side in blocks or default)
    hidden, weights = in_one_piece(hidden), in_one_piece(weights)
    tiles = cdiv(tokens, v)
    best = empty(hidden, (rows, tiles), "float32")
    place = empty(hidden, (rows, tiles), "int32")
    out = empty(hidden, (rows,), "int32")
    meta = {"BLOCK_B": b, "BLOCK_V": v, "BLOCK_K": k, "NOISE": temperature > 0}
    # Both by a factor of at most one: logits over a small temperature leave float32.
    factors = min(1.0, 1.0 / (temperature or 1.0)), min(1.0, float(temperature))
    args = (hidden, weights, best, place, rows, tokens, width, *factors, int(seed))
    launch(tiles_kernel, (cdiv(rows, b), tiles), *args, **meta, WIDE=interpreted())
    side = next_power_of_2(tiles)
    launch(best_kernel, (rows,), best, place, out, tiles, BLOCK_T=side)
    return out

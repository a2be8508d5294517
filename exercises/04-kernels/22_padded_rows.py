"""Rows for nobody.

level: derive

A layer has `experts` experts, and each of `tokens` tokens goes to `top_k` different
ones. Suppose that an expert's tokens are multiplied in tiles of `tile` rows, an even
number of them, and that the last tile of an expert is computed whole: rows that no
token asked for are padding. An expert without a token has no tile.

- `padding(counts, tile)`: how many rows of padding there are, for a list of the tokens
  of each expert.
- `spread(tokens, top_k, experts, tile)`: derive the share of padding, over the rows
  that are asked for, in the mean. Suppose that each count is so far from the others
  that what it has over whole tiles is any number from 0 to `tile - 1`, each as likely;
  take half of `tile` for the exact mean of the padding.
- `of_computed(share)`: the same share over the rows that are computed, padding
  included.
- `fewest(share, top_k, experts, tile)`: the fewest tokens for which `spread` is not
  above a share.

Use any of them for the others.

hint: How many rows does one expert pad in the mean? Does that number grow with the
batch? For two rows of 4 asked for and 2 padded, what are the two shares?
"""

import math
import random

from stacklib.grading import expect
from stacklib.kernels.experts.rounding import pad_waste

# ---- your answer ----


def padding(counts, tile):
    """Rows of padding for these counts."""
    return sum(-count % tile for count in counts)


def spread(tokens, top_k, experts, tile):
    """Padding over the rows asked for, in the mean."""
    return experts * (tile / 2) / (tokens * top_k)


def of_computed(share):
    """The same over the rows computed."""
    return share / (1 + share)


def fewest(share, top_k, experts, tile):
    """The fewest tokens whose padding is not above a share."""
    return math.ceil(experts * tile / 2 / (share * top_k))


# ---- tests ----

RNG = random.Random(64)
COUNTS = [
    {"counts": [1, 2, 3], "tile": 4},
    {"counts": [128, 256, 0, 129], "tile": 128},
    {"counts": [0, 0, 64], "tile": 64},
    *(
        {"counts": [RNG.randrange(700) for _ in range(16)], "tile": tile}
        for tile in (16, 64, 128, 256)
    ),
]
BATCHES = [
    {"tokens": t, "top_k": k, "experts": e, "tile": m}
    for t, k, e, m in (
        (4096, 8, 256, 128),
        (16_384, 8, 256, 128),
        (16_384, 2, 8, 128),
        (65_536, 8, 512, 64),
        (5000, 4, 64, 256),
    )
]


def counted(counts, tile):
    """By tiles: rows of all of them, less those asked for."""
    tiles = sum(math.ceil(count / tile) for count in counts)
    return tiles * tile - sum(counts)


def test_padding():
    expect.function_matches(
        padding,
        counted,
        COUNTS,
        rel=1e-9,
        mistakes={
            "That is what lies in the last tiles. Padding is what they lack.": (
                lambda counts, tile: sum(count % tile for count in counts)
            ),
            "A count of whole tiles pads nothing.": (
                lambda counts, tile: sum(tile - count % tile for count in counts)
            ),
            "An expert without a token has no tile, and a full tile no padding.": (
                lambda counts, tile: sum((tile - n % tile) for n in counts if n)
            ),
            "Those are all rows of the tiles; take away the ones asked for.": (
                lambda counts, tile: sum(math.ceil(n / tile) * tile for n in counts)
            ),
            "Each expert fills its own tiles; the sum of tokens says nothing.": (
                lambda counts, tile: -sum(counts) % tile
            ),
        },
    )


def test_spread():
    expect.function_matches(
        spread,
        lambda tokens, top_k, experts, tile: pad_waste(tokens, top_k, experts, tile),
        BATCHES,
        rel=1e-6,
        mistakes={
            "A whole tile an expert is the worst case. What is it in the mean?": (
                lambda tokens, top_k, experts, tile: experts * tile / (tokens * top_k)
            ),
            "A token asks for a row in each of its experts.": (
                lambda tokens, top_k, experts, tile: experts * tile / 2 / tokens
            ),
            "That is over the rows computed; the share over those asked for comes "
            "first.": lambda tokens, top_k, experts, tile: (
                1 / (1 + 2 * tokens * top_k / (experts * tile))
            ),
            "Those are rows; a share of the rows asked for is wanted.": (
                lambda tokens, top_k, experts, tile: experts * tile / 2
            ),
            "Not the tokens of an expert in the mean, but what all experts pad.": (
                lambda tokens, top_k, experts, tile: tile / 2 / (tokens * top_k)
            ),
        },
    )
    for tokens in (4096, 16_384):
        mine = expect.read(spread(tokens, 8, 256, 128))
        expect.reading(f"padding of {tokens} tokens, 8 of 256 experts", f"{mine:.3f}")


def test_of_computed():
    expect.function_matches(
        of_computed,
        lambda share: 1 - 1 / (1 + share),
        [{"share": s} for s in (0.0, 0.125, 0.5, 0.9, 3.0)],
        rel=1e-9,
        mistakes={
            "The rows computed are more than those asked for, so the share falls.": (
                lambda share: share / (1 - share)
            ),
            "That is the share of rows that were asked for.": (
                lambda share: 1 / (1 + share)
            ),
            "The two shares are over different totals.": lambda share: share,
        },
    )


def test_fewest():
    cases = [
        {"share": s, "top_k": k, "experts": e, "tile": m}
        for s, k, e, m in (
            (0.125, 8, 256, 128),
            (0.1, 8, 256, 128),
            (0.05, 2, 8, 128),
            (0.3, 6, 160, 64),
        )
    ]
    for case in cases:
        mine = expect.whole(expect.call(fewest, case))
        sizes = {name: case[name] for name in ("top_k", "experts", "tile")}
        at = pad_waste(mine, **sizes) if mine > 0 else math.inf
        if math.isclose(at, 2 * case["share"], rel_tol=0.01):
            raise expect.Mistake("half a tile an expert, not a whole one or a quarter")
        if at > case["share"] * (1 + 1e-12):
            raise expect.Mistake(
                f"{mine} tokens pad {at:.4f}, which is above {case['share']}"
            )
        if mine > 1 and pad_waste(mine - 1, **sizes) <= case["share"]:
            raise expect.Mistake(f"{mine} tokens are enough, but not the fewest")

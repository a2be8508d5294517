"""Tile waste, live: tokens, experts, top-k, rows of a tile, and a skewed router."""

from __future__ import annotations

import math
import random
from typing import Any

from stacklib.kernels.experts.rounding import pad_waste
from stacklib.plots.live import choices
from stacklib.plots.live.parts import counted, here
from stacklib.plots.marks import Spec, axis, chart, line
from stacklib.plots.spec import readout

TOKENS = tuple(round(2 ** (7 + n / 3)) for n in range(31))  # 128 to 131,072
FEW = 16  # mean tokens below which a count is drawn one by one


def controls() -> list[dict[str, Any]]:
    """Controls of ``explore``."""
    return [
        choices.slider("tokens", "Tokens of the batch", TOKENS, 4096),
        choices.slider("experts", "Experts", (8, 16, 32, 64, 128, 256, 512), 256),
        choices.slider("top_k", "Experts of a token", (1, 2, 4, 6, 8), 8),
        choices.slider("tile", "Rows of a tile", (8, 16, 32, 64, 128, 256), 128),
        choices.slider("skew", "Skew of the router", (0, 0.25, 0.5, 1, 1.5), 0),
    ]


def count(draw: random.Random, tokens: int, share: float) -> int:
    """Tokens that take an expert, each with this chance: close to binomial."""
    mean = tokens * share
    if mean >= FEW:
        spread = math.sqrt(mean * (1 - share))
        return min(tokens, max(0, round(draw.gauss(mean, spread))))
    found, left = 0, draw.random()
    while found < tokens and left > math.exp(-mean):
        found, left = found + 1, left * draw.random()
    return found


def counts(tokens: int, experts: int, top_k: int, skew: float) -> list[int]:
    """Tokens of each expert; popularity has this spread of its logarithm."""
    draw = random.Random(experts)
    liked = [math.exp(skew * draw.gauss(0, 1)) for _ in range(experts)]
    total = sum(liked)
    return [count(draw, tokens, min(1.0, top_k * x / total)) for x in liked]


def padding(drawn: list[int], tile: int) -> float:
    """Share of the rows computed that is padding."""
    pad = sum(-n % tile for n in drawn)
    return pad / (sum(drawn) + pad)


def explore(*, tokens: int, experts: int, top_k: int, tile: int, skew: float) -> Spec:
    """Share of padding against the tokens of a batch."""
    top_k = min(top_k, experts)
    mine = counts(tokens, experts, top_k, skew)
    waste = [pad_waste(t, top_k, experts, tile) for t in TOKENS]
    found = [100 * padding(counts(t, experts, top_k, skew), tile) for t in TOKENS]
    share, tiles = padding(mine, tile), sum(-(-n // tile) for n in mine)
    said = {
        "mean": ("Tokens per expert, mean", sum(mine) / experts),
        "most": ("Of the busiest expert", max(mine)),
        "idle": ("Experts without a token", mine.count(0)),
        "tiles": ("Tiles computed", tiles),
    }
    return chart(
        f"{100 * share:.0f} % of the rows computed are padding.",
        x=axis("Tokens of the batch", log=True, limits=[110, 150_000]),
        y=axis("Padding in the rows computed (%)", limits=[0, 105]),
        marks=[
            line(
                TOKENS, [100 * w / (1 + w) for w in waste], "half a tile", "predicted"
            ),
            line(TOKENS, found, "drawn", "simulated"),
            here(tokens, 100 * share, "your batch"),
        ],
        readouts=[
            *(
                readout(key, label, counted(value, label))
                for key, (label, value) in said.items()
            ),
            readout("share", "Padding", counted(share, "padding"), "share", unit="%"),
        ],
    )

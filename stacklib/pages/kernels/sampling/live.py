"""Draws in tiles, live: how often each token comes, beside the softmax."""

from __future__ import annotations

import math
import random
from typing import Any

from stacklib.plots.live import choices
from stacklib.plots.live.parts import counted
from stacklib.plots.marks import Spec, axis, chart, places
from stacklib.plots.spec import readout

VOCAB = 16
NOISES = {"token": "each token its own", "tile": "every tile the same"}
Pair = tuple[float, int]  # a score and its token


def controls() -> list[dict[str, Any]]:
    """Temperature, tile, draws, seed, and whose noise it is."""
    return [
        choices.slider("temperature", "Temperature", (0.25, 0.5, 0.8, 1, 1.5, 3), 1),
        choices.slider("tile", "Tokens of a tile", (1, 2, 3, 4, 5, 8, 16), 4),
        choices.slider("draws", "Draws", (100, 300, 1000, 3000), 1000),
        choices.slider("seed", "Seed", range(1, 11), 1),
        choices.select("noise", "Noise", [[k, v] for k, v in NOISES.items()], "token"),
    ]


def logits() -> list[float]:
    """A row with a few likely tokens and a long tail."""
    return [2.5 - 0.9 * math.log(1 + token) for token in range(VOCAB)]


def softmax(temperature: float) -> list[float]:
    """Shares of the tokens."""
    powers = [math.exp(z / temperature) for z in logits()]
    return [power / sum(powers) for power in powers]


def gumbel(uniform: float) -> float:
    """Noise of a uniform number."""
    return -math.log(-math.log(uniform))


def winner(scores: list[float], noise: list[float], tile: int, shared: bool) -> Pair:
    """The largest of the tiles' largest; tiles may count their noise from zero."""
    best = -math.inf, 0
    for first in range(0, len(scores), tile):
        for token in range(first, min(first + tile, len(scores))):
            own = noise[token - first if shared else token]
            best = max(best, (scores[token] + own, token))
    return best


def drawn(
    temperature: float, tile: int, draws: int, seed: int, shared: bool
) -> list[int]:
    """How often each token is drawn."""
    source, hits = random.Random(seed), [0] * VOCAB
    scores = [z / temperature for z in logits()]
    for _ in range(draws):
        noise = [gumbel(source.random() or 0.5) for _ in scores]
        hits[winner(scores, noise, tile, shared)[1]] += 1
    return hits


def chance(hits: list[int], shares: list[float]) -> float:
    """That a chi-square as large comes by chance (Wilson and Hilferty, 1931)."""
    draws = sum(hits)
    pairs = zip(map(float, hits), shares, strict=True)
    often = [(h, draws * p) for h, p in pairs if draws * p > 5]
    seen, told = (draws - sum(pair[i] for pair in often) for i in (0, 1))
    if told > 1e-9:
        often.append((seen, told))
    chi, free = sum((h - e) ** 2 / e for h, e in often), len(often) - 1
    z = ((chi / free) ** (1 / 3) - 1 + 2 / (9 * free)) / math.sqrt(2 / (9 * free))
    return 0.5 * math.erfc(z / math.sqrt(2))


def explore(
    *, temperature: float, tile: int, draws: int, seed: int, noise: str
) -> Spec:
    """Shares of the draws as bars, those of the softmax as strokes."""
    shares = softmax(temperature)
    hits = drawn(temperature, tile, draws, seed, noise == "tile")
    p, tiles = chance(hits, shares), -(-VOCAB // tile)
    verdict = "as the softmax has it" if p > 0.01 else "not as the softmax has it"
    order = list(range(VOCAB))
    top = 1.15 * max(*shares, *(h / draws for h in hits))
    return chart(
        f"{draws:,} draws in tiles of {tile}: {verdict}.",
        x=axis("Token", limits=[-0.6, VOCAB - 0.4]),
        y=axis("Share", limits=[0, top]),
        marks=[
            places(
                order,
                [h / draws for h in hits],
                "drawn",
                "simulated",
                at="key",
                to=0.0,
                series=1,
            ),
            places(order, shares, "softmax", "predicted", at="key", series=4),
        ],
        readouts=[
            readout("p", "Chance of such a chi-square", counted(p, "p"), digits=2),
            readout("tiles", "Tiles", counted(tiles, "tiles")),
            readout(
                "left", "Left by the tiles", counted(8 * tiles, "pairs", "B"), unit="B"
            ),
        ],
    )

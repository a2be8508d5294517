"""Draws of section 4.10 against the softmax, and cuts in a chain and in one kernel."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np

from stacklib import models
from stacklib.kernels.rows.flash_sampling import draw_in_tiles
from stacklib.kernels.rows.noise import gumbel
from stacklib.kernels.rows.sampling import Sampled, sample_fused, sample_in_passes
from stacklib.kernels.rows.sampling_time import FP32
from stacklib.pages.kernels.sampling import MODEL
from stacklib.quantity import counting
from stacklib.tinylm.sampling import Sampling

ALL_CUTS = Sampling(temperature=0.7, top_k=50, top_p=0.9, min_p=0.05)
SEEDS, DRAWS, CLASSES = 20, 2500, 40
PROMPT, MODEL_DRAWS = "The capital of", 1000


def p_value(counts: Any, p: Any) -> float:
    """That a chi-square as large comes by chance (Wilson and Hilferty, 1931).

    Tokens of which fewer than five are expected are one class.
    """
    expected = counts.sum() * p
    rare = expected < 5
    seen, told = counts[~rare], expected[~rare]
    if rare.any():
        seen = np.append(seen, counts[rare].sum())
        told = np.append(told, expected[rare].sum())
    chi, free = ((seen - told) ** 2 / told).sum(), len(told) - 1
    z = ((chi / free) ** (1 / 3) - 1 + 2 / (9 * free)) / math.sqrt(2 / (9 * free))
    return 0.5 * math.erfc(z / math.sqrt(2))


def softmax(scores: Any) -> Any:
    """Of a row."""
    p = np.exp(scores - scores.max())
    return p / p.sum()


@cache
def p_values() -> tuple[float, ...]:
    """Of draws in tiles by twenty seeds of the noise."""
    random = np.random.default_rng(7)
    weights, one = random.standard_normal((CLASSES, 8)), random.standard_normal(8)
    p, many = softmax(weights @ one / 0.8), np.repeat(one[None], DRAWS, 0)
    found = []
    for seed in range(SEEDS):
        tokens = draw_in_tiles(many, weights, 0.8, seed, tile=7).tokens
        found.append(p_value(np.bincount(tokens, minlength=CLASSES), p))
    return tuple(found)


def least_p() -> float:
    """The least of them."""
    return min(p_values())


@cache
def shared_noise_p(tile: int = 10) -> float:
    """The same with one noise for all tiles: a fault, planted."""
    scores = np.random.default_rng(7).standard_normal(CLASSES)
    local: Any = np.arange(CLASSES) % tile
    rows: Any = np.arange(DRAWS)[:, None]
    tokens = (scores + gumbel(0, local, rows)).argmax(-1)
    return p_value(np.bincount(tokens, minlength=CLASSES), softmax(scores))


@cache
def model_draws() -> tuple[Any, Any, Any]:
    """Draws of the book's own model after a prompt: counts, shares, the tokenizer."""
    from stacklib.tinylm import load

    model = load()
    ids = [model.tokenizer.end, *model.tokenizer.encode(PROMPT)]
    row = np.asarray(model.logits(ids, last_only=True)).reshape(-1).astype(float)
    # The logits as a head of width one: what the tiles see is the model's own row.
    rows = np.ones((MODEL_DRAWS, 1))
    tokens = draw_in_tiles(rows, row[:, None], 1.0, 11, tile=512).tokens
    return np.bincount(tokens, minlength=len(row)), softmax(row), model.tokenizer


def model_p() -> float:
    """That the model's draws are from its softmax."""
    counts, p, _ = model_draws()
    return p_value(counts, p)


def model_rows(first: int = 5) -> list[dict[str, Any]]:
    """A row a likely token: its share by softmax, and of the draws."""
    _, p, tokenizer = model_draws()
    return [
        {
            "token": tokenizer.decode([int(at)]).decode("utf-8", "replace").strip(),
            "softmax": of_model("softmax", int(at)),
            "drawn": of_model("drawn", int(at)),
        }
        for at in np.argsort(-p)[:first]
    ]


@counting("{way} of {at}")
def of_model(way: str, at: int) -> float:
    """Share of a token: by ``softmax``, or as ``drawn``."""
    counts, p, _ = model_draws()
    return float(p[at] if way == "softmax" else counts[at] / MODEL_DRAWS)


# -- cuts ------------------------------------------------------------------------------


@cache
def cut(fused: bool) -> Sampled:
    """A token with all four cuts, over a vocabulary as large as the model's."""
    row = np.random.default_rng(0).standard_normal(models.get(MODEL).vocab)
    if fused:
        return sample_fused(row, ALL_CUTS, 0.3, chip_bytes=8 * 227 * 1024)
    return sample_in_passes(row, ALL_CUTS, 0.3)


@counting(lambda what, fused: f"{what} of {'one kernel' if fused else 'a chain'}")
def of_cut(what: str, *, fused: bool) -> float:
    """Crossings of the row, launches, or sweeps of that draw."""
    found = cut(fused)
    if what == "crossings":
        return found.crossed.bytes / (FP32 * models.get(MODEL).vocab)
    return found.crossed.launches if what == "launches" else found.sweeps


def same_token() -> bool:
    """Whether both draw one token."""
    return cut(True).token == cut(False).token

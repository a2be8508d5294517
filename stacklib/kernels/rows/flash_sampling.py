"""FlashSampling: a token is drawn while the logits are made, and none is written.

The largest of (logit / temperature + Gumbel noise) is a draw from the softmax (the
Gumbel-max trick), and the largest of all is the largest of each tile's largest. So the
product with the LM head goes by tiles of the vocabulary, every tile adds noise of its
own and leaves one number and one index a row, and a second, small kernel takes the
largest of those (T. Ruiz et al., *FlashSampling*, arXiv 2603.15854, 2026). Exact up to
rounding, and the same draw for every tiling, since noise goes by the token's number.

``sample_by_passes`` is the pipeline it replaces: product, softmax, draw. Both record
what crosses to memory; ``sampling_time`` has the closed form.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stacklib.quantity.bounds import whole

from .noise import gumbel, uniform

FP32, INDEX = 4, 4  # bytes
COLDEST = 1e-269  # a temperature; by less, logits of float32 leave float64
TILE = 512  # tokens a tile takes by default


@dataclass
class Crossed:
    """Bytes that kernels move, by what they are, and how many were launched."""

    read: Counter[str] = field(default_factory=Counter)
    written: Counter[str] = field(default_factory=Counter)
    launches: int = 0

    @property
    def bytes(self) -> int:
        """Both ways."""
        return sum(self.read.values()) + sum(self.written.values())


@dataclass(frozen=True, slots=True)
class Drawn:
    """Tokens drawn, (batch,), and what it moved."""

    tokens: NDArray[np.int64]
    crossed: Crossed


def _checked(hidden: Any, weights: Any, temperature: float) -> tuple[Any, Any]:
    hidden, weights = np.asarray(hidden), np.asarray(weights)
    rows = hidden[None] if hidden.ndim == 1 else hidden
    if rows.ndim != 2 or weights.ndim != 2 or rows.shape[1] != weights.shape[1]:
        raise ValueError(
            f"hidden {hidden.shape}, weights {weights.shape}: (batch, width) or "
            "(width,), and (vocab, width)"
        )
    if not rows.size or not len(weights):
        raise ValueError(f"hidden {hidden.shape}, weights {weights.shape}: empty")
    if not (isinstance(temperature, Real) and 0 <= temperature < math.inf):
        raise ValueError(f"temperature = {temperature!r}: 0 or more is needed")
    return rows, weights


def flash_sampling(
    hidden: Any, weights: Any, temperature: float, seed: int, *, tile: int = TILE
) -> Any:
    """Draw a token a row from softmax(hidden @ weights.T / temperature).

    Parameters
    ----------
    hidden : array (batch, width) or (width,)
        The last layer's output.
    weights : array (vocab, width)
        The LM head.
    temperature : float
        0 takes the largest logit.
    seed : int
        Of the noise; the same seed gives the same draw for every ``tile``.
    tile : int
        Tokens of the vocabulary that a tile takes.

    Returns
    -------
    array (batch,) of int, or int
        One token a row; ``draw_in_tiles`` says what crossed to memory besides.

    Raises
    ------
    ValueError
        For shapes that do not fit, NaN, a temperature below zero, an empty tile.

    Examples
    --------
    >>> head = np.eye(3)  # of a vocabulary of three
    >>> flash_sampling(np.array([0.0, 9.0, 0.0]), head, 0.5, seed=1)
    1
    """
    tokens = draw_in_tiles(hidden, weights, temperature, seed, tile=tile).tokens
    return int(tokens[0]) if np.ndim(hidden) == 1 else tokens


def draw_in_tiles(
    hidden: Any, weights: Any, temperature: float, seed: int, *, tile: int = TILE
) -> Drawn:
    """The same with the bytes that crossed to memory, and the launches."""
    rows, weights = _checked(hidden, weights, temperature)
    whole(tile=tile)
    crossed, numbers = Crossed(), np.arange(len(rows))
    best, index = [], []  # what each tile leaves in memory
    crossed.launches += 1
    for first in range(0, len(weights), tile):
        part = weights[first : first + tile]  # (tile, width)
        crossed.read["weights"] += part.nbytes
        if not first:
            crossed.read["hidden"] += rows.nbytes  # later tiles find it in L2
        scores = _scores(rows, part, temperature)  # (batch, tile), on the chip
        if temperature:
            tokens = np.arange(first, first + len(part))
            scores = scores + gumbel(seed, tokens, numbers[:, None])
        at = scores.argmax(-1)
        best.append(scores[numbers, at])
        index.append(first + at)
        crossed.written["winners"] += len(rows) * (FP32 + INDEX)
    crossed.launches += 1
    crossed.read["winners"] += len(best) * len(rows) * (FP32 + INDEX)
    winner = np.argmax(best, axis=0)  # ties go to the earlier tile
    crossed.written["tokens"] += len(rows) * INDEX
    return Drawn(np.array(index)[winner, numbers], crossed)


def _scores(rows: Any, weights: Any, temperature: float) -> NDArray[np.float64]:
    wide = np.result_type(rows, weights, np.float32)  # half's sums and int8's run over
    logits = np.matmul(rows, weights.T, dtype=wide)
    if not (logits < np.inf).all():
        raise ValueError("hidden @ weights.T holds NaN or infinity")
    warm = max(temperature or 1.0, COLDEST)
    scores: NDArray[np.float64] = logits.astype(np.float64) / warm
    return scores


def sample_by_passes(hidden: Any, weights: Any, temperature: float, seed: int) -> Drawn:
    """The three kernels of a plain pipeline: product, softmax, draw.

    Logits and probabilities go to memory and come back: four passes. The softmax holds
    a row on the chip (a cluster's shared memory), so that it reads it once; where it
    does not fit, it is read three times.
    """
    rows, weights = _checked(hidden, weights, temperature)
    crossed, size = Crossed(launches=3), FP32 * len(rows) * len(weights)
    crossed.read["weights"] += weights.nbytes
    crossed.read["hidden"] += rows.nbytes
    scores = _scores(rows, weights, temperature)
    crossed.written["logits"] += size
    crossed.read["logits"] += size
    p = np.exp(scores - scores.max(-1, keepdims=True))
    p /= p.sum(-1, keepdims=True)
    crossed.written["probabilities"] += size
    crossed.read["probabilities"] += size
    if temperature:
        sums = p.cumsum(-1)
        u = uniform(seed, np.zeros(len(p)), np.arange(len(p))) * sums[:, -1]
        tokens = (sums <= u[:, None]).sum(-1)
    else:
        tokens = p.argmax(-1)
    crossed.written["tokens"] += len(rows) * INDEX
    return Drawn(np.minimum(tokens, len(weights) - 1), crossed)

"""From logits to the next token: four ways to cut a distribution, and a draw.

Cuts work on probabilities in this order, as inference engines apply them: the
temperature, the most likely ``top_k``, the fewest whose sum reaches ``top_p``
(Holtzman et al., 2020), those of at least ``min_p`` times the most likely (Nguyen et
al., 2024). What is left is scaled back to one. Temperature 0 is greedy.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stacklib.quantity.bounds import whole


@dataclass(frozen=True, slots=True)
class Sampling:
    """How the next token is chosen.

    Parameters
    ----------
    temperature : float
        Logits are divided by it; 0 takes the most likely token.
    top_k : int
        Tokens kept; 0 keeps all.
    top_p : float
        Probability kept, from the most likely down; 1 keeps all.
    min_p : float
        Least probability kept, as a share of the most likely; 0 keeps all.

    Raises
    ------
    ValueError
        For a value outside its range, naming it.
    """

    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0
    min_p: float = 0.0

    def __post_init__(self) -> None:
        number = isinstance(self.temperature, Real)
        if not (number and 0 <= self.temperature < math.inf):
            raise ValueError(f"temperature = {self.temperature!r}: 0 or more is needed")
        whole(0, top_k=self.top_k)  # 0 is all
        if not 0 < self.top_p <= 1:
            raise ValueError(f"top_p = {self.top_p!r}: above 0, at most 1 is needed")
        if not 0 <= self.min_p <= 1:
            raise ValueError(f"min_p = {self.min_p!r}: from 0 to 1 is needed")


GREEDY = Sampling(temperature=0.0)


def probabilities(logits: ArrayLike, how: Sampling) -> NDArray[np.float64]:
    """The distribution that the next token is drawn from.

    ``logits``: (vocab,) of one position.
    """
    x = np.asarray(logits, dtype=np.float64)
    if x.ndim != 1 or not len(x) or not np.isfinite(x.max()):
        raise ValueError(f"logits of shape {x.shape}: one row, its largest finite")
    if how.temperature == 0:
        certain = np.zeros(len(x))
        certain[np.argmax(x)] = 1.0
        return certain
    with np.errstate(over="ignore"):  # of a tiny temperature: to -inf, whose share is 0
        p = np.exp((x - x.max()) / how.temperature)
    p /= p.sum()
    order = np.argsort(-x, kind="stable")
    if 0 < how.top_k < len(p):
        p[order[how.top_k :]] = 0.0
        p /= p.sum()
    if how.top_p < 1:
        before = np.cumsum(p[order]) - p[order]
        p[order[before >= how.top_p]] = 0.0
        p /= p.sum()
    p[p < how.min_p * p.max()] = 0.0
    return p / p.sum()


def draw(p: NDArray[np.float64], random: np.random.Generator) -> int:
    """One token from a distribution, by inversion of its sums.

    ``p``: (vocab,) sums to one.
    """
    sums = np.cumsum(p)
    # side="right": a number equal to a sum belongs to the next token with a share.
    at = int(np.searchsorted(sums, random.random() * sums[-1], side="right"))
    return min(at, int(np.flatnonzero(p)[-1]))

"""Latent attention computed in NumPy: expanded, as it is defined, and absorbed.

A head's key is its matrix times the latent, so q . (W_k c) = (W_k^T q) . c: the matrix
is applied to the query, once, and every head works on the latent itself. The same for
values: sum_j p_j (W_v c_j) = W_v (sum_j p_j c_j). One row of the cache, 512 + 64
columns, is then key and value of all heads, and is read once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from stacklib.memory.cache.recorded import Recorder
from stacklib.quantity.bounds import whole

Floats: TypeAlias = NDArray[Any]


@dataclass(frozen=True, slots=True)
class LatentHeads:
    """One new token's queries, the cache, and the matrices up from the latent.

    - raises ``ValueError`` for shapes that do not go together.
    """

    q: Floats  # (heads, nope): the part of a query without place
    q_rope: Floats  # (heads, rope): the part that carries it
    cache: Floats  # (keys, latent + rope)
    w_k: Floats  # (heads, nope, latent): from the latent to a head's key
    w_v: Floats  # (heads, v, latent): and to its value

    def __post_init__(self) -> None:
        heads, nope, latent = self.w_k.shape
        right = (
            len(self.cache)
            and self.q.shape == (heads, nope)
            and self.q_rope.shape[0] == heads == self.w_v.shape[0]
            and self.w_v.shape[2] == latent
            and self.cache.shape[1] == latent + self.q_rope.shape[1]
        )
        if not right:
            shapes = {name: getattr(self, name).shape for name in self.__slots__}
            raise ValueError(f"shapes {shapes}: sizes must agree, and none be 0")

    @property
    def scale(self) -> float:
        """1 / sqrt of the size of a whole query: the latent's size plays no part."""
        return float(self.q.shape[1] + self.q_rope.shape[1]) ** -0.5


def expanded(given: LatentHeads) -> Floats:
    """As defined: keys and values of every head and token are formed, (heads, v)."""
    latent = given.w_k.shape[2]
    c, place = given.cache[:, :latent], given.cache[:, latent:]
    keys = np.einsum("hnl,kl->hkn", given.w_k, c)
    values = np.einsum("hvl,kl->hkv", given.w_v, c)
    scores = np.einsum("hn,hkn->hk", given.q, keys) + given.q_rope @ place.T
    weights = np.exp(given.scale * (scores - scores.max(axis=1, keepdims=True)))
    weights /= weights.sum(axis=1, keepdims=True)
    found: Floats = np.einsum("hk,hkv->hv", weights, values)
    return found


def absorbed(given: LatentHeads, tile: int = 64) -> tuple[Floats, int]:
    """In tiles over the cache, for all heads at once.

    - gives ``out``, array, (heads, v).
    - gives ``read``, int: bytes of the cache that were loaded.
    """
    whole(tile=tile)
    latent = given.w_k.shape[2]
    asked = np.einsum("hn,hnl->hl", given.q, given.w_k)  # (heads, latent)
    asked = given.scale * np.hstack([asked, given.q_rope])  # (heads, latent + rope)
    recorder = Recorder({"cache": given.cache}, given.cache.itemsize)
    view, heads = recorder.views["cache"], len(asked)
    most, total = np.full((heads, 1), -np.inf), np.zeros((heads, 1))
    sums = np.zeros((heads, latent))
    for left in range(0, len(view), tile):
        rows = recorder.load(view[left : left + tile])  # keys, and values in them
        scores = asked @ rows.T  # (heads, tile)
        highest = np.maximum(most, scores.max(axis=1, keepdims=True))
        weights, shrink = np.exp(scores - highest), np.exp(most - highest)
        total = total * shrink + weights.sum(axis=1, keepdims=True)
        sums = sums * shrink + weights @ rows[:, :latent]
        most = highest
    out = np.einsum("hl,hvl->hv", sums / total, given.w_v)
    return out, len(recorder.trace().addresses) * recorder.line

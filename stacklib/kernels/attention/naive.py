"""Attention with the whole score matrix, in float64: what every kernel is held to.

softmax(scale q k^T) v. The matrix of queries by keys is written, turned into weights
and read again; nothing is left out and nothing is clever.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .mask import Mask, checked


def seen_pairs(mask: Mask) -> NDArray[np.bool_]:
    """The mask as a matrix (queries, keys), true where a pair counts."""
    place: NDArray[Any] = np.arange(mask.queries)[:, None] + mask.behind
    key = np.arange(mask.keys)
    seen: NDArray[Any] = np.ones((mask.queries, mask.keys), np.bool_)
    if mask.causal:
        seen &= key <= place
    if mask.window is not None:
        seen &= abs(place - key) < mask.window
    return seen


def naive_attention(
    q: Any,
    k: Any,
    v: Any,
    *,
    causal: bool = False,
    window: int | None = None,
    scale: float | None = None,
    dtype: Any = np.float64,
    return_lse: bool = False,
) -> Any:
    """Attention as its formula says, softmax(scale q k^T) v: the reference.

    Parameters
    ----------
    q : array, (batch, heads, queries, head_dim)
    k : array, (batch, kv_heads, keys, head_dim)
        Of kv_heads that divide heads: query head h reads head h // (heads // kv_heads).
    v : array, (batch, kv_heads, keys, value_dim)
    causal : bool
        Whether a query sees only keys that are not after it; the last query stands at
        the last key.
    window : int, optional
        How far a query sees: keys less than so many places away.
    scale : float, optional
        Of the scores; 1 / sqrt(head_dim) if left out.
    dtype
        In which everything is computed: float32 gives the error that kernels of that
        precision may have twice of.
    return_lse : bool
        Whether the log sum exp of each row's scores is given beside the result.

    Returns
    -------
    array, (batch, heads, queries, value_dim)
        In ``dtype``. Zeros in a row that sees no key; NaN in a row whose scores are.
        With ``return_lse``, and (batch, heads, queries): -inf where a row sees no key.

    Raises
    ------
    ValueError, TypeError
        For shapes and types that do not go together; they are named.

    References
    ----------
    A. Vaswani and others, "Attention Is All You Need", 2017, equation 1.
    """
    call = checked(q, k, v, causal, window, scale)
    q, k, v = (np.asarray(x, dtype) for x in (q, k, v))
    k, v = (np.repeat(x, call.group, axis=1) for x in (k, v))
    scores = call.scale * (q @ k.swapaxes(-1, -2))  # (B, H, queries, keys)
    scores[..., ~seen_pairs(call.mask)] = -np.inf
    highest = scores.max(axis=-1, keepdims=True)
    highest[highest == -np.inf] = 0  # a row that sees nothing
    with np.errstate(invalid="ignore"):
        weights = np.exp(scores - highest)
    total = weights.sum(axis=-1, keepdims=True)
    total[total == 0] = 1
    found: NDArray[Any] = (weights / total) @ v
    if not return_lse:
        return found
    empty = (weights == 0).all(axis=-1)
    return found, np.where(empty, -np.inf, (highest + np.log(total))[..., 0])

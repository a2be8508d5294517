"""Decode in pieces of the keys, a merge of the pieces, and keys that lie in pages.

One query leaves most of a chip idle: the keys are split, each piece gives its result
and the log of the sum of its weights, and these are enough to put the pieces together:
out = sum_i exp(lse_i - lse) out_i with lse = log sum_i exp(lse_i). Nothing is lost but
rounding, and the order of the pieces does not matter (Flash-Decoding; T. Dao and
others, 2023).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from stacklib.quantity.bounds import whole

from .flash_numpy import forward
from .mask import checked

Floats: TypeAlias = NDArray[Any]


def merge(parts: Sequence[tuple[Floats, Floats]]) -> tuple[Floats, Floats]:
    """Results of pieces of the keys, put together.

    - ``parts``: sequence of (out, lse); of each piece: its result (..., head_dim),
      normalised by its own sum, and the log of that sum (...); -inf for a piece of
      which a row sees nothing.
    - gives ``out, lse``, array: as of all keys together; so pieces may be merged in any
      grouping.
    - raises ``ValueError`` for no parts at all.
    """
    if not parts:
        raise ValueError("parts is empty: at least one piece of the keys is needed")
    sums = np.stack([lse for _, lse in parts])  # (pieces, ...)
    highest = sums.max(axis=0)
    base = np.where(highest == -np.inf, 0, highest)
    shares = np.exp(sums - base)
    total = shares.sum(axis=0)
    seen = np.where(total == 0, 1, total)
    out = sum(
        share[..., None] * part
        for share, (part, _) in zip(shares / seen, parts, strict=True)
    )
    with np.errstate(divide="ignore"):
        return out, base + np.log(total)


def split_decode(
    q: Floats, k: Floats, v: Floats, *, splits: int, scale: float | None = None
) -> tuple[Floats, Floats]:
    """Decode attention in ``splits`` pieces of the keys.

    - ``q``: array, (batch, heads, queries, head_dim); queries that see every key.
    - ``k``, ``v``: array, (batch, kv_heads, keys, head_dim).
    - ``splits``: int; pieces of nearly equal length; at most one a key.
    - ``scale``: float, optional; of the scores.
    - gives ``out, lse``, array: (batch, heads, queries, head_dim) and (batch, heads,
      queries).
    - raises ``ValueError, TypeError`` for ``splits`` that make no sense, and as
      `flash.flash_attention`.
    """
    whole(splits=splits)
    keys = k.shape[2]
    if splits > keys:
        raise ValueError(f"splits = {splits} of {keys} keys: at most one piece a key")
    edges = [keys * piece // splits for piece in range(splits + 1)]
    parts = []
    for left, right in pairwise(edges):
        own = k[:, :, left:right], v[:, :, left:right]
        parts.append(forward(q, *own, checked(q, *own, False, None, scale)))
    return merge(parts)


def paged_decode(
    q: Floats,
    k_pages: Floats,
    v_pages: Floats,
    table: NDArray[np.integer],
    lengths: Sequence[int],
    *,
    scale: float | None = None,
) -> Floats:
    """Decode attention over keys and values that lie in pages, sequence by sequence.

    - ``q``: array, (batch, heads, queries, head_dim); the last queries of each
      sequence, causal among themselves.
    - ``k_pages``, ``v_pages``: array, (pages, kv_heads, page, head_dim); the pool:
      ``page`` tokens a page, of any sequence.
    - ``table``: array of int, (batch, most); the pages of each sequence, in order; what
      lies past its length is not read.
    - ``lengths``: sequence of int, (batch,); tokens of each sequence.
    - ``scale``: float, optional; of the scores.
    - gives array, (batch, heads, queries, head_dim).
    - raises ``ValueError`` for a table without a row for each sequence, a length that
      its row cannot hold or a page that the pool lacks.
    - source: W. Kwon and others, "Efficient Memory Management for Large Language Model
      Serving with PagedAttention", 2023, section 4.1.
    """
    out = np.empty(q.shape, q.dtype)
    if not len(q) == len(table) == len(lengths):
        raise ValueError(
            f"q {q.shape}, table {table.shape}, {len(lengths)} lengths: one row of the "
            "table and one length for each sequence"
        )
    for one, length in enumerate(lengths):
        k, v = (gather(x, table[one], length) for x in (k_pages, v_pages))
        here = q[one : one + 1]
        call = checked(here, k[None], v[None], True, None, scale)
        out[one] = forward(here, k[None], v[None], call)[0][0]
    return out


def gather(pages: Floats, row: NDArray[np.integer], length: int) -> Floats:
    """The tokens of one sequence in order, (kv_heads, length, head_dim)."""
    whole(length=length)
    pool, heads, page, wide = pages.shape
    need = -(-length // page)
    if need > len(row):
        raise ValueError(
            f"{length} tokens need {need} pages of {page}: the table's row has "
            f"{len(row)}"
        )
    used = row[:need]
    if used.min() < 0 or used.max() >= pool:
        raise ValueError(f"pages {used.tolist()}: the pool has pages 0 to {pool - 1}")
    # (need, heads, page, d) -> (heads, need * page, d)
    tokens = pages[used].swapaxes(0, 1).reshape(heads, need * page, wide)
    return tokens[:, :length]

"""Decode in pieces of the keys, a merge of the pieces, and keys that lie in pages.

One query leaves most of a chip idle: the keys are split, each piece gives its result
and the log of the sum of its weights, and these are enough to put the pieces together:
out = sum_i exp(lse_i - lse) out_i with lse = log sum_i exp(lse_i). Nothing is lost but
rounding, and the order of the pieces does not matter (Flash-Decoding; T. Dao and
others, 2023).

Sequences of a batch differ in length, so what is cut is not each of them but the row of
all their tiles: every share has the same work, however long or short they are
("stream-K"; M. Osama and others, 2023).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from stacklib.quantity.bounds import whole

from .flash_numpy import attend
from .mask import checked

Floats: TypeAlias = NDArray[Any]


def merge(parts: Sequence[tuple[Floats, Floats]]) -> tuple[Floats, Floats]:
    """Results of pieces of the keys, put together.

    - ``parts``: sequence of (out, lse); of each piece: its result (..., head_dim),
      normalised by its own sum, and the log of that sum (...); -inf for a piece of
      which a row sees nothing.
    - gives ``out, lse``, array: as of all keys together; so pieces may be merged in any
      grouping.
    - raises ``ValueError`` for no parts at all, or an lse of inf.
    """
    if not parts:
        raise ValueError("parts is empty: at least one piece of the keys is needed")
    sums = np.stack([lse for _, lse in parts])  # (pieces, ...)
    highest = sums.max(axis=0)
    if (highest == np.inf).any():
        raise ValueError("lse is inf: a piece of which a row sees nothing has -inf")
    base = np.where(highest == -np.inf, 0, highest)
    shares = np.exp(sums - base)
    total = shares.sum(axis=0)
    seen = np.where(total == 0, 1, total)
    out = sum(  # what stands in a piece that sees nothing counts for nothing
        share[..., None] * np.where(lse[..., None] == -np.inf, 0, part)
        for share, (part, lse) in zip(shares / seen, parts, strict=True)
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
        parts.append(attend(q, *own, checked(q, *own, False, None, scale)))
    return merge(parts)


@dataclass(frozen=True, slots=True)
class Run:
    """Keys of one sequence that a share reads: from ``left``, before ``right``."""

    sequence: int
    left: int
    right: int


def shares(
    lengths: Sequence[int], splits: int, *, tile: int = 64
) -> list[tuple[Run, ...]]:
    """The tiles of all sequences in a row, cut into shares of equal length.

    - ``lengths``: sequence of int; tokens of each sequence, from 0.
    - ``splits``: int; shares; fewer where there are fewer tiles, so that none is idle.
    - ``tile``: int; tokens that are not cut apart.
    - gives list of tuple of Run: what each share reads.

    >>> shares([100, 0, 30], 2, tile=16)[0]
    (Run(sequence=0, left=0, right=64),)
    """
    whole(splits=splits, tile=tile)
    for length in lengths:
        whole(0, length=length)
    # NumPy's would wrap: those without a sign at once, those of 32 bits in a product
    splits, tile, *lengths = map(int, (splits, tile, *lengths))
    ends = list(accumulate(-(-length // tile) for length in lengths))
    total = ends[-1] if ends else 0
    splits = min(splits, total)
    found = []
    for share in range(splits):
        begin, stop = total * share // splits, total * (share + 1) // splits
        runs, start = [], 0
        for one, (length, end) in enumerate(zip(lengths, ends, strict=True)):
            left, right = max(begin, start) - start, min(stop, end) - start
            if left < right:
                runs.append(Run(one, left * tile, min(right * tile, length)))
            start = end
        found.append(tuple(runs))
    return found


def paged_decode(
    q: Floats,
    k_pages: Floats,
    v_pages: Floats,
    table: NDArray[np.integer],
    lengths: Sequence[int],
    *,
    scale: float | None = None,
    splits: int = 1,
) -> Floats:
    """Decode attention over keys and values that lie in pages, share by share.

    - ``q``: array, (batch, heads, queries, head_dim); the last queries of each
      sequence, causal among themselves.
    - ``k_pages``, ``v_pages``: array, (pages, kv_heads, page, head_dim or value_dim);
      the pool: ``page`` tokens a page, of any sequence.
    - ``table``: array of int, (batch, most); the pages of each sequence, in order; what
      lies past its length is not read.
    - ``lengths``: sequence of int, (batch,); tokens of each sequence; one of none gives
      zeros.
    - ``scale``: float, optional; of the scores.
    - ``splits``: int; shares that the keys of all sequences are cut into; see `shares`.
    - gives array, (batch, heads, queries, value_dim).
    - raises ``ValueError`` for a table without a row for each sequence, a length that
      its row cannot hold or a page that the pool lacks.
    - source: W. Kwon and others, "Efficient Memory Management for Large Language Model
      Serving with PagedAttention", 2023, section 4.1.
    """
    if not 0 < len(q) == len(table) == len(lengths):
        raise ValueError(
            f"q {q.shape}, table {table.shape}, {len(lengths)} lengths: one row of the "
            "table and one length for each sequence"
        )
    parts: list[list[tuple[Floats, Floats]]] = [[] for _ in lengths]
    for share in shares(lengths, splits):
        for run in share:
            one = run.sequence
            k, v = (gather(x, table[one], lengths[one]) for x in (k_pages, v_pages))
            parts[one].append(_piece(q[one][None], k, v, run, scale))
    out = np.zeros((*q.shape[:3], v_pages.shape[3]), q.dtype)
    for one, own in enumerate(parts):
        if own:
            out[one] = merge(own)[0][0]
    return out


def _piece(
    q: Floats, k: Floats, v: Floats, run: Run, scale: float | None
) -> tuple[Floats, Floats]:
    """One run of keys: queries that stand behind it see it all, the others a part."""
    keys, queries = k.shape[1], q.shape[2]
    k, v = (x[None, :, run.left : run.right] for x in (k, v))
    among = max(0, queries - (keys - run.right))  # queries that stand within or before
    found = [
        attend(rows, k, v, checked(rows, k, v, causal, None, scale))
        for rows, causal in ((q[:, :, :among], True), (q[:, :, among:], False))
        if rows.shape[2]
    ]
    out, lse = zip(*found, strict=True)
    return np.concatenate(out, axis=2), np.concatenate(lse, axis=2)


def gather(pages: Floats, row: NDArray[np.integer], length: int) -> Floats:
    """The tokens of one sequence in order, (kv_heads, length, head_dim)."""
    whole(length=length)
    pool, heads, page, wide = pages.shape
    need = -(-int(length) // page)
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

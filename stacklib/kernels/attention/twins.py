"""FlashAttention as threads and as tiles, for the machines that count sectors.

Both read a tile of queries once and pass over the keys and values tile by tile; no
request asks for a row beyond the end. One block is a tile of queries of one head. With
rows of whole 32-byte sectors, the sectors that the machine counts, line by line, are
the bytes that the closed form says.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any, no_type_check

import numpy as np
from numpy.typing import NDArray

from stacklib import gpu
from stacklib.gpu import tiles as tl
from stacklib.memory.warp.coalescing import SECTOR

T = Any  # what differs by lane, or is a tile
WIDTH = 4  # bytes of a number on these machines


def threads_attention(
    t: T,
    q: T,
    k: T,
    v: T,
    out: T,
    tokens: int,
    wide: int,
    tile_k: int,
    causal: int,
    scale: float,
) -> None:
    """A query a thread; tiles go through shared memory, so that requests coalesce."""
    tile_q = t.block_dim.x
    query = t.shared(tile_q * wide)
    key, value = t.shared(tile_k * wide), t.shared(tile_k * wide)
    i, top = t.thread.x, t.block.x * tile_q
    rows = t.min(tile_q, tokens - top)
    for at in range(0, rows * wide, tile_q):
        if at + i < rows * wide:
            query[at + i] = q[top * wide + at + i]
    t.sync()
    acc = [0.0] * wide
    most, total = -1e30, 0.0
    end = tokens
    if causal:
        end = top + rows
    for left in range(0, end, tile_k):
        keys = t.min(tile_k, tokens - left)
        for at in range(0, keys * wide, tile_q):
            if at + i < keys * wide:
                key[at + i] = k[left * wide + at + i]
                value[at + i] = v[left * wide + at + i]
        t.sync()
        for j in range(keys):
            if i < rows:
                if causal == 0 or left + j <= top + i:
                    score = 0.0
                    for d in range(wide):
                        score = t.fma(query[i * wide + d], key[j * wide + d], score)
                    score = score * scale
                    more = t.max(most, score)
                    shrunk, weight = t.exp(most - more), t.exp(score - more)
                    total = total * shrunk + weight
                    for d in range(wide):
                        acc[d] = acc[d] * shrunk + weight * value[j * wide + d]
                    most = more
        t.sync()
    if i < rows:
        for d in range(wide):
            query[i * wide + d] = acc[d] / total
    t.sync()
    for at in range(0, rows * wide, tile_q):
        if at + i < rows * wide:
            out[top * wide + at + i] = query[at + i]


@no_type_check  # what is computed with is tiles, whatever the names say
def tiles_attention(
    q: T,
    k: T,
    v: T,
    out: T,
    tokens: int,
    scale: float,
    WIDE: tl.constexpr,
    TILE_Q: tl.constexpr,
    TILE_K: tl.constexpr,
    CAUSAL: tl.constexpr,
) -> None:
    """The same in Triton's names, a program a tile of queries."""
    top = tl.program_id(0) * TILE_Q
    rows = top + tl.arange(0, TILE_Q)
    wide = tl.arange(0, WIDE)
    at = rows[:, None] * WIDE + wide[None, :]
    query = tl.load(q + at, mask=rows[:, None] < tokens, other=0.0)
    most = tl.full([TILE_Q], float("-inf"), dtype=tl.float32)
    total = tl.zeros([TILE_Q], dtype=tl.float32)
    acc = tl.zeros([TILE_Q, WIDE], dtype=tl.float32)
    end = tokens
    if CAUSAL:
        end = tl.minimum(tokens, top + TILE_Q)
    for left in range(0, end, TILE_K):
        columns = left + tl.arange(0, TILE_K)
        inside = columns[:, None] < tokens
        here = columns[:, None] * WIDE + wide[None, :]
        key = tl.load(k + here, mask=inside, other=0.0)
        scores = tl.dot(query, tl.trans(key), input_precision="ieee") * scale
        seen = columns[None, :] < tokens
        if CAUSAL:
            seen = seen & (columns[None, :] <= rows[:, None])
        scores = tl.where(seen, scores, float("-inf"))
        more = tl.maximum(most, tl.max(scores, 1))
        weights = tl.exp(scores - more[:, None])
        shrink = tl.exp(most - more)
        total = total * shrink + tl.sum(weights, 1)
        value = tl.load(v + here, mask=inside, other=0.0)
        acc = acc * shrink[:, None]
        acc = tl.dot(weights, value, acc, input_precision="ieee")
        most = more
    tl.store(out + at, acc / total[:, None], mask=rows[:, None] < tokens)


def by_threads(
    q: NDArray[Any],
    k: NDArray[Any],
    v: NDArray[Any],
    tile_q: int,
    tile_k: int,
    causal: bool,
) -> tuple[NDArray[Any], dict[str, int]]:
    """One head (tokens, head_dim) on the SIMT machine: result, and bytes by array."""
    tokens, wide = q.shape
    flat = [x.astype(np.float32).ravel() for x in (q, k, v)]
    ran = gpu.launch(
        threads_attention,
        -(-tokens // tile_q),
        tile_q,
        "h100-sxm",
        *flat,
        gpu.empty(tokens * wide),
        *(tokens, wide, tile_k, int(causal), wide**-0.5),
    )
    out = ran.results["out"].reshape(tokens, wide)
    return out, moved(threads_attention, ran.report.traffic.line_sectors)


def by_tiles(
    q: NDArray[Any],
    k: NDArray[Any],
    v: NDArray[Any],
    tile_q: int,
    tile_k: int,
    causal: bool,
) -> tuple[NDArray[Any], dict[str, int]]:
    """One head (tokens, head_dim) on the tile machine: result, and bytes by array."""
    tokens, wide = q.shape
    ran = gpu.launch_tiles(
        tiles_attention,
        -(-tokens // tile_q),
        *(x.astype(np.float32) for x in (q, k, v)),
        gpu.empty((tokens, wide)),
        *(tokens, wide**-0.5),
        WIDE=wide,
        TILE_Q=tile_q,
        TILE_K=tile_k,
        CAUSAL=causal,
    )
    return ran.results["out"], moved(tiles_attention, ran.report.traffic.line_sectors)


def moved(
    kernel: Callable[..., Any], line_sectors: dict[int, list[int]]
) -> dict[str, int]:
    """Bytes of the sectors that a kernel's requests touched, by the array they name."""
    text, first = inspect.getsourcelines(kernel)
    found = {}
    for name in ("q", "k", "v", "out"):
        named = re.compile(rf"\b{name}(\[| \+)")  # q[...] or q + ...
        lines = (line for line in line_sectors if named.search(text[line - first]))
        found[name] = SECTOR * sum(line_sectors[line][1] for line in lines)
    return found

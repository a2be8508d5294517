"""One pass of the model over many sequences: each matrix is read and called once.

Pieces of prompts and single tokens stand in one array of rows, (rows, hidden). A
product does not ask whose row it multiplies. Attention does: sequences with equally
many new tokens go through it together, their keys gathered through their tables and
what lies past a sequence's end masked.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from stacklib.tinylm.config import Config
from stacklib.tinylm.forward import (
    Floats,
    Weights,
    check,
    forward,
    rms_norm,
    rotated,
    silu,
    softmax,
    turns,
)

from .pool import PagedCache, Pool


@dataclass(frozen=True, slots=True)
class Segment:
    """New tokens of one sequence, what its blocks hold already, and its table."""

    tokens: Sequence[int]
    past: int  # tokens whose keys and values lie in the blocks
    table: Sequence[int]  # blocks in order; may be longer than needed
    wanted: int = 1  # of its last rows, how many need logits


@dataclass(frozen=True, slots=True)
class _Group:
    """Segments of equally many tokens: where their rows and their blocks are."""

    rows: NDArray[np.intp]  # (segments, tokens)
    table: NDArray[np.intp]  # (segments, 1, blocks), the short ones padded
    hidden: NDArray[np.bool_]  # (segments, 1, 1, tokens, places): not seen by a query


def forward_batch(
    weights: Weights, pool: Pool, segments: Sequence[Segment]
) -> list[Floats]:
    """Logits of each segment's wanted rows, (wanted, vocab) a segment.

    - ``pool``: takes the new tokens' keys and values.
    - raises ``ValueError`` for tokens that the model cannot read, and for a table too
      short for them.
    """
    config = pool.config
    for each in segments:
        _check(each, pool)
    places = np.concatenate([_places(each) for each in segments])
    turn = turns(config)[:, places]
    groups = list(_grouped(segments, pool.block_size))
    blocks, offsets = _slots(segments, pool.block_size)
    ids = np.concatenate([np.asarray(each.tokens) for each in segments])
    x = weights["model.embed_tokens.weight"][ids]
    for layer in range(config.num_hidden_layers):
        at = f"model.layers.{layer}."
        y = rms_norm(x, weights[at + "input_layernorm.weight"], config.rms_norm_eps)
        q, k, v = (_heads(y, weights, f"{at}self_attn.{n}_proj", config) for n in "qkv")
        q, k = rotated(q, turn), rotated(k, turn)
        # A pair of index arrays comes first: (rows, heads, head_dim).
        pool.keys[layer][blocks, :, offsets] = k.swapaxes(0, 1)
        pool.values[layer][blocks, :, offsets] = v.swapaxes(0, 1)
        y = _attention(q, pool, layer, groups)
        x = x + product(y, weights[at + "self_attn.o_proj.weight"])
        y = rms_norm(
            x, weights[at + "post_attention_layernorm.weight"], config.rms_norm_eps
        )
        gate = silu(product(y, weights[at + "mlp.gate_proj.weight"]))
        up = product(y, weights[at + "mlp.up_proj.weight"])
        x = x + product(gate * up, weights[at + "mlp.down_proj.weight"])
    ends = np.cumsum([len(each.tokens) for each in segments])
    wanted = [
        np.arange(end - each.wanted, end)
        for end, each in zip(ends, segments, strict=True)
    ]
    x = rms_norm(
        x[np.concatenate(wanted)], weights["model.norm.weight"], config.rms_norm_eps
    )
    logits = product(x, weights["model.embed_tokens.weight"])
    cuts = np.cumsum([each.wanted for each in segments])[:-1]
    return np.split(logits, cuts)


def product(x: Floats, weight: Floats) -> Floats:
    """x (rows, in) times a weight (out, in), transposed: (rows, out).

    With the large matrix on the left, OpenBLAS takes half the time for a few rows.
    """
    return (weight @ np.ascontiguousarray(x.T)).T


def forward_each(
    weights: Weights, pool: Pool, segments: Sequence[Segment]
) -> list[Floats]:
    """The same, one sequence after the other through ``tinylm.forward``."""
    found = []
    for each in segments:
        _check(each, pool)
        cache_ = PagedCache(pool, each.table, each.past)
        logits = forward(weights, pool.config, each.tokens, cache_)  # type: ignore[arg-type]
        found.append(logits[len(logits) - each.wanted :])
    return found


def _check(segment: Segment, pool: Pool) -> None:
    check(np.asarray(segment.tokens), segment.past, pool.config)
    end = segment.past + len(segment.tokens)
    if end > len(segment.table) * pool.block_size:
        raise ValueError(
            f"{segment.past} + {len(segment.tokens)} tokens: the table has "
            f"{len(segment.table)} blocks of {pool.block_size}"
        )


def _places(segment: Segment) -> NDArray[np.intp]:
    return np.arange(segment.past, segment.past + len(segment.tokens))


def _slots(
    segments: Sequence[Segment], size: int
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Block and place in it of every new row."""
    blocks = [np.asarray(each.table)[_places(each) // size] for each in segments]
    return np.concatenate(blocks), np.concatenate([_places(s) for s in segments]) % size


def _grouped(segments: Sequence[Segment], size: int) -> Iterator[_Group]:
    by_tokens = defaultdict(list)
    row = 0
    for each in segments:
        by_tokens[len(each.tokens)].append((row, each))
        row += len(each.tokens)
    for tokens, members in by_tokens.items():
        ends = np.array([each.past + tokens for _, each in members])
        wide = -(-int(ends.max()) // size)
        table: NDArray[np.intp] = np.zeros((len(members), 1, wide), dtype=np.intp)
        for line, (_, each) in enumerate(members):
            used = each.table[:wide]
            table[line, 0, : len(used)] = used
        first = np.array([row for row, _ in members])
        last_seen = ends[:, None] - tokens + np.arange(tokens)  # (segments, tokens)
        hidden = np.arange(wide * size) > last_seen[:, None, None, :, None]
        yield _Group(first[:, None] + np.arange(tokens), table, hidden)


def _heads(x: Floats, weights: Weights, name: str, config: Config) -> Floats:
    flat = product(x, weights[f"{name}.weight"])
    return flat.reshape(len(x), -1, config.head_dim).swapaxes(0, 1)


def _attention(q: Floats, pool: Pool, layer: int, groups: list[_Group]) -> Floats:
    """Every row attends to its own sequence: (rows, heads * head_dim)."""
    c = pool.config
    q = q.swapaxes(0, 1)  # (rows, heads, head_dim)
    out = np.empty((len(q), q.shape[1] * c.head_dim), dtype=np.float32)
    for group in groups:
        segments, tokens = group.rows.shape
        # (segments, kv heads, blocks, block, d): one gather straight into head order
        at = group.table, np.arange(c.num_key_value_heads)[:, None]
        k, v = (
            x[layer][at].reshape(segments, c.num_key_value_heads, 1, -1, c.head_dim)
            for x in (pool.keys, pool.values)
        )
        own = q[group.rows].reshape(segments, tokens, len(k[0]), c.groups, c.head_dim)
        own = own.transpose(0, 2, 3, 1, 4)  # (segments, kv heads, groups, tokens, d)
        scores = own @ k.swapaxes(-1, -2) / _root(c.head_dim)
        scores[np.broadcast_to(group.hidden, scores.shape)] = -np.inf
        y = softmax(scores) @ v
        y = y.transpose(0, 3, 1, 2, 4).reshape(segments, tokens, -1)
        out[group.rows] = y
    return out


@cache
def _root(wide: int) -> np.float32:
    return np.float32(np.sqrt(wide))

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
    check_ids,
    check_room,
    forward,
    rms_norm,
    rotated,
    silu,
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
    mask: Floats  # (segments, 1, 1, tokens, places): -inf where a query does not see


def forward_batch(
    weights: Weights, pool: Pool, segments: Sequence[Segment]
) -> list[Floats]:
    """Logits of each segment's wanted rows, (wanted, vocab) a segment.

    - ``pool``: takes the new tokens' keys and values.
    - raises ``ValueError`` for tokens that the model cannot read, and for a table too
      short for them.
    """
    config = pool.config
    ids = _checked(segments, pool)
    places = np.concatenate([_places(each) for each in segments])
    turn = turns(config)[:, places]
    groups = list(_grouped(segments, pool.block_size))
    blocks, offsets = _slots(segments, pool.block_size)
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
    return np.ascontiguousarray((weight @ np.ascontiguousarray(x.T)).T)


def forward_each(
    weights: Weights, pool: Pool, segments: Sequence[Segment]
) -> list[Floats]:
    """The same, one sequence after the other through ``tinylm.forward``."""
    found = []
    for each in segments:
        _checked([each], pool)
        cache_ = PagedCache(pool, each.table, each.past)
        logits = forward(weights, pool.config, each.tokens, cache_)  # type: ignore[arg-type]
        found.append(logits[len(logits) - each.wanted :])
    return found


def _checked(segments: Sequence[Segment], pool: Pool) -> NDArray[np.int64]:
    """All new tokens, if the model can read them and the tables hold them."""
    for each in segments:
        count = len(each.tokens)
        check_room(count, each.past, pool.config)
        if each.past + count > len(each.table) * pool.block_size:
            raise ValueError(
                f"{each.past} + {count} tokens: the table has {len(each.table)} blocks "
                f"of {pool.block_size}"
            )
        if not count:
            check_ids(np.empty(0, int), pool.config)
    ids = np.array([token for each in segments for token in each.tokens])
    check_ids(ids, pool.config)
    return ids


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
        seen = np.arange(wide * size) <= last_seen[:, None, None, :, None]
        mask = np.where(seen, np.float32(0), np.float32(-np.inf))
        yield _Group(first[:, None] + np.arange(tokens), table, mask)


def _heads(x: Floats, weights: Weights, name: str, config: Config) -> Floats:
    flat = product(x, weights[f"{name}.weight"])
    return flat.reshape(len(x), -1, config.head_dim).swapaxes(0, 1)


def _attention(q: Floats, pool: Pool, layer: int, groups: list[_Group]) -> Floats:
    """Every row attends to its own sequence: (rows, heads * head_dim)."""
    c = pool.config
    heads = c.num_key_value_heads
    q = q.swapaxes(0, 1)  # (rows, heads, head_dim)
    out = np.empty((len(q), q.shape[1] * c.head_dim), dtype=np.float32)
    for group in groups:
        segments, tokens = group.rows.shape
        # (segments, heads, blocks, block, d): one gather straight into head order
        at = group.table, np.arange(heads)[:, None]
        k, v = (
            x[layer][at].reshape(segments, heads, -1, c.head_dim)
            for x in (pool.keys, pool.values)
        )
        own = q[group.rows].reshape(segments, tokens, heads, c.groups, c.head_dim)
        # One product a sequence and head: query heads that share keys are its rows.
        own = own.transpose(0, 2, 3, 1, 4).reshape(segments, heads, -1, c.head_dim)
        scores = (own * _scale(c.head_dim)) @ k.swapaxes(-1, -2)
        apart = scores.reshape(segments, heads, c.groups, tokens, -1)
        apart += group.mask  # a view: the scores themselves
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        y = weights @ v / weights.sum(axis=-1, keepdims=True)
        y = y.reshape(segments, heads * c.groups, tokens, c.head_dim).swapaxes(1, 2)
        out[group.rows] = y.reshape(segments, tokens, -1)
    return out


@cache
def _scale(wide: int) -> np.float32:
    return np.float32(1 / np.sqrt(wide))

"""One query on pieces of the keys: time for any number of pieces, in plain Python.

The room's prediction, with the number of pieces set by hand in place of the one that
fills a device. A piece is whole tiles of keys.
"""

from __future__ import annotations

from dataclasses import replace

from stacklib.kernels.schedule.attention_time import (
    Attention,
    AttentionTime,
    Plan,
    plan,
    predict,
)

FLOAT = 4  # bytes of FP32, in which a piece leaves its result


def planned(
    on: str, *, keys: int, heads: int, kv_heads: int, head_dim: int, batch: int = 1
) -> Plan:
    """One query in each sequence against its cache."""
    return plan(Attention(batch, heads, kv_heads, 1, keys, head_dim), on, "tuned")


def alone(found: Plan) -> int:
    """Blocks without a split: one a KV head and sequence."""
    return found.grid.blocks // found.grid.splits


def most(found: Plan) -> int:
    """Pieces at most: the tiles of one head's keys."""
    return round(found.grid.tiles / alone(found))


def cut(found: Plan, splits: int) -> Plan:
    """The same attention in so many pieces."""
    if not 1 <= splits <= most(found):
        raise ValueError(f"splits = {splits}: the keys are {most(found)} tiles")
    blocks = alone(found) * splits
    longest = most(found) / splits
    return replace(
        found, grid=replace(found.grid, blocks=blocks, splits=splits, longest=longest)
    )


def in_pieces(found: Plan, splits: int) -> AttentionTime:
    """Its predicted time."""
    return predict(cut(found, splits))


def working(found: Plan, splits: int) -> int:
    """SMs that have a block."""
    return int(min(found.rates.units, alone(found) * splits))


def partial_bytes(found: Plan, splits: int) -> int:
    """Bytes that the pieces write and the merge reads: an output, a maximum, a sum."""
    if splits == 1:
        return 0
    work = found.work
    return splits * work.batch * work.heads * (work.wide + 2) * FLOAT

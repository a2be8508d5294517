"""Keys and values in few bits: rounded when they are kept, widened when they are read.

A key's channels differ in size and a channel keeps its size from token to token, so
keys share a scale along a channel; values share one within a token (Liu et al.,
*KIVI*, arXiv 2402.02750, section 3.2). Each group keeps its least number and its step
in fp16.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stacklib.quantity.bounds import whole

from .config import DATA
from .forward import Floats, KVCache, log_softmax
from .model import TinyLM
from .perplexity import Interval, Scorer

__all__ = ["AXES", "GROUP", "MeasuredKV", "kv_scorer", "measured_kv", "rounded"]

AXES = ("channel", "token")
GROUP = 32
WIDEST = 16  # bits that mean: as it is
STORE = DATA / "low_precision" / "kv.json"
FILE = "stacklib/tinylm/data/low_precision/kv.json"  # as a leaf names it


def bits_of(bits: int, group: int = GROUP) -> float:
    """Bits of a number, its share of a least number and a step in fp16 counted."""
    return bits if bits == WIDEST else bits + 2 * 16 / group


def rounded(x: Floats, bits: int, axis: str, group: int = GROUP) -> Floats:
    """Keys or values as they are read again.

    - ``bits``: of a code, 1 to 8; 16 leaves the array alone.
    - ``axis``: along what numbers share a scale: a channel over ``group`` tokens,
      or a token over ``group`` channels.
    - ``group``: numbers that share a scale; the last group may be shorter.
    """
    if bits == WIDEST:
        return x
    if not 1 <= bits <= 8:
        raise ValueError(f"bits={bits}: 1 to 8, or {WIDEST} for the cache as it is")
    if axis not in AXES:
        raise ValueError(f"axis={axis!r}: one of {', '.join(AXES)}")
    whole(group=group)
    rows = np.swapaxes(x, -1, -2) if axis == "channel" else x
    tail = -rows.shape[-1] % group
    pads = [(0, 0)] * (rows.ndim - 1) + [(0, tail)]
    full = np.pad(rows, pads, mode="edge").reshape(*rows.shape[:-1], -1, group)
    low = full.min(-1, keepdims=True).astype(np.float16).astype(np.float32)
    reach = full.max(-1, keepdims=True) - low
    step = (reach / ((1 << bits) - 1)).astype(np.float16).astype(np.float32)
    codes = np.rint((full - low) / np.where(step == 0, 1, step))
    found = np.clip(codes, 0, (1 << bits) - 1) * step + low
    found = found.reshape(*rows.shape[:-1], -1)[..., : rows.shape[-1]]
    return np.swapaxes(found, -1, -2) if axis == "channel" else found


class _RoundedCache(KVCache):
    """A cache whose numbers are rounded as they come in, for one pass over a text."""

    how: tuple[int, int, str, str]

    def extend(self, layer: int, keys: Floats, values: Floats) -> tuple[Floats, Floats]:
        key_bits, value_bits, key_axis, value_axis = self.how
        keys = rounded(keys, key_bits, key_axis)
        return super().extend(layer, keys, rounded(values, value_bits, value_axis))


def kv_scorer(
    model: TinyLM,
    key_bits: int,
    value_bits: int,
    key_axis: str = "channel",
    value_axis: str = "token",
) -> Scorer:
    """A scorer for ``perplexity.score`` whose attention reads a rounded cache.

    A text is read in windows as `perplexity.surprise` does it; within a window every
    token is rounded before any token reads it, itself too.
    """

    def cost(ids: Sequence[int]) -> NDArray[np.float64]:
        read = np.array([model.tokenizer.end, *ids])
        limit = model.config.max_position_embeddings
        costs: list[NDArray[np.float64]] = []
        done = 0
        for start in range(0, max(1, len(ids) - limit // 2), limit // 2):
            window = read[start : start + limit + 1]
            kept = _RoundedCache(model.config)
            kept.how = (key_bits, value_bits, key_axis, value_axis)
            log_p = log_softmax(model.logits(window[:-1], kept)[done - start :])
            wanted = window[1 + done - start :]
            costs.append(-log_p[np.arange(len(wanted)), wanted])
            done += len(wanted)
        return np.concatenate(costs)

    return cost


@dataclass(frozen=True, slots=True)
class MeasuredKV:
    """What a rounded cache cost the model on text it never saw."""

    id: str
    key_bits: int
    value_bits: int
    key_axis: str
    value_axis: str
    bits: float  # of a number of the cache, scales counted
    bits_per_byte: Interval
    loss: Interval  # bits per byte above the cache as it is


@cache
def measured_kv() -> tuple[MeasuredKV, ...]:
    """Every cache as ``benchmarks/quantized_model.py`` found it."""
    table: dict[str, Any] = json.loads(STORE.read_text(encoding="utf-8"))
    return tuple(
        MeasuredKV(
            **row | {name: Interval(*row[name]) for name in ("bits_per_byte", "loss")}
        )
        for row in table["rows"]
    )

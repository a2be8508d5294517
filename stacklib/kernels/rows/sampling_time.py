"""Seconds of drawing a token: product with the LM head, and what comes after it.

In closed form, with W bytes of LM head and L = batch x vocab x 4 bytes of logits, on t
ranks that hold a part of the vocabulary each:

    plain  = W / (t B) + gather(L) + passes L / B + launches l + chain
    fused  = W / (t B) + gather(8 batch) + launches l

B is the bandwidth. A plain pipeline of 3 launches passes over the logits 4 times, the
fused one has 2 launches and none. At 4,096 x 150,000 in bf16 and 8 TB/s the head takes
154 us, four passes over 600 KB take 0.3 us: what is saved on one chip are launches and
the ``chain``, the seconds that a library's sampler takes beyond its bytes (sorts,
scans, waits for the host). On t ranks the head shrinks by t, and gather and chain do
not: that is where sampling is 20 to 38 % of a step. ``gain_chain`` turns a published
gain round: the chain it takes.

``run_head`` is the same on a device of units, tile by tile. Left out: arithmetic, by
which a batch of some hundred rows is bound.
"""

from __future__ import annotations

import heapq
import json
from dataclasses import dataclass
from typing import Any

from stacklib.quantity import ceil, maximum
from stacklib.quantity.bounds import above_zero, at_least, whole
from stacklib.quantity.files import PACKAGE

FP32, PAIR, INDEX = 4, 8, 4  # bytes of a logit, of a score with its index, of an index
# Seconds of a launch, and before a gather's first byte: assumed, of the usual order.
LAUNCH_S, GATHER_S = 5e-6, 10e-6
PLAIN_PASSES, PLAIN_LAUNCHES, FLASH_LAUNCHES = 4, 3, 2


@dataclass(frozen=True, slots=True)
class SampleTime:
    """Seconds of a draw, by part."""

    head: Any  # reading the LM head
    gather: Any
    passes: Any  # over logits and probabilities
    launches: Any
    chain: Any  # of a sampler, beyond its bytes

    @property
    def sampling(self) -> Any:
        """All but the head, which a model without sampling pays too."""
        return self.gather + self.passes + self.launches + self.chain

    @property
    def total(self) -> Any:
        """From hidden state to token."""
        return self.head + self.sampling


def flash_bytes(
    *, batch: Any, hidden: Any, vocab: Any, tile: Any, width: Any = 2, pair: Any = PAIR
) -> Any:
    """Bytes of the fused one: head, hidden state, each tile's winners, tokens.

    ``tile``: tokens of the vocabulary a tile takes; the last may be smaller. ``pair``:
    bytes of a score with its index.
    """
    above_zero(batch=batch, hidden=hidden, vocab=vocab, width=width, tile=tile)
    operands = (vocab + batch) * hidden * width
    winners = 2 * ceil(vocab / tile) * batch * pair  # written, and read again
    return operands + winners + batch * pair / 2


def _head(
    batch: Any, hidden: Any, vocab: Any, width: Any, bandwidth: Any, ranks: Any
) -> Any:
    above_zero(batch=batch, hidden=hidden, vocab=vocab, width=width)
    above_zero(bandwidth=bandwidth)
    at_least(1, ranks=ranks)
    return (vocab / ranks + batch) * hidden * width / bandwidth


def gather_time(size: Any, ranks: Any, link: Any, latency: Any) -> Any:
    """Seconds until every rank has every rank's part; none where there is one rank.

    ``size``: bytes of all parts; ``link``, ``latency``: bytes a second out of a rank,
    seconds before the first byte.
    """
    others = (ranks - 1) / ranks
    some = (ranks - 1) / maximum(ranks - 1, 1)  # 1 where there are others
    return some * latency + others * size / link


def plain_time(
    *,
    batch: Any,
    hidden: Any,
    vocab: Any,
    bandwidth: Any,
    launch_s: Any,
    width: Any = 2,
    logit: Any = FP32,
    ranks: Any = 1,
    link: Any = 450e9,
    latency_s: Any = 0.0,
    passes: Any = PLAIN_PASSES,
    launches: Any = PLAIN_LAUNCHES,
    chain_s: Any = 0.0,
) -> SampleTime:
    """Seconds of a pipeline that makes logits, then probabilities, then a draw.

    - ``batch``, ``hidden``, ``vocab``: int, Quantity or array; rows, the width of the
      model, tokens of the vocabulary.
    - ``width``, ``logit``: int, Quantity or array; bytes of a weight, and of a logit.
    - ``bandwidth``, ``link``: float, Quantity or array; bytes a second of a chip's
      memory, and of a chip's links one way.
    - ``launch_s``, ``latency_s``: float, Quantity or array; seconds a launch, and
      before a gather's first byte.
    - ``ranks``: int, Quantity or array; chips that hold a part of the vocabulary each
      (tensor parallel).
    - ``passes``, ``launches``, ``chain_s``: float, Quantity or array; of the sampler:
      passes over the logits, kernels in all, and seconds besides.
    """
    head = _head(batch, hidden, vocab, width, bandwidth, ranks)
    at_least(0, launch_s=launch_s, latency_s=latency_s, chain_s=chain_s)
    logits = batch * vocab * logit
    return SampleTime(
        head,
        gather_time(logits, ranks, link, latency_s),
        passes * logits / bandwidth,
        launches * launch_s,
        chain_s,
    )


def flash_time(
    *,
    batch: Any,
    hidden: Any,
    vocab: Any,
    bandwidth: Any,
    launch_s: Any,
    width: Any = 2,
    pair: Any = PAIR,
    ranks: Any = 1,
    link: Any = 450e9,
    latency_s: Any = 0.0,
) -> SampleTime:
    """Seconds of the fused kernel and its small second one; parts as ``plain_time``.

    The ranks exchange a score and an index a row, ``pair`` bytes.
    """
    head = _head(batch, hidden, vocab, width, bandwidth, ranks)
    at_least(0, launch_s=launch_s, latency_s=latency_s)
    pairs = batch * pair * ranks
    gather = gather_time(pairs, ranks, link, latency_s)
    return SampleTime(head, gather, 0 * head, FLASH_LAUNCHES * launch_s, 0 * head)


def gain_chain(gain: Any, plain: SampleTime, fused: SampleTime) -> Any:
    """Seconds of a sampler's chain for which fusing gains so much.

    ``plain``: the pipeline without its chain.
    """
    at_least(1, gain=gain)
    return gain * fused.total - (plain.total - plain.chain)


def step_share(draw: SampleTime, rest_s: Any) -> Any:
    """Share of a decode step that is sampling, beside ``rest_s`` seconds of layers."""
    at_least(0, rest_s=rest_s)
    return draw.sampling / (draw.total + rest_s)


# -- published -------------------------------------------------------------------------

# Microseconds of the fastest run on B200, bf16, a head of 8,192 x 128,256; by batch and
# ranks: torch's multinomial, compiled; FlashInfer's top-k and top-p; FlashSampling.
TABLE = "stacklib/kernels/rows/data/flash_sampling.json"
WAYS = ("multinomial", "flashinfer", "fused")
PUBLISHED = {
    (row["batch"], row["ranks"]): tuple(row[way] for way in WAYS)
    for row in json.loads((PACKAGE.parent / TABLE).read_text("utf-8"))["rows"]
}


# -- the same, tile by tile ------------------------------------------------------------


def run_head(
    *,
    batch: int,
    hidden: int,
    vocab: int,
    tile: int,
    units: int,
    bandwidth: float,
    unit_rate: float,
    width: int = 2,
) -> tuple[float, int]:
    """Seconds and bytes of the fused kernel's tiles, handed to units as they fall free.

    Units that work share the bandwidth evenly, and none takes more than it can ask
    for: an event run, from one tile's end to the next. The last tiles leave units idle.

    ``unit_rate``: bytes a second that one unit can ask for.
    """
    whole(batch=batch, hidden=hidden, vocab=vocab, tile=tile, units=units, width=width)
    above_zero(bandwidth=bandwidth, unit_rate=unit_rate)
    sizes = [min(tile, vocab - at) for at in range(0, vocab, tile)]
    left = [tokens * hidden * width + batch * PAIR for tokens in sizes]
    left[0] += batch * hidden * width  # the first tile brings the hidden state
    moved = sum(left) + len(left) * batch * PAIR + batch * INDEX
    left.reverse()
    # Bytes served to each working unit are the clock: a tile ends once they have grown
    # by its size.
    busy: list[float] = []
    served = seconds = 0.0
    while left or busy:
        while left and len(busy) < units:
            heapq.heappush(busy, served + left.pop())
        rate = min(bandwidth / len(busy), unit_rate)
        end = heapq.heappop(busy)
        seconds += (end - served) / rate
        served = end
    return seconds, moved

"""The decode step counted, matrix by matrix: slow, and obviously right.

The closed form in ``decode`` is held to this by a property test.
"""

from __future__ import annotations

from dataclasses import dataclass

from stacklib.models import (
    Attention,
    CompressedAttention,
    Indexer,
    LanguageModel,
    LatentAttention,
    Matrix,
)
from stacklib.models.block import AnyAttention
from stacklib.models.parts import Skipped
from stacklib.models.recurrent import Recurrent
from stacklib.models.weights.kept import one_format
from stacklib.quantity.bounds import whole

from ..work.fit import model_of


@dataclass(slots=True)
class Tally:
    """Multiply-adds and numbers read or written so far."""

    macs: int = 0
    numbers: float = 0

    def matrix(self, m: Matrix, batch: int) -> None:
        """Every sequence's vector by one matrix, which is read once."""
        self.numbers += touched(m, batch) * m.each
        for _ in range(batch):
            for _ in range(m.used):
                self.macs += m.rows * m.columns + m.bias * m.columns

    def vector(self, size: int, batch: int) -> None:
        """A norm: a matrix of one column."""
        self.matrix(Matrix("norm", size, 1), batch)

    def cache(self, attention: AnyAttention, tokens: int) -> None:
        """One query against the tokens of one layer's cache, the new one included."""
        if isinstance(attention, CompressedAttention):
            self._compressed(attention, tokens)
        elif isinstance(attention, Recurrent):
            self._recurrent(attention)
        elif isinstance(attention, LatentAttention):
            self._latent(attention, tokens)
        elif not isinstance(attention, Skipped):
            self._grouped(attention, tokens)

    def _grouped(self, a: Attention, tokens: int) -> None:
        value = a.value_dim or a.head_dim
        for token in range(self._picked(a.indexer, tokens)):
            if a.window and tokens - token > a.window:
                continue  # the window has moved on
            self.macs += a.heads * a.head_dim + a.heads * value  # scores, then values
            self.numbers += a.kv_heads * a.head_dim + a.kv_heads * value

    def _picked(self, i: Indexer | None, tokens: int) -> int:
        """Tokens left once an indexer has scored each of them."""
        if i is None:
            return tokens
        for _ in range(tokens):
            self.macs += i.heads * i.head_dim
            self.numbers += i.head_dim
        return min(tokens, i.top_k)

    def _recurrent(self, a: Recurrent) -> None:
        for _ in range(a.heads):
            for _ in range(a.key_dim):
                self.macs += a.passes * a.value_dim
                self.numbers += 2 * a.value_dim  # read, and written back
        for _ in range(a.kernel - 1):
            self.numbers += 2 * a.channels

    def _latent(self, a: LatentAttention, tokens: int) -> None:
        seen = self._picked(a.indexer, tokens)
        for _ in range(min(seen, a.selected) if a.selected else seen):
            self.numbers += a.kv_lora_rank + a.rope_head_dim
            self.macs += a.heads * (a.kv_lora_rank + a.rope_head_dim)  # scores
            self.macs += a.heads * a.kv_lora_rank  # values

    def _compressed(self, a: CompressedAttention, tokens: int) -> None:
        near = sum(1 for token in range(tokens) if tokens - token <= a.window)
        entries = sum(1 for n in range(1, tokens + 1) if a.rate and n % a.rate == 0)
        chosen = entries
        if a.indexer:
            chosen = min(entries, a.indexer.top_k)
            self.macs += entries * a.indexer.heads * a.indexer.head_dim
            self.numbers += entries * a.indexer.head_dim
        for _ in range(near + chosen):
            self.macs += 2 * a.heads * a.head_dim
            self.numbers += a.head_dim  # key and value are one


def touched(m: Matrix, batch: int) -> float:
    """How many of ``m`` are read: one sequence after another adds those still missed.

    The next sequence's ``used`` choices fall evenly, so that each is new with the
    share that is still missed.
    """
    if not m.routed:
        return m.total
    read = 0.0
    for _ in range(batch):
        read += m.used * (m.total - read) / m.total
    return read


def count_decode(
    model: str | LanguageModel, *, dtype: str = "bf16", batch: int = 1, context: int
) -> tuple[int, float]:
    """Operations and bytes of one decode step on one chip, by walking the model.

    Returns
    -------
    tuple of int and float
        Operations, two for each multiply-add, and bytes (of experts: those
        expected). A norm counts as a matrix of one column, as the closed form
        counts its parameters.

    Raises
    ------
    UnknownName, ValueError
        As ``decode_work`` does, and for a dtype that mixes formats.
    """
    model = model_of(model)
    whole(batch=batch)
    whole(0, context=context)
    tokens = context + 1
    bits = one_format(model, dtype).bits
    tally = Tally()
    caches: dict[AnyAttention, Tally] = {}
    for block in model.blocks:
        for m in block.matrices(model.hidden):
            tally.matrix(m, batch)
        tally.vector(block.vectors(model.hidden), batch)
        if block.attention not in caches:  # counted once for all layers alike
            caches[block.attention] = Tally()
            caches[block.attention].cache(block.attention, tokens)
        for _ in range(batch):
            tally.macs += caches[block.attention].macs
            tally.numbers += caches[block.attention].numbers
    norms = model.final_norm + model.embedding_norm
    tally.vector(norms * model.hidden, batch)
    if model.streams:
        tally.matrix(
            Matrix("streams", model.streams * model.hidden, model.streams, True), batch
        )
        tally.vector(1, batch)
    tally.matrix(Matrix("output", model.hidden, model.vocab, model.head_bias), batch)
    return 2 * tally.macs, tally.numbers * bits / 8

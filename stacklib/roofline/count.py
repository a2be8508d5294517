"""The decode step counted, matrix by matrix: slow, and obviously right.

The closed form in ``decode`` is held to this by a property test.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from stacklib.models import LanguageModel
from stacklib.quantity import dtype as find_dtype

from .fit import model_of
from .work import whole


@dataclass(slots=True)
class Tally:
    """Multiply-adds and numbers read or written so far."""

    macs: int = 0
    numbers: int = 0

    def matrix(self, rows: int, columns: int, batch: int) -> None:
        """Every sequence's vector by one matrix, which is read once."""
        self.numbers += rows * columns
        for _ in range(batch):
            self.macs += rows * columns

    def cache(self, model: LanguageModel, tokens: int) -> None:
        """One query against the tokens of one layer's cache, the new one included."""
        for _ in range(model.heads):
            self.macs += 2 * tokens * model.head_dim  # scores, then values
        for _ in range(model.kv_heads):
            self.numbers += 2 * tokens * model.head_dim  # keys and values


def layer_matrices(model: LanguageModel) -> Iterator[tuple[int, int]]:
    """Rows and columns of each matrix of one layer."""
    query, key = model.heads * model.head_dim, model.kv_heads * model.head_dim
    yield model.hidden, query
    yield model.hidden, key
    yield model.hidden, key
    yield query, model.hidden
    yield model.hidden, model.intermediate  # gate
    yield model.hidden, model.intermediate  # up
    yield model.intermediate, model.hidden  # down


def count_decode(
    model: str | LanguageModel, *, dtype: str = "bf16", batch: int = 1, context: int
) -> tuple[int, int]:
    """Operations and bytes of one decode step on one chip, by walking the model.

    Parameters
    ----------
    model : str or LanguageModel
        The model, or its name.
    dtype : str
        Format of weights and cache.
    batch, context : int
        Sequences, and tokens cached in each.

    Returns
    -------
    tuple of int
        Operations, two for each multiply-add, and bytes. A norm counts as a
        matrix of one column, as the closed form counts its parameters.

    Raises
    ------
    UnknownName, ValueError
        As ``decode_work`` does.
    """
    model = model_of(model)
    batch, tokens = whole(batch, "batch"), whole(context, "context", least=0) + 1
    bits = find_dtype(dtype).bits
    tally = Tally()
    for _ in range(model.layers):
        for rows, columns in layer_matrices(model):
            tally.matrix(rows, columns, batch)
        for size in small_parameters(model):
            tally.matrix(size, 1, batch)
        for _ in range(batch):
            tally.cache(model, tokens)
    tally.matrix(model.hidden, 1, batch)  # the last norm
    tally.matrix(model.hidden, model.vocab, batch)
    return 2 * tally.macs, tally.numbers * bits // 8


def small_parameters(model: LanguageModel) -> Iterator[int]:
    """Sizes of the norms and biases of one layer."""
    yield model.hidden
    yield model.hidden
    if model.attention_bias:
        yield model.heads * model.head_dim
        yield 2 * model.kv_heads * model.head_dim
    if model.qk_norm:
        yield 2 * model.head_dim

"""Shape of a decoder-only transformer, and what follows from it by counting.

Dense models with multi-head, grouped-query or multi-query attention, RMSNorm
and a gated MLP (Llama, Mistral, Qwen). Counting rules: one attention block has
four projections, one MLP three matrices, each layer two norms; embedding and
output matrix are one and the same when tied.
"""

from __future__ import annotations

from dataclasses import dataclass

from stacklib.quantity import Quantity, Source, bytes_per_element


@dataclass(frozen=True, slots=True)
class LanguageModel:
    """Architecture of a language model.

    Parameters
    ----------
    key, name : str
        How it is asked for and printed.
    vocab, hidden, intermediate, layers, heads, kv_heads, head_dim : int
        The usual sizes; ``heads`` is a multiple of ``kv_heads``.
    max_context : int
        Longest context the release was trained for, in tokens.
    tied : bool
        Whether the output matrix is the embedding.
    attention_bias : bool
        Whether query, key and value projections carry a bias.
    qk_norm : bool
        Whether queries and keys pass a norm over ``head_dim``.
    source : Source
        Where the config was read.
    """

    key: str
    name: str
    vocab: int
    hidden: int
    intermediate: int
    layers: int
    heads: int
    kv_heads: int
    head_dim: int
    max_context: int
    tied: bool
    attention_bias: bool
    qk_norm: bool
    source: Source

    def _size(self, field: str, words: str) -> Quantity:
        value = getattr(self, field)
        return Quantity(value, label=words, source=self.source, kind="config")

    @property
    def embedding_parameters(self) -> Quantity:
        """Parameters of the input embedding, vocab x hidden."""
        vocab = self._size("vocab", "vocabulary")
        return (vocab * self._size("hidden", "hidden size")).named("embedding")

    @property
    def layer_parameters(self) -> Quantity:
        """Parameters of one transformer layer."""
        hidden = self._size("hidden", "hidden size")
        head_dim = self._size("head_dim", "head size")
        query = self._size("heads", "query heads") * head_dim
        key = self._size("kv_heads", "KV heads") * head_dim
        projections = hidden * (query + key + key) + query * hidden
        extras = 2 * hidden  # the two norms
        if self.attention_bias:
            extras = extras + query + key + key
        if self.qk_norm:
            extras = extras + 2 * head_dim
        mlp = 3 * hidden * self._size("intermediate", "MLP size")
        return (projections + mlp + extras).named("parameters per layer")

    @property
    def parameters(self) -> Quantity:
        """All parameters, counted from the shape."""
        layers = self._size("layers", "layers")
        body = layers * self.layer_parameters + self._size("hidden", "hidden size")
        copies = 1 if self.tied else 2
        return (body + copies * self.embedding_parameters).named("parameters")

    @property
    def active_parameters(self) -> Quantity:
        """Parameters one token passes through; all of them in a dense model."""
        return self.parameters

    @property
    def streamed_parameters(self) -> Quantity:
        """Parameters read for one decode step: all but the input embedding.

        Of the embedding only one row a token is read. With tied embeddings the
        same matrix is read once, as the output projection.
        """
        layers = self._size("layers", "layers")
        body = layers * self.layer_parameters + self._size("hidden", "hidden size")
        return (body + self.embedding_parameters).named("parameters read")

    def weight_bytes(self, dtype: str) -> Quantity:
        """Bytes of all weights in one format, without block scales."""
        return (self.parameters * bytes_per_element(dtype)).named("weights")

    def kv_bytes_per_token(self, dtype: str) -> Quantity:
        """Bytes of keys and values one token leaves in the cache."""
        width = self._size("kv_heads", "KV heads") * self._size("head_dim", "head size")
        both = 2 * self._size("layers", "layers") * width
        return (both * bytes_per_element(dtype)).named("KV per token")

    @property
    def attention_flops_per_token_pair(self) -> Quantity:
        """FLOP of scores and values for one query against one cached token."""
        width = self._size("heads", "query heads") * self._size("head_dim", "head size")
        flop = Quantity(4, "FLOP", label="FLOP per score and value entry")
        return (flop * self._size("layers", "layers") * width).named(
            "attention FLOP per cached token"
        )

"""Shape of a decoder-only transformer, and what follows from it by counting.

A model is a list of layer kinds and the order they come in. Embedding and output
matrix are one and the same when tied. Counts are of numbers, whatever format
they are stored in: block scales of quantized releases are not parameters.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from stacklib.quantity import Quantity, Source, chosen, constant
from stacklib.quantity.bounds import whole

from .block import AnyAttention, Block, alike, has_cache, has_state
from .compressed import CompressedAttention
from .formulas import Sizes, block_attention_flops, block_cache, block_parameters
from .parts import Attention, Experts, LatentAttention
from .recurrent import Recurrent
from .weights.kept import Kept, bytes_of
from .weights.mixtures import cache_number


@dataclass(frozen=True, slots=True, repr=False)
class LanguageModel:
    """Architecture of a language model.

    Parameters
    ----------
    key, name : str
        How it is asked for and printed.
    vocab, hidden : int
        Vocabulary and hidden size.
    kinds : tuple of Block
        The kinds of layer, each once.
    pattern : tuple of int
        For each layer, in order, its kind.
    max_context : int
        Longest context the release was trained for, in tokens; 0 where its config
        names none (Mamba-2).
    tied : bool
        Whether the output matrix is the embedding.
    source : Source
        Where the config was read.
    final_norm, embedding_norm : int
        Norm vectors of the hidden size after the last layer and after the
        embedding.
    positions : int
        Rows of a learned position table (GPT-2), 0 for rotary positions.
    head_bias : bool
        Whether the output matrix has a bias.
    streams : int
        Copies of the hidden state that the output collapses (DeepSeek-V4).
    tables : int
        Numbers in tables by token besides the embedding, a row of which is read (Gemma
        4's small models), and in the norm of such a row.
    vision : int
        Parameters of towers for images or sound and their projectors; text passes by
        them.
    unused : int
        Numbers that the release holds and no token passes.
    left_out : tuple of str
        What the release holds besides and the counts do not.
    model_type : str
        Its type in a Hugging Face config; empty where none was read.
    kept : Kept or None
        How its file keeps the weights, where a file says so.
    """

    key: str
    name: str
    vocab: int
    hidden: int
    kinds: tuple[Block, ...]
    pattern: tuple[int, ...]
    max_context: int
    tied: bool
    source: Source
    final_norm: int = 1
    embedding_norm: int = 0
    positions: int = 0
    head_bias: bool = False
    streams: int = 0
    tables: int = 0
    vision: int = 0
    unused: int = 0
    left_out: tuple[str, ...] = ()
    model_type: str = field(default="", compare=False)
    kept: Kept | None = field(default=None, compare=False)

    def __repr__(self) -> str:
        return (
            f"<LanguageModel {self.key}: {self.name}, {self.parameters.text()} "
            f"parameters, {self.layers} layers, hidden {self.hidden}>"
        )

    def _repr_html_(self) -> str:
        from stacklib.quantity.face import card

        counted = ("parameters", "active_parameters")
        facts = ("layers", "hidden", "vocab", "max_context")
        rows = [(name, getattr(self, name)) for name in (*counted, *facts)]
        rows.append(("KV cache a token, bf16", self.kv_bytes_per_token("bf16")))
        return card(self.name, [*rows, ("source", self.source.title)])

    # -- shape ---------------------------------------------------------------

    @property
    def layers(self) -> int:
        """Number of layers."""
        return len(self.pattern)

    @property
    def blocks(self) -> Iterator[Block]:
        """The layers in order."""
        return (self.kinds[k] for k in self.pattern)

    def count(self, kind: int) -> int:
        """Layers of one kind, by its place in ``kinds``."""
        return self.pattern.count(kind)

    @property
    def attention(self) -> AnyAttention:
        """Attention of the first layer that has a cache.

        The first layer's state where no layer has a cache. Where layers differ in more
        than their windows (``alike``), what depends on them adds up by layer.
        """
        cached = (b.attention for b in self.kinds if has_cache(b))
        return next(cached, self.kinds[0].attention)

    @property
    def alike(self) -> bool:
        """Whether all layers with a cache have one plain shape, windows apart."""
        return alike(self.kinds)

    @property
    def heads(self) -> int:
        """Query heads."""
        return self.attention.heads

    @property
    def kv_heads(self) -> int:
        """Heads of keys and values (of latent attention: once expanded)."""
        return self.attention.kv_heads

    @property
    def cache_heads(self) -> int:
        """Heads the KV cache can be shared out by; 1 for latent attention."""
        return self.attention.cache_heads

    @property
    def head_dim(self) -> int:
        """Size of a query head."""
        return self.attention.head_dim

    @property
    def intermediate(self) -> int:
        """Size of the first MLP there is, or of one of its experts; 0 without any."""
        return next((b.mlp.intermediate for b in self.kinds if b.mlp.intermediate), 0)

    @property
    def experts(self) -> Experts | None:
        """The mixture of experts, or None in a dense model."""
        found = [b.mlp for b in self.kinds if isinstance(b.mlp, Experts)]
        return found[0] if found else None

    @property
    def grows(self) -> bool:
        """Whether every cached token costs the same: no windows, no compression."""
        return all(b.grows for b in self.kinds)

    @property
    def keeps_state(self) -> bool:
        """Whether some layer has a recurrent state (``state_bytes``)."""
        return any(map(has_state, self.kinds))

    def size(self, field: str, words: str) -> Quantity:
        """The size ``field`` of the config as a quantity, ``words`` in formulas."""
        return Quantity(
            getattr(self, field),
            label=words,
            source=self.source,
            kind="config",
            key=f"{self.key}.{words}",
        )

    # -- parameters ----------------------------------------------------------

    @property
    def embedding_parameters(self) -> Quantity:
        """Parameters of the input embedding, vocab x hidden."""
        vocab = self.size("vocab", "vocabulary")
        return (vocab * self.size("hidden", "hidden size")).named("embedding")

    def layer_parameters(self, layer: int = 0) -> Quantity:
        """Parameters of one layer, all experts included.

        Parameters
        ----------
        layer : int
            Its place, from 0.
        """
        block = self.kinds[self.pattern[layer]]
        return block_parameters(Sizes(self), block, self._experts(block))

    def _experts(self, block: Block) -> Quantity | None:
        if not isinstance(block.mlp, Experts):
            return None
        return Sizes(self)(block.mlp.experts, "experts")

    def _used(self, block: Block, batch: int) -> Quantity | None:
        """Experts ``batch`` tokens touch, expected under even routing."""
        if not isinstance(block.mlp, Experts):
            return None
        sizes = Sizes(self)
        chosen = sizes(block.mlp.top_k, "experts per token")
        if batch == 1 or block.mlp.top_k == block.mlp.experts:
            return chosen
        experts = sizes(block.mlp.experts, "experts")
        missed = (1 - chosen / experts) ** batch
        return (experts * (1 - missed)).named("experts touched")

    def _body(self, experts: Any) -> Quantity:
        """All layers and the last norm; ``experts(block)`` says how many count."""
        sizes = Sizes(self)
        parts = []
        for number, block in enumerate(self.kinds):
            each = block_parameters(sizes, block, experts(block))
            words = "layers" if len(self.kinds) == 1 else f"layers ({block.kind})"
            parts.append(sizes(self.count(number), words) * each)
        body = sum(parts[1:], parts[0])
        if self.final_norm == 1:
            body = body + sizes.hidden
        elif self.final_norm:
            body = body + self.final_norm * sizes.hidden
        if self.embedding_norm:
            body = body + self.embedding_norm * sizes.hidden
        if self.streams:
            n = sizes(self.streams, "residual streams")
            body = body + n * n * sizes.hidden + n + 1
        if self.head_bias:
            body = body + sizes(self.vocab, "output bias")
        return body

    def _whole(self, body: Quantity) -> Quantity:
        copies = 1 if self.tied else 2
        total = body + copies * self.embedding_parameters
        if self.positions:
            rows = self.size("positions", "positions")
            total = total + rows * self.size("hidden", "hidden size")
        if self.tables:
            total = total + self.size("tables", "tables by token")
        return total

    @property
    def parameters(self) -> Quantity:
        """All parameters, counted from the shape.

        Speculative extra layers (multi-token prediction) are not of the model
        that answers, and are left out; ``left_out`` says so.
        """
        total = self._whole(self._body(self._experts))
        if self.vision:
            total = total + self.size("vision", "vision tower and projector")
        if self.unused:
            total = total + self.size("unused", "matrices that no token passes")
        return total.named("parameters")

    @property
    def active_parameters(self) -> Quantity:
        """Parameters one text token passes through, embeddings included.

        Of the experts those chosen, and the shared ones; of a vision tower
        nothing; of a dense text model everything. Cards that leave out the
        input embedding (gpt-oss) publish ``streamed_parameters``.
        """
        if self.experts is None and not (self.vision or self.unused):
            return self.parameters
        body = self._body(lambda block: self._used(block, 1))
        return self._whole(body).named("active parameters")

    @property
    def streamed_parameters(self) -> Quantity:
        """Parameters one token is multiplied by: active, less the input embedding.

        Of the embedding (and of learned positions) only one row a token is
        read. With tied embeddings the same matrix is read once, as the output
        projection.
        """
        return self.read_parameters(1)

    def read_parameters(self, batch: int) -> Quantity:
        """Parameters read for one decode step of ``batch`` sequences.

        Every matrix is read once for all; of the experts those that at least
        one token chose: their expected number when tokens choose evenly and
        independently. Real routers are uneven and touch fewer.

        Raises
        ------
        ValueError
            When ``batch`` is no whole number above zero.
        """
        whole(batch=batch)
        body = self._body(lambda block: self._used(block, batch))
        return (body + self.embedding_parameters).named("parameters read")

    def read_by_experts(self) -> tuple[float, list[tuple[float, Experts]]]:
        """``read_parameters`` as a sum: those all share, and those of one expert.

        The second are those of one expert in all layers of a kind, with its mixture:
        ``shared + sum(each * experts.touched(batch))`` are read.
        """
        none, one = (chosen(n, label="experts counted") for n in (0, 1))
        shared = self._body(lambda block: none)
        each = [
            (self._body(lambda b, k=kind: one if b is k else none) - shared, kind.mlp)
            for kind in self.kinds
            if isinstance(kind.mlp, Experts)
        ]
        read = shared + self.embedding_parameters
        return read.si, [(size.si, experts) for size, experts in each]

    def weight_bytes(self, dtype: str | Quantity | None = None) -> Quantity:
        """Bytes of all weights, kept as ``weights.kept.kept`` says of ``dtype``.

        A format or a mixture, or bits of a number; None: as the file has them, or bf16.
        """
        return bytes_of(self, dtype).named("weights")

    def read_bytes(self, batch: int, dtype: str | Quantity | None = None) -> Quantity:
        """Bytes of the weights that one decode step reads, see ``read_parameters``."""
        whole(batch=batch)
        return bytes_of(self, dtype, batch).named("weights read")

    # -- cache ---------------------------------------------------------------

    def state_bytes(self, dtype: str | Quantity) -> Quantity:
        """Bytes of one sequence's recurrent state, the same after every token.

        Zero where no layer has one. ``kv_bytes`` counts it with the cache.

        Parameters
        ----------
        dtype : str or Quantity
            Format of the state, or bits of a number.
        """
        sizes, total = Sizes(self), chosen(0, label="none")
        nothing = chosen(0, label="tokens")
        for number, block in enumerate(self.kinds):
            if has_state(block):
                layers = sizes(self.count(number), block.attention.kind)
                total = total + layers * block_cache(sizes, block, nothing, read=False)
        return (total * cache_number(dtype)).named("recurrent state")

    def kv_bytes_per_token(self, dtype: str | Quantity) -> Quantity:
        """Bytes of keys and values one token leaves in the cache.

        Every layer that has a cache counts, those with a sliding window too, although
        they drop the token once the window has moved on (``kv_growth_per_token``);
        a recurrent state is not of the token (``state_bytes``). Latent
        attention keeps the latent and the rope part. Compressed attention keeps
        its share of an entry, so there it is the growth.
        """
        a, layers = self.attention, self._cached_layers()
        if isinstance(a, CompressedAttention | Recurrent):
            return self.kv_growth_per_token(dtype)
        if not self.alike:
            return self._by_layer(dtype).named("KV per token")
        if isinstance(a, LatentAttention):
            sizes = Sizes(self)
            latent = sizes(a.kv_lora_rank, "KV latent")
            both = layers * (latent + sizes(a.rope_head_dim, "rope size"))
        else:
            width = self.size("kv_heads", "KV heads")
            both = 2 * layers * (width * self.size("head_dim", "head size"))
        return (both * cache_number(dtype)).named("KV per token")

    def _by_layer(self, dtype: str | Quantity) -> Quantity:
        """Bytes one token leaves in the cache, layer by layer."""
        sizes, total = Sizes(self), chosen(0, label="none")
        for number, block in enumerate(self.kinds):
            left = sizes(block.attention.per_token, "numbers per token")
            total = total + sizes(self.count(number), block.kind) * left
        return total * cache_number(dtype)

    def _cached_layers(self) -> Quantity:
        cached = sum(map(has_cache, self.blocks))
        if cached == self.layers:
            return self.size("layers", "layers")
        return Sizes(self)(cached, "layers with a cache")

    def kv_growth_per_token(self, dtype: str | Quantity) -> Quantity:
        """Bytes one more token adds once every window is full.

        Zero when all layers have a window.
        """
        if self.grows:
            return self.kv_bytes_per_token(dtype)
        sizes, total = Sizes(self), chosen(0, label="none")
        for number, block in enumerate(self.kinds):
            a, layers = block.attention, sizes(self.count(number), block.kind)
            if isinstance(a, CompressedAttention) and a.rate:
                index = a.indexer.head_dim if a.indexer else 0
                total = total + layers * (sizes(a.head_dim, "entry") + index) / a.rate
            elif block.keeps_all:
                total = total + layers * sizes(a.per_token, "numbers per token")
        return (total * cache_number(dtype)).named("KV growth per token")

    def kv_bytes(self, context: int, dtype: str | Quantity) -> Quantity:
        """Bytes of one sequence's cache after ``context`` tokens, its state included.

        A layer with a sliding window keeps the last ``window`` tokens.

        Parameters
        ----------
        dtype : str or Quantity
            Format of the cache, or bits of a number.

        Raises
        ------
        ValueError
            When ``context`` is no whole number, or below zero.
        """
        return self._cache(context, dtype, read=False).named("KV cache")

    def kv_read_bytes(self, context: int, dtype: str | Quantity) -> Quantity:
        """Bytes of the cache one query moves; less than all where an indexer selects.

        Parameters
        ----------
        context : int
            Tokens cached, the asking one included.
        dtype : str or Quantity
            Format of the cache, or bits of a number.
        """
        return self._cache(context, dtype, read=True).named("KV read")

    def _cache(self, context: int, dtype: str | Quantity, *, read: bool) -> Quantity:
        tokens = self._tokens(context)
        if self.grows:
            return tokens * self.kv_bytes_per_token(dtype)
        sizes = Sizes(self)
        parts = [
            sizes(self.count(number), f"layers ({block.attention.kind})")
            * block_cache(sizes, block, tokens, read=read)
            for number, block in enumerate(self.kinds)
        ]
        return sum(parts[1:], parts[0]) * cache_number(dtype)

    @staticmethod
    def _tokens(context: int) -> Quantity:
        whole(0, context=context)
        return chosen(context, label="context")

    # -- arithmetic ----------------------------------------------------------

    @property
    def attention_flops_per_token_pair(self) -> Quantity:
        """FLOP of scores and values for one query against one cached token.

        Latent attention in its absorbed form, as decode runs it. Layers with a
        window count as if the token were inside it; ``attention_flops`` knows.
        """
        a = self.attention
        every = all(map(has_cache, self.kinds))
        if isinstance(a, Attention) and self.alike and every:
            width = self.size("heads", "query heads")
            width = width * self.size("head_dim", "head size")
            flop = 2 * constant("multiply_add")  # scores, then values
            product = flop * self.size("layers", "layers") * width
            return product.named("attention FLOP per cached token")
        return self.attention_flops(1)

    def attention_flops(self, tokens: int) -> Quantity:
        """FLOP of scores and values for one query against ``tokens`` in all layers.

        Parameters
        ----------
        tokens : int
            Tokens in the sequence, the asking one included.

        Raises
        ------
        ValueError
            When ``tokens`` is no whole number, or below zero.
        """
        sizes, there = Sizes(self), self._tokens(tokens)
        parts = [
            sizes(self.count(number), f"layers ({block.attention.kind})")
            * block_attention_flops(sizes, block, there)
            for number, block in enumerate(self.kinds)
        ]
        return sum(parts[1:], parts[0]).named("attention FLOP")

"""The parts of a decoder-only transformer, each with its matrices and its cache.

A layer is an attention and an MLP, of which one may be missing. Each part lists its
matrices and vectors, so that parameters and work follow by walking the list, and says
what one token leaves in the cache and what a query reads of it. ``language_model``
counts the same things by closed formulas; tests hold the two together.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from stacklib.quantity import minimum


@dataclass(frozen=True, slots=True)
class Matrix:
    """One matrix, or ``total`` alike of which a token uses ``used``.

    Parameters
    ----------
    name : str
        What it is called in tables of work.
    rows, columns : int
        Numbers in and out.
    bias : bool
        Whether a vector of ``columns`` is added.
    total, used : int
        How many there are (experts, groups), and how many one token passes.
    """

    name: str
    rows: int
    columns: int
    bias: bool = False
    total: int = 1
    used: int = 1

    @property
    def each(self) -> int:
        """Parameters of one of them."""
        return self.rows * self.columns + self.bias * self.columns

    @property
    def routed(self) -> bool:
        """Whether tokens choose among them."""
        return self.used != self.total


def triangle(count: int) -> int:
    """1 + 2 + ... + count."""
    return count * (count + 1) // 2


def pairs_of_prompt(tokens: int, most: int = 0) -> int:
    """Tokens seen by 1, 2, ... ``tokens`` queries, each at most ``most`` (0: all)."""
    inside = min(tokens, most) if most else tokens
    return triangle(inside) + (tokens - inside) * inside


@dataclass(frozen=True, slots=True)
class Indexer:
    """Scores what is cached and keeps the best ``top_k`` for each query."""

    heads: int
    head_dim: int
    top_k: int


@dataclass(frozen=True, slots=True)
class Attention:
    """Multi-head, grouped-query (kv_heads < heads) or multi-query (1) attention.

    Parameters
    ----------
    heads, kv_heads, head_dim : int
        ``heads`` is a multiple of ``kv_heads``.
    window : int
        Tokens a query sees, itself included; 0 for all.
    qkv_bias, out_bias : bool
        Biases of the projections.
    qk_norm : str
        Norms of queries and keys: ``""`` none, ``"head"`` one weight for each
        entry of a head, ``"full"`` one for each entry of all heads.
    sinks : bool
        One learned number a head that takes a share of the softmax (gpt-oss).
    gate : bool
        Whether a gate as wide as the queries weighs the result (Qwen3-Next).
    value_dim : int
        Size of a value head where it is not ``head_dim`` (MiMo-V2).
    keys : str
        Where keys and values come from: ``""`` a matrix each, ``"values too"`` one
        matrix for both (Gemma 4), ``"borrowed"`` from an earlier layer's cache.
    indexer : Indexer, optional
        Picks the tokens a query sees, with queries and keys of its own (MiniMax-M3).
    """

    heads: int
    kv_heads: int
    head_dim: int
    window: int = 0
    qkv_bias: bool = False
    out_bias: bool = False
    qk_norm: str = ""
    sinks: bool = False
    gate: bool = False
    value_dim: int = 0
    keys: str = ""
    indexer: Indexer | None = None

    @property
    def kind(self) -> str:
        """``MHA``, ``GQA`` or ``MQA``, with what narrows it if anything does."""
        if self.heads == self.kv_heads:
            name = "MHA"
        else:
            name = "MQA" if self.kv_heads == 1 else "GQA"
        if self.window:
            name += f", window {self.window}"
        if self.indexer:
            name += f", best {self.indexer.top_k}"
        return name + (", borrowed keys" if self.keys == "borrowed" else "")

    @property
    def plain(self) -> bool:
        """Whether keys and values are alike, the layer's own, and all seen."""
        return not (self.value_dim or self.keys or self.indexer)

    @property
    def cache_heads(self) -> int:
        """Heads the cache can be shared out by."""
        return self.kv_heads

    @property
    def norm_size(self) -> int:
        """Parameters of the query and key norms."""
        copies = {"": 0, "head": 2, "full": self.heads + self.kv_heads}
        each = copies[self.qk_norm] * self.head_dim
        if self.keys == "borrowed":  # the keys were normed where they were made
            each //= 2
        return each + (2 * self.indexer.head_dim if self.indexer else 0)

    def matrices(self, hidden: int) -> list[Matrix]:
        """The projections of a model of this ``hidden`` size."""
        query, key = self.heads * self.head_dim, self.kv_heads * self.head_dim
        value, asked = self.value_dim or self.head_dim, query * (2 if self.gate else 1)
        made = {
            "": [("k", key), ("v", self.kv_heads * value)],
            "values too": [("k and v", key)],
            "borrowed": [],
        }[self.keys]
        made = [("q and gate" if self.gate else "q", asked), *made]
        found = [Matrix(name, hidden, wide, self.qkv_bias) for name, wide in made]
        found.append(Matrix("o", self.heads * value, hidden, self.out_bias))
        if self.indexer:
            i = self.indexer
            found.append(Matrix("index q", hidden, i.heads * i.head_dim))
            found.append(Matrix("index k", hidden, i.head_dim))
        return found

    def vectors(self) -> int:
        """Parameters that belong to no matrix."""
        return self.norm_size + self.sinks * self.heads

    @property
    def entry(self) -> int:
        """Numbers of one token's keys and values, whoever made them."""
        return self.kv_heads * (self.head_dim + (self.value_dim or self.head_dim))

    @property
    def per_token(self) -> int:
        """Numbers one token leaves in the cache."""
        if self.keys == "borrowed":
            return 0
        return self.entry + (self.indexer.head_dim if self.indexer else 0)

    def seen(self, tokens: Any) -> Any:
        """Tokens a query sees of ``tokens``, itself included."""
        most = self.indexer.top_k if self.indexer else self.window
        return minimum(tokens, most) if most else tokens

    def cached(self, tokens: Any) -> Any:
        """Numbers the cache of one sequence of ``tokens`` holds."""
        kept = minimum(tokens, self.window) if self.window else tokens
        return kept * self.per_token

    def read(self, tokens: Any) -> Any:
        """Numbers a query moves when the cache holds ``tokens``."""
        index = tokens * self.indexer.head_dim if self.indexer else 0
        return self.seen(tokens) * self.entry + index

    def score_macs(self, tokens: Any, absorbed: bool) -> dict[str, Any]:
        """Multiply-adds of one query against ``tokens``, by operation.

        ``absorbed`` says nothing here; only latent attention has two forms.
        """
        return self._macs(self.seen(tokens), tokens)

    def prompt_macs(self, tokens: int) -> dict[str, int]:
        """Multiply-adds of a whole prompt, each token asking those up to itself."""
        most = self.indexer.top_k if self.indexer else self.window
        return self._macs(pairs_of_prompt(tokens, most), triangle(tokens))

    def _macs(self, pairs: Any, scored: Any) -> dict[str, Any]:
        macs = {
            "scores": self.heads * self.head_dim * pairs,
            "values": self.heads * (self.value_dim or self.head_dim) * pairs,
        }
        if self.indexer:
            size = self.indexer.heads * self.indexer.head_dim
            macs["index scores"] = size * scored
        return macs


@dataclass(frozen=True, slots=True)
class LatentAttention:
    """Multi-head latent attention (DeepSeek-V2): the cache holds one latent a token.

    Keys and values are products of the latent and one matrix. *Expanded*, they
    are formed for every token, as in prefill. *Absorbed*, the matrix is applied
    to query and result instead, and each head works on the latent itself: fewer
    bytes, more arithmetic a cached token. Both pass each weight once a token.

    Parameters
    ----------
    heads : int
        Query heads.
    q_lora_rank : int
        Size of the query latent; 0 for a plain query projection.
    kv_lora_rank : int
        Size of the cached latent.
    nope_head_dim, rope_head_dim : int
        Parts of a query without and with position; the latter is cached too.
    v_head_dim : int
        Size of a value head.
    selected : int
        Tokens a query sees at most; 0 for all (DeepSeek-V3.2 has 2,048).
    indexer : Indexer, optional
        Picks them; without one the choice of an earlier layer is used again (GLM-5.2).
    """

    heads: int
    q_lora_rank: int
    kv_lora_rank: int
    nope_head_dim: int
    rope_head_dim: int
    v_head_dim: int
    selected: int = 0
    indexer: Indexer | None = None

    @property
    def kind(self) -> str:
        """``MLA``, with the tokens selected if some are and whether by this layer."""
        if not self.selected:
            return "MLA"
        return f"MLA, {'best' if self.indexer else 'same'} {self.selected}"

    @property
    def kv_heads(self) -> int:
        """Heads of keys and values once expanded."""
        return self.heads

    @property
    def head_dim(self) -> int:
        """Size of a query or key head."""
        return self.nope_head_dim + self.rope_head_dim

    @property
    def cache_heads(self) -> int:
        """One: every head reads the same latent."""
        return 1

    def matrices(self, hidden: int) -> list[Matrix]:
        """Projections down to the latents and up from them."""
        query = self.heads * self.head_dim
        up = self.heads * (self.nope_head_dim + self.v_head_dim)
        if self.q_lora_rank:
            asked = [
                Matrix("q down", hidden, self.q_lora_rank),
                Matrix("q up", self.q_lora_rank, query),
            ]
        else:
            asked = [Matrix("q", hidden, query)]
        found = [
            *asked,
            Matrix("kv down", hidden, self.entry),
            Matrix("kv up", self.kv_lora_rank, up),
            Matrix("o", self.heads * self.v_head_dim, hidden),
        ]
        if self.indexer:
            i = self.indexer
            found += [
                Matrix("index q", self.q_lora_rank, i.heads * i.head_dim),
                Matrix("index k", hidden, i.head_dim),
                Matrix("index weights", hidden, i.heads),
            ]
        return found

    def vectors(self) -> int:
        """Norms of the two latents, and a LayerNorm of the index key."""
        index = 2 * self.indexer.head_dim if self.indexer else 0
        return self.q_lora_rank + self.kv_lora_rank + index

    @property
    def entry(self) -> int:
        """Latent and rope part of one token."""
        return self.kv_lora_rank + self.rope_head_dim

    @property
    def per_token(self) -> int:
        """Numbers one token leaves in the cache, its index key among them."""
        return self.entry + (self.indexer.head_dim if self.indexer else 0)

    def seen(self, tokens: Any) -> Any:
        """Tokens a query sees of ``tokens``, itself included."""
        return minimum(tokens, self.selected) if self.selected else tokens

    def cached(self, tokens: Any) -> Any:
        """Numbers the cache of one sequence of ``tokens`` holds."""
        return tokens * self.per_token

    def read(self, tokens: Any) -> Any:
        """Numbers a query moves when the cache holds ``tokens``."""
        index = tokens * self.indexer.head_dim if self.indexer else 0
        return self.seen(tokens) * self.entry + index

    def score_macs(self, tokens: Any, absorbed: bool) -> dict[str, Any]:
        """Multiply-adds of one query against ``tokens``, absorbed or expanded."""
        return self._macs(self.seen(tokens), tokens, absorbed)

    def prompt_macs(self, tokens: int) -> dict[str, int]:
        """Multiply-adds of a whole prompt, expanded."""
        pairs = pairs_of_prompt(tokens, self.selected)
        return self._macs(pairs, triangle(tokens), absorbed=False)

    def _macs(self, pairs: Any, scored: Any, absorbed: bool) -> dict[str, Any]:
        if absorbed:
            key, value = self.entry, self.kv_lora_rank
        else:
            key, value = self.head_dim, self.v_head_dim
        pairs = self.heads * pairs
        macs = {"scores": pairs * key, "values": pairs * value}
        if self.indexer:
            size = self.indexer.heads * self.indexer.head_dim
            macs["index scores"] = size * scored
        return macs


@dataclass(frozen=True, slots=True)
class Skipped:
    """No attention: nothing, or one square matrix in its place (Nemotron)."""

    linear: bool = False
    bias: bool = False
    heads = kv_heads = cache_heads = head_dim = per_token = 0

    @property
    def kind(self) -> str:
        """What stands in its place."""
        return "a matrix for attention" if self.linear else "no attention"

    def matrices(self, hidden: int) -> list[Matrix]:
        """The square matrix, if there is one."""
        return [Matrix("linear", hidden, hidden, self.bias)] if self.linear else []

    def vectors(self) -> int:
        """None."""
        return 0

    def cached(self, tokens: Any) -> Any:
        """Nothing, of as many sequences as ``tokens`` has."""
        return 0 * tokens

    def read(self, tokens: Any) -> Any:
        """Nothing."""
        return 0 * tokens

    def score_macs(self, tokens: Any, absorbed: bool) -> dict[str, Any]:
        """None."""
        return {}

    def prompt_macs(self, tokens: int) -> dict[str, int]:
        """None."""
        return {}


@dataclass(frozen=True, slots=True)
class Mlp:
    """A dense MLP: gated (three matrices), plain (two), or one square matrix for it."""

    intermediate: int
    gated: bool = True
    bias: bool = False
    linear: bool = False

    def matrices(self, hidden: int) -> list[Matrix]:
        """Gate, up and down of a model of this ``hidden`` size."""
        if self.linear:
            return [Matrix("linear", hidden, hidden, self.bias)]
        names = ("gate", "up") if self.gated else ("up",)
        up = [Matrix(n, hidden, self.intermediate, self.bias) for n in names]
        return [*up, Matrix("down", self.intermediate, hidden, self.bias)]


@dataclass(frozen=True, slots=True)
class Experts:
    """A mixture of experts: a router picks ``top_k`` MLPs for each token.

    Parameters
    ----------
    experts, top_k : int
        How many there are and how many a token passes.
    intermediate : int
        Size of one expert.
    bias : bool
        Biases in the experts (gpt-oss).
    router_bias : bool
        One number an expert besides the router's matrix.
    shared : int
        Size of the shared experts taken together, which every token passes.
    shared_gate : bool
        Whether a vector weighs the shared experts' result (Qwen).
    gated : bool
        Whether experts and shared experts have a gate (those of Nemotron have none).
    latent : int
        Size in which the experts work where it is not the hidden one: a matrix leads
        there and one back.
    """

    experts: int
    top_k: int
    intermediate: int
    bias: bool = False
    router_bias: bool = False
    shared: int = 0
    shared_gate: bool = False
    gated: bool = True
    latent: int = 0

    def matrices(self, hidden: int) -> list[Matrix]:
        """Router, experts, shared experts."""

        def many(one: Matrix) -> Matrix:
            return replace(one, total=self.experts, used=self.top_k)

        names = ("gate", "up") if self.gated else ("up",)
        inside, wide = self.latent or hidden, self.intermediate
        found = [
            Matrix("router", hidden, self.experts, self.router_bias),
            *(many(Matrix(f"expert {n}", inside, wide, self.bias)) for n in names),
            many(Matrix("expert down", wide, inside, self.bias)),
        ]
        if self.latent:
            found.append(Matrix("to experts", hidden, self.latent))
            found.append(Matrix("from experts", self.latent, hidden))
        if self.shared_gate:
            found.append(Matrix("shared weight", hidden, 1))
        if self.shared:
            found += [Matrix(f"shared {n}", hidden, self.shared) for n in names]
            found.append(Matrix("shared down", self.shared, hidden))
        return found

    def touched(self, tokens: Any) -> Any:
        """Experts that at least one of ``tokens`` uses, expected under even routing.

        Each token leaves a given expert out with probability 1 - top_k / experts.
        """
        return self.experts * (1 - (1 - self.top_k / self.experts) ** tokens)

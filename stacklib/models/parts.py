"""The parts of a decoder-only transformer, each with its matrices and its cache.

A layer is an attention and an MLP. Each part lists its matrices and vectors, so
that parameters and work follow by walking the list, and says what one token
leaves in the cache and what a query reads of it. ``language_model`` counts the
same things by closed formulas; tests hold the two together.
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

    @property
    def kind(self) -> str:
        """``MHA``, ``GQA`` or ``MQA``, with the window if there is one."""
        if self.heads == self.kv_heads:
            name = "MHA"
        else:
            name = "MQA" if self.kv_heads == 1 else "GQA"
        return f"{name}, window {self.window}" if self.window else name

    @property
    def cache_heads(self) -> int:
        """Heads the cache can be shared out by."""
        return self.kv_heads

    @property
    def norm_size(self) -> int:
        """Parameters of the query and key norms."""
        copies = {"": 0, "head": 2, "full": self.heads + self.kv_heads}
        return copies[self.qk_norm] * self.head_dim

    def matrices(self, hidden: int) -> list[Matrix]:
        """The four projections of a model of this ``hidden`` size."""
        query, key = self.heads * self.head_dim, self.kv_heads * self.head_dim
        asked = query * (2 if self.gate else 1)
        return [
            Matrix("q and gate" if self.gate else "q", hidden, asked, self.qkv_bias),
            Matrix("k", hidden, key, self.qkv_bias),
            Matrix("v", hidden, key, self.qkv_bias),
            Matrix("o", query, hidden, self.out_bias),
        ]

    def vectors(self) -> int:
        """Parameters that belong to no matrix."""
        return self.norm_size + self.sinks * self.heads

    @property
    def per_token(self) -> int:
        """Numbers one token leaves in the cache."""
        return 2 * self.kv_heads * self.head_dim

    def seen(self, tokens: Any) -> Any:
        """Tokens a query sees of ``tokens``, itself included."""
        return minimum(tokens, self.window) if self.window else tokens

    def cached(self, tokens: Any) -> Any:
        """Numbers the cache of one sequence of ``tokens`` holds."""
        return self.seen(tokens) * self.per_token

    def read(self, tokens: Any) -> Any:
        """Numbers a query moves when the cache holds ``tokens``."""
        return self.cached(tokens)

    def score_macs(self, tokens: Any, absorbed: bool) -> dict[str, Any]:
        """Multiply-adds of one query against ``tokens``, by operation.

        ``absorbed`` says nothing here; only latent attention has two forms.
        """
        each = self.heads * self.head_dim * self.seen(tokens)
        return {"scores": each, "values": each}

    def prompt_macs(self, tokens: int) -> dict[str, int]:
        """Multiply-adds of a whole prompt, each token asking those up to itself."""
        inside = self.seen(tokens)
        pairs = triangle(inside) + (tokens - inside) * inside
        each = self.heads * self.head_dim * pairs
        return {"scores": each, "values": each}


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
    """

    heads: int
    q_lora_rank: int
    kv_lora_rank: int
    nope_head_dim: int
    rope_head_dim: int
    v_head_dim: int

    @property
    def kind(self) -> str:
        """``MLA``."""
        return "MLA"

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
        return [
            *asked,
            Matrix("kv down", hidden, self.kv_lora_rank + self.rope_head_dim),
            Matrix("kv up", self.kv_lora_rank, up),
            Matrix("o", self.heads * self.v_head_dim, hidden),
        ]

    def vectors(self) -> int:
        """Norms of the two latents."""
        return self.q_lora_rank + self.kv_lora_rank

    @property
    def per_token(self) -> int:
        """Latent and rope part of one token."""
        return self.kv_lora_rank + self.rope_head_dim

    def cached(self, tokens: Any) -> Any:
        """Numbers the cache of one sequence of ``tokens`` holds."""
        return tokens * self.per_token

    def read(self, tokens: Any) -> Any:
        """Numbers a query moves when the cache holds ``tokens``."""
        return self.cached(tokens)

    def score_macs(self, tokens: Any, absorbed: bool) -> dict[str, Any]:
        """Multiply-adds of one query against ``tokens``, absorbed or expanded."""
        if absorbed:
            key, value = self.kv_lora_rank + self.rope_head_dim, self.kv_lora_rank
        else:
            key, value = self.head_dim, self.v_head_dim
        pairs = self.heads * tokens
        return {"scores": pairs * key, "values": pairs * value}

    def prompt_macs(self, tokens: int) -> dict[str, int]:
        """Multiply-adds of a whole prompt, expanded."""
        one, pairs = self.score_macs(1, absorbed=False), triangle(tokens)
        return {name: count * pairs for name, count in one.items()}


@dataclass(frozen=True, slots=True)
class Mlp:
    """A dense MLP: gated (three matrices) or plain (two)."""

    intermediate: int
    gated: bool = True
    bias: bool = False

    def matrices(self, hidden: int) -> list[Matrix]:
        """Gate, up and down of a model of this ``hidden`` size."""
        names = ("gate", "up") if self.gated else ("up",)
        up = [Matrix(n, hidden, self.intermediate, self.bias) for n in names]
        return [*up, Matrix("down", self.intermediate, hidden, self.bias)]


@dataclass(frozen=True, slots=True)
class Experts:
    """A mixture of experts: a router picks ``top_k`` gated MLPs for each token.

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
    """

    experts: int
    top_k: int
    intermediate: int
    bias: bool = False
    router_bias: bool = False
    shared: int = 0
    shared_gate: bool = False

    def matrices(self, hidden: int) -> list[Matrix]:
        """Router, experts, shared experts."""

        def many(one: Matrix) -> Matrix:
            return replace(one, total=self.experts, used=self.top_k)

        found = [
            Matrix("router", hidden, self.experts, self.router_bias),
            many(Matrix("expert gate", hidden, self.intermediate, self.bias)),
            many(Matrix("expert up", hidden, self.intermediate, self.bias)),
            many(Matrix("expert down", self.intermediate, hidden, self.bias)),
        ]
        if self.shared_gate:
            found.append(Matrix("shared weight", hidden, 1))
        if self.shared:
            found += [
                Matrix("shared gate", hidden, self.shared),
                Matrix("shared up", hidden, self.shared),
                Matrix("shared down", self.shared, hidden),
            ]
        return found

    def touched(self, tokens: Any) -> Any:
        """Experts that at least one of ``tokens`` uses, expected under even routing.

        Each token leaves a given expert out with probability 1 - top_k / experts.
        """
        return self.experts * (1 - (1 - self.top_k / self.experts) ** tokens)

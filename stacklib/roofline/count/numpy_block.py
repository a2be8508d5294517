"""A transformer block in plain NumPy, and the same block run on arrays that count.

Llama's layer (RMSNorm, rotary embedding, grouped queries, SwiGLU) and GPT-2's
(LayerNorm, biases, GELU). ``run_block`` computes; ``count_block`` runs the same code on
a ``Tape`` and gives the work it did, operation by operation. Neither knows the formulas
of ``operations``; a property test holds the three together.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from stacklib.models import Attention, LanguageModel
from stacklib.quantity.bounds import whole

from ..work.fit import model_of
from ..work.steps import Rule, rule_of
from ..work.work import Work
from .operations import grouped_block, norm_names
from .trace import Tape

Array: TypeAlias = NDArray[np.float64]
Mark: TypeAlias = Callable[[str], AbstractContextManager[None]]
_EPSILON, _THETA = 1e-5, 10_000.0
_GELU_C, _GELU_A = math.sqrt(2 / math.pi), 0.044715


# -- the operations -----------------------------------------------------------


def rms_norm(x: Array, scale: Array) -> Array:
    """x over its root mean square, scaled."""
    mean = (x * x).sum(-1, keepdims=True) / x.shape[-1]
    return x / np.sqrt(mean + _EPSILON) * scale


def layer_norm(x: Array, scale: Array, shift: Array) -> Array:
    """x less its mean, over its deviation, scaled and shifted."""
    centred = x - x.sum(-1, keepdims=True) / x.shape[-1]
    variance = (centred * centred).sum(-1, keepdims=True) / x.shape[-1]
    return centred / np.sqrt(variance + _EPSILON) * scale + shift


def softmax(x: Array) -> Array:
    """Exponentials of each row over their sum."""
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def swiglu(gate: Array, up: Array) -> Array:
    """SiLU of the gate, times the other half."""
    return gate / (1 + np.exp(-gate)) * up


def gelu(x: Array) -> Array:
    """GELU in its tangent form."""
    return x * (1 + np.tanh(_GELU_C * (x + _GELU_A * (x * x * x)))) * 0.5


def rotary(x: Array, cosine: Array, sine: Array, out: Array) -> Array:
    """Both halves of each head turned by the angle of the token."""
    half = x.shape[-1] // 2
    left, right = x[..., :half], x[..., half:]
    np.subtract(left * cosine, right * sine, out=out[..., :half])
    np.add(right * cosine, left * sine, out=out[..., half:])
    return out


def angles(first: int, tokens: int, head_dim: int) -> tuple[Array, Array]:
    """Cosines and sines of ``tokens`` positions from ``first``."""
    rates = _THETA ** -(np.arange(head_dim // 2) * 2 / head_dim)
    turned = np.outer(np.arange(first, first + tokens), rates)[:, None, :]
    return np.cos(turned), np.sin(turned)


# -- the block ----------------------------------------------------------------


@dataclass(slots=True)
class Inputs:
    """What a block is given; (rows, columns) of each array beside it."""

    x: Array  # hidden states of the new tokens, (tokens, hidden)
    weights: dict[str, tuple[Array, ...]]
    keys: Array
    values: Array
    cosine: Array  # (tokens, 1, head_dim / 2)
    sine: Array
    mask: Array  # (tokens, context + tokens)


def random_inputs(
    model: LanguageModel,
    tokens: int,  # new tokens
    context: int = 0,  # tokens cached before them
    *,
    layer: int = 0,
    seed: int = 0,
) -> Inputs:
    """Weights, cache and hidden states of one block, drawn at random."""
    whole(tokens=tokens)
    whole(0, context=context)
    a, mlp = grouped_block(model, layer)
    draw = np.random.default_rng(seed).standard_normal
    weights: dict[str, tuple[Array, ...]] = {}
    for m in [*a.matrices(model.hidden), *mlp.matrices(model.hidden)]:
        matrix = draw((m.rows, m.columns)) / math.sqrt(m.rows)
        weights[m.name] = (matrix, draw(m.columns)) if m.bias else (matrix,)
    for name in norm_names(model, layer):
        vectors = 1 + 0.1 * draw((model.final_norm, model.hidden))
        weights[name] = tuple(vectors)
    for name, heads in (("q", a.heads), ("k", a.kv_heads)) if a.qk_norm else ():
        size = a.head_dim * (heads if a.qk_norm == "full" else 1)
        weights[f"norm {name}"] = tuple(1 + 0.1 * draw((model.final_norm, size)))
    there = context + tokens
    cache = draw((2, there, a.kv_heads, a.head_dim))
    cache[:, context:] = np.nan  # to be written by the block
    age = np.arange(context, there)[:, None] - np.arange(there)
    seen = (age >= 0) & (age < (a.window or there))
    table = angles(context, tokens, a.head_dim)
    return Inputs(
        draw((tokens, model.hidden)),
        weights,
        cache[0].copy(),
        cache[1].copy(),
        *table,
        np.where(seen, 0.0, -np.inf),
    )


@dataclass(slots=True)
class _Run:
    """One pass; ``mark`` names what runs, for a tape that listens."""

    given: Inputs
    attention: Attention
    gated: bool
    turns: bool
    rule: Rule
    mark: Mark

    def block(self) -> Array:
        x = self.given.x
        h = self.norm("attention norm", x)
        h = self.project("o", self.attend(*self.heads(h)))
        h = self.norm("norm after attention", h)
        with self.mark("attention residual"):
            x = x + h
        h = self.mlp(self.norm("MLP norm", x))
        h = self.norm("norm after MLP", h)
        with self.mark("MLP residual"):
            return x + h

    def norm(self, name: str, x: Array) -> Array:
        weights = self.given.weights.get(name)
        if weights is None:
            return x
        with self.mark(name):
            if len(weights) == 2:
                return layer_norm(x, *weights)
            return rms_norm(x, *weights)

    def project(self, name: str, x: Array, out: Array | None = None) -> Array:
        matrix, *bias = self.given.weights[name]
        with self.mark(name):
            y = np.matmul(x, matrix, out=out)
            return np.add(y, *bias, out=out) if bias else y

    def heads(self, h: Array) -> tuple[Array, Array, Array]:
        """Queries (tokens, heads x size); keys and values of the whole cache."""
        a, tokens = self.attention, len(h)
        new = slice(len(self.given.keys) - tokens, None)
        keys, values = self.given.keys[new], self.given.values[new]
        plain = not (a.qk_norm or self.turns)
        q = self.project("q", h)
        k = self.project("k", h, keys.reshape(tokens, -1) if plain else None)
        self.project("v", h, values.reshape(tokens, -1))
        shapes = {"q": (tokens, a.heads, a.head_dim), "k": keys.shape}
        turned = {"q": q, "k": k}
        for name in turned if a.qk_norm else ():
            x = turned[name]
            x = x if a.qk_norm == "full" else x.reshape(shapes[name])
            turned[name] = self.norm(f"norm {name}", x)
        for name in turned if self.turns else ():
            x = turned[name].reshape(shapes[name])
            out = np.empty_like(x) if name == "q" else keys
            with self.mark(f"rotary {name}"):
                turned[name] = rotary(x, self.given.cosine, self.given.sine, out)
        if a.qk_norm and not self.turns:
            raise ValueError("norms of queries and keys without rotary embedding")
        return turned["q"], self.given.keys, self.given.values

    def attend(self, q: Array, keys: Array, values: Array) -> Array:
        """Each query on the keys it sees: (tokens, heads x size)."""
        a, tokens = self.attention, len(q)
        width = a.heads * a.head_dim
        out = np.empty_like(q.reshape(tokens, width))
        groups = (tokens, a.kv_heads, a.heads // a.kv_heads, a.head_dim)
        # (kv_heads, group, tokens, size) on (kv_heads, 1, size, keys)
        asked = q.reshape(groups).transpose(1, 2, 0, 3)
        given = out.reshape(groups).transpose(1, 2, 0, 3)
        k, v = keys.transpose(1, 2, 0)[:, None], values.transpose(1, 0, 2)[:, None]
        last = len(keys) - tokens  # position of the first query
        if not self.rule.fused_attention:
            first = max(0, last - a.window + 1) if a.window else 0
            mask = self.given.mask[:, first:] if tokens > 1 else None
            self.look(asked, k[..., first:], v[:, :, first:], mask, given)
            return out
        with self.mark("attention"):
            for i in range(tokens):
                end = last + i + 1
                seen = slice(max(0, end - a.window) if a.window else 0, end)
                one = slice(i, i + 1)
                self.look(
                    asked[:, :, one],
                    k[..., seen],
                    v[:, :, seen],
                    None,
                    given[:, :, one],
                )
        return out

    def look(
        self, q: Array, k: Array, v: Array, mask: Array | None, out: Array
    ) -> None:
        with self.mark("scores"):
            scores = q @ k
        with self.mark("softmax"):
            scores = scores * self.attention.head_dim**-0.5
            if mask is not None:
                scores = scores + mask
            shares = softmax(scores)
        with self.mark("values"):
            np.matmul(shares, v, out=out)

    def mlp(self, h: Array) -> Array:
        if not self.gated:
            up = self.project("up", h)
            with self.mark("GELU"):
                wide = gelu(up)
            return self.project("down", wide)
        gate, up = self.project("gate", h), self.project("up", h)
        with self.mark("SwiGLU"):
            wide = swiglu(gate, up)
        return self.project("down", wide)


def _silent(name: str) -> AbstractContextManager[None]:
    return nullcontext()


def run_block(
    model: str | LanguageModel,
    given: Inputs,
    *,
    rule: str | Rule = "fused",
    layer: int = 0,
    mark: Mark = _silent,
) -> Array:
    """The hidden states after one block; the new rows of the cache are written."""
    found = model_of(model)
    a, mlp = grouped_block(found, layer)
    # Query by query without what the mask hides, or all pairs and then the mask: the
    # rule says which, the result is the same.
    run = _Run(given, a, mlp.gated, not found.positions, rule_of(rule), mark)
    return run.block()


@dataclass(frozen=True, slots=True)
class Counted:
    """A traced run."""

    works: list[Work]  # by operation, in the order they ran
    output: Array  # hidden states after the block, (tokens, hidden)
    given: Inputs  # what it ran on, as plain arrays, the cache filled


def count_block(
    model: str | LanguageModel,
    tokens: int,  # new tokens
    context: int = 0,  # tokens cached before them
    dtype: str = "bf16",
    *,
    rule: str | Rule = "fused",
    layer: int = 0,
    seed: int = 0,
) -> Counted:
    """Run one block on arrays that count."""
    found, how, tape = model_of(model), rule_of(rule), Tape()
    plain = random_inputs(found, tokens, context, layer=layer, seed=seed)
    given = _on(tape, plain)
    # Every number is followed, and in float64: the format only says its size in memory.
    output = run_block(found, given, rule=how, layer=layer, mark=tape)
    result = tape.keep(output)
    tape.keep(given.keys), tape.keep(given.values)
    filled = {"keys": given.keys, "values": given.values}
    for name, array in filled.items():
        setattr(plain, name, np.array(array.view(np.ndarray)))
    works = [
        tally.work(name, dtype, how)
        for name, tally in tape.tallies.items()
        if name != "attention"  # only holds scores, softmax and values together
    ]
    return Counted(works, result, plain)


def _on(tape: Tape, given: Inputs) -> Inputs:
    def weights(all: Mapping[str, tuple[Array, ...]]) -> dict[str, Any]:
        return {n: tuple(tape.array(w) for w in some) for n, some in all.items()}

    names = ("keys", "values", "cosine", "sine", "mask")
    rest: dict[str, Any] = {name: tape.array(getattr(given, name)) for name in names}
    return Inputs(x=tape.array(given.x), weights=weights(given.weights), **rest)

"""The decoder in NumPy: one function for a prompt, a step, and a whole text.

Every line is one formula of the architecture (Llama's): RMSNorm, rotary positions,
grouped-query attention, SwiGLU, and logits through the embedding itself. A decoder
read from a file may have an output matrix of its own, biases (Qwen 2) and norms of
queries and keys (Qwen 3): each counts where its weight is there. With a cache the keys
and values of earlier tokens are kept and not computed again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .config import Config

Floats: TypeAlias = NDArray[np.float32]
Weights: TypeAlias = Mapping[str, Floats]


@dataclass
class KVCache:
    """Keys and values of the tokens seen so far, for one sequence.

    Parameters
    ----------
    config : Config
        Sizes; room is made for the longest context at once.
    length : int
        Tokens kept.
    """

    config: Config
    length: int = 0
    keys: Floats = field(init=False, repr=False)
    values: Floats = field(init=False, repr=False)

    def __post_init__(self) -> None:
        c = self.config
        shape = (
            c.num_hidden_layers,
            c.num_key_value_heads,
            c.max_position_embeddings,
            c.head_dim,
        )
        self.keys = np.zeros(shape, dtype=np.float32)
        self.values = np.zeros(shape, dtype=np.float32)

    def extend(self, layer: int, keys: Floats, values: Floats) -> tuple[Floats, Floats]:
        """Keep a layer's new keys and values; all of them so far come back.

        ``length`` grows once a forward pass, not once a layer.
        """
        end = self.length + keys.shape[1]
        self.keys[layer, :, self.length : end] = keys
        self.values[layer, :, self.length : end] = values
        return self.keys[layer, :, :end], self.values[layer, :, :end]

    def truncate(self, length: int) -> None:
        """Forget all but the first ``length`` tokens, as a rejected draft asks for.

        Raises
        ------
        ValueError
            When fewer are kept than that.
        """
        if not 0 <= length <= self.length:
            raise ValueError(f"length = {length}: 0 to {self.length} tokens are kept")
        self.length = length


def forward(
    weights: Weights,
    config: Config,
    ids: ArrayLike,  # (tokens,) what is read, after what the cache holds
    cache: KVCache | None = None,  # extended by these tokens
    *,
    last_only: bool = False,
) -> Floats:
    """Logits of the token after each of ``ids``, (tokens, vocab)."""
    ids = np.asarray(ids)
    past = cache.length if cache is not None else 0
    check(ids, past, config)
    x = weights["model.embed_tokens.weight"][ids]
    turn = turns(config)[:, past : past + len(ids)]
    for layer in range(config.num_hidden_layers):
        at = f"model.layers.{layer}."
        y = rms_norm(x, weights[at + "input_layernorm.weight"], config.rms_norm_eps)
        x = x + attention(y, weights, at + "self_attn.", turn, config, cache, layer)
        y = rms_norm(
            x, weights[at + "post_attention_layernorm.weight"], config.rms_norm_eps
        )
        gate = silu(linear(y, weights, at + "mlp.gate_proj"))
        up = linear(y, weights, at + "mlp.up_proj")
        x = x + linear(gate * up, weights, at + "mlp.down_proj")
    if cache is not None:
        cache.length += len(ids)
    # The output matrix is a fifth of the model.
    if last_only:
        x = x[-1:]
    x = rms_norm(x, weights["model.norm.weight"], config.rms_norm_eps)
    own = "lm_head" if "lm_head.weight" in weights else "model.embed_tokens"
    return linear(x, weights, own)


def linear(x: Floats, weights: Weights, name: str) -> Floats:
    """x through a matrix, and its bias where it has one."""
    y: Floats = x @ weights[f"{name}.weight"].T
    return y + weights[f"{name}.bias"] if f"{name}.bias" in weights else y


def check(ids: NDArray[np.int64], past: int, config: Config) -> None:
    """Raise for ids that the model cannot read, or not after so many others."""
    check_ids(ids, config)
    check_room(len(ids), past, config)


def check_ids(ids: NDArray[np.int64], config: Config) -> None:
    """Raise for what is no row of ids."""
    if ids.ndim != 1 or not len(ids) or ids.dtype.kind not in "iu":
        raise ValueError(f"ids {ids.shape} of {ids.dtype}: a row of whole numbers")
    if ids.min() < 0 or ids.max() >= config.vocab_size:
        wrong = ids[(ids < 0) | (ids >= config.vocab_size)][0]
        raise ValueError(f"id {wrong} is outside 0 to {config.vocab_size - 1}")


def check_room(tokens: int, past: int, config: Config) -> None:
    """Raise where the context ends before the last of so many tokens."""
    if past + tokens > config.max_position_embeddings:
        raise ValueError(
            f"{past} + {tokens} tokens do not fit a context of "
            f"{config.max_position_embeddings}"
        )


def attention(
    x: Floats,
    weights: Weights,
    at: str,
    turn: Floats,
    config: Config,
    cache: KVCache | None,
    layer: int,
) -> Floats:
    """Causal attention of x (tokens, hidden) to itself and to the cache."""
    tokens = len(x)

    def heads(name: str) -> Floats:
        flat = linear(x, weights, f"{at}{name}_proj")
        parts = flat.reshape(tokens, -1, config.head_dim).swapaxes(0, 1)
        gain = weights.get(f"{at}{name}_norm.weight")
        return parts if gain is None else rms_norm(parts, gain, config.rms_norm_eps)

    q, k, v = heads("q"), heads("k"), heads("v")
    q, k = rotated(q, turn), rotated(k, turn)
    if cache is not None:
        k, v = cache.extend(layer, k, v)
    # (kv heads, query heads that share one, tokens, head_dim)
    q = q.reshape(len(k), config.groups, tokens, config.head_dim)
    scores = q @ k[:, None].swapaxes(-1, -2) / np.float32(np.sqrt(config.head_dim))
    if tokens > 1:
        past = k.shape[1] - tokens
        seen = np.arange(k.shape[1]) <= past + np.arange(tokens)[:, None]
        scores = np.where(seen, scores, np.float32(-np.inf))
    y = softmax(scores) @ v[:, None]
    y = y.reshape(-1, tokens, config.head_dim).swapaxes(0, 1).reshape(tokens, -1)
    return linear(y, weights, f"{at}o_proj")


def rms_norm(x: Floats, gain: Floats, epsilon: float) -> Floats:
    """x over its root mean square along the last axis, times a gain."""
    square = np.mean(x * x, axis=-1, keepdims=True)
    return x / np.sqrt(square + np.float32(epsilon)) * gain


def silu(x: Floats) -> Floats:
    """x times its logistic sigmoid."""
    # For large -x the exponential overflows to infinity and the quotient to -0.
    with np.errstate(over="ignore"):
        return x / (1 + np.exp(-x))


def softmax(x: Floats) -> Floats:
    """Exponentials over their sum along the last axis."""
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def log_softmax(logits: Floats) -> NDArray[np.float64]:
    """ln p of every token from the logits of each position, in fp64."""
    x = logits.astype(np.float64)
    x -= x.max(axis=-1, keepdims=True)
    return x - np.log(np.exp(x).sum(axis=-1, keepdims=True))


def rotated(x: Floats, turn: Floats) -> Floats:
    """x (heads, tokens, head_dim) turned in planes of its first and second half."""
    first, second = np.split(x, 2, axis=-1)
    cos, sin = turn
    return np.concatenate((first * cos - second * sin, second * cos + first * sin), -1)


@cache
def turns(config: Config) -> Floats:
    """Cosine and sine of every position and plane, (2, context, head_dim / 2)."""
    half: Floats = np.arange(config.head_dim // 2, dtype=np.float32)
    speed = np.float32(config.rope_theta) ** (-2 * half / config.head_dim)
    if config.rope_turns:
        speed = speed / np.array(config.rope_turns, np.float32)
    places: Floats = np.arange(config.max_position_embeddings, dtype=np.float32)
    angle = np.outer(places, speed)
    return np.stack((np.cos(angle), np.sin(angle)))

"""Recurrent layers of every type that has them, from the fields of a config."""

from __future__ import annotations

from .kinds import Kind
from .reading import ConfigError, Reader
from .recurrent import Recurrent

_WORDS = ("full_attention", "linear_attention")


def full_layers(reader: Reader, kind: Kind, layers: int) -> list[bool]:
    """Whether each layer has softmax attention."""
    words = reader.words("layer_types", _WORDS, layers)
    numbers = reader.switches("attn_type_list", layers)
    period = reader.size("full_attention_interval", 4)
    if words is not None:
        return [word == "full_attention" for word in words]
    if numbers is not None:
        return numbers
    if kind.build == "lightning":
        return [i % 2 == 0 for i in range(layers)]
    return [(i + 1) % period == 0 for i in range(layers)]


def _delta(reader: Reader, hidden: int) -> Recurrent:
    """Gated delta rule: queries, keys, values, a gate, and two numbers a head."""
    k_heads = reader.size("linear_num_key_heads", 16)
    v_heads = reader.size("linear_num_value_heads", 32)
    k_dim = reader.size("linear_key_head_dim", 128)
    v_dim = reader.size("linear_value_head_dim", 128)
    if v_heads % k_heads:
        raise ConfigError(
            f"linear_num_value_heads = {v_heads} is no multiple of "
            f"linear_num_key_heads = {k_heads}"
        )
    keys, values = k_heads * k_dim, v_heads * v_dim
    return Recurrent(
        "gated delta rule",
        v_heads,
        k_dim,
        v_dim,
        inputs=(("qkvz", 2 * keys + 2 * values), ("beta and decay", 2 * v_heads)),
        width=values,
        passes=3,
        extras=2 * v_heads + v_dim,
        channels=2 * keys + values,
        kernel=reader.size("linear_conv_kernel_dim", 4),
    )


def _lightning(reader: Reader, hidden: int) -> Recurrent:
    """Lightning attention: linear attention with a fixed decay and an output gate."""
    for factor in ("linear_attn_alpha_factor", "linear_attn_beta_factor"):
        reader.get(factor)
    heads = reader.size("num_attention_heads")
    head = reader.size("head_dim", 0) or hidden // heads
    wide = heads * head
    return Recurrent(
        "lightning attention",
        heads,
        head,
        head,
        inputs=(("qkv", 3 * wide), ("gate", wide)),
        width=wide,
        passes=2,
        extras=wide,
    )


def mamba2(reader: Reader, hidden: int) -> Recurrent:
    """Mamba-2: a state space whose decay, input and output depend on the token."""
    reader.get("time_step_rank")  # of the first Mamba; no matrix here has it
    heads, head = reader.size("num_attention_heads"), reader.size("head_dim")
    inner = heads * head
    if reader.size("expand", 2) * hidden != inner:
        raise ConfigError(
            f"num_heads x head_dim = {inner} is not expand x hidden_size = "
            f"{reader.size('expand', 2)} x {hidden}"
        )
    return selective_state(reader, heads, head, reader.size("state_size"))


def selective_state(reader: Reader, heads: int, head: int, state: int) -> Recurrent:
    """The state space of Mamba-2, by its heads and the sizes of a state."""
    inner = heads * head
    channels = inner + 2 * reader.size("n_groups") * state
    return Recurrent(
        "Mamba-2",
        heads,
        state,
        head,
        inputs=(("in", inner + channels + heads),),
        width=inner,
        passes=2,
        extras=3 * heads + inner,
        bias=reader.flag("use_bias"),
        channels=channels,
        kernel=reader.size("conv_kernel", 4),
        conv_bias=reader.flag("use_conv_bias", True),
    )


# Kind.build of the types that mix softmax attention with a state
STATES = {"delta": _delta, "lightning": _lightning}

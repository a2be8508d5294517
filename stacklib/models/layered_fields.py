"""Types whose layers are read whole: those that leave parts out, and `mixed_fields`.

Each function gives the blocks of the layers in order. Sizes are those of Hugging
Face transformers' classes, or of the code that ships with the release.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from .attention_fields import grouped
from .block import AnyAttention, Block
from .kinds import Kind
from .mixed_fields import best_blocks, gemma4, two_shapes
from .mlp_fields import experts_of
from .parts import Experts, Mlp, Skipped
from .reading import ConfigError, Reader, shown
from .recurrent_fields import selective_state

# what configs call a layer of Nemotron-H: letters of a pattern, or words
_LAYERS = {
    "M": ("mamba", "linear_attention"),
    "*": ("attention", "full_attention"),
    "-": ("mlp",),
    "E": ("moe",),
}
_NAS = {"no_op", "replace_with_linear", "ffn_mult", "n_heads_in_group"}
_NAS_UNCOUNTED = {"hidden_act", "use_prefill_window_in_sink_attention"}


def hybrid(reader: Reader, kind: Kind, hidden: int) -> list[Block]:
    """Nemotron-H: each layer is a state, an attention, an MLP or experts."""
    letters = _letters(reader)
    for word in ("attention_bias", "sliding_window"):
        reader.refuse(word, (False,), "attention of this model_type has none")
    made = {
        letter: Block(*_layer(reader, kind, hidden, letter), norms=1)
        for letter in dict.fromkeys(letters)
    }
    for unused in (
        *("mamba_num_heads", "mamba_head_dim", "ssm_state_size", "n_groups", "expand"),
        *("head_dim", "moe_intermediate_size", "n_routed_experts", "n_shared_experts"),
        *("moe_latent_size", "num_experts_per_tok", "time_step_rank"),
        "moe_shared_expert_intermediate_size",
    ):
        reader.get(unused)  # some releases give sizes of layers they have not
    return [made[letter] for letter in letters]


def _layer(
    reader: Reader, kind: Kind, hidden: int, letter: str
) -> tuple[AnyAttention, Mlp | Experts]:
    """The one part of a layer, and nothing where the other would be."""
    if letter == "M":
        heads, head = reader.size("mamba_num_heads"), reader.size("mamba_head_dim")
        state = reader.size("ssm_state_size")
        return selective_state(reader, heads, head, state), Mlp(0)
    if letter == "*":
        heads = reader.size("num_attention_heads")
        kv_heads = reader.size("num_key_value_heads", heads)
        return grouped(reader, kind, hidden, heads, kv_heads)(0), Mlp(0)
    if letter == "-":
        bias, size = reader.flag("mlp_bias"), reader.size("intermediate_size")
        return Skipped(), Mlp(size, gated=False, bias=bias)
    reader.refuse("mlp_bias", (False,), "experts with biases are not counted")
    return Skipped(), experts_of(reader, kind)


def _letters(reader: Reader) -> str:
    """A letter for each layer, from a text of them or a list of words."""
    label, pattern = reader.get("hybrid_override_pattern")
    words = reader.items("layers_block_type")[1] or reader.items("layer_types")[1]
    reader.items("layer_types")
    if words is not None:
        spelled = {word: letter for letter, said in _LAYERS.items() for word in said}
        for word in words:
            if not isinstance(word, str) or word not in spelled:
                raise ConfigError(
                    f"layers_block_type has {shown(word)}; "
                    f"supported: {', '.join(spelled)}"
                )
        pattern = "".join(spelled[word] for word in words)
    elif not isinstance(pattern, str) or not pattern or set(pattern) - set(_LAYERS):
        raise ConfigError(
            f"{label} = {shown(pattern)}: a text of {' '.join(_LAYERS)} is needed, or "
            "layers_block_type"
        )
    layers = reader.size("num_hidden_layers", len(pattern))
    if len(pattern) != layers:
        raise ConfigError(
            f"num_hidden_layers = {layers}, but {len(pattern)} layers are named"
        )
    return pattern


def searched(reader: Reader, kind: Kind, hidden: int) -> list[Block]:
    """Nemotron-NAS: a search left out or shrank parts, layer by layer."""
    heads = reader.size("num_attention_heads")
    reader.get("num_key_value_heads"), reader.get("intermediate_size")
    label, listed = reader.items("block_configs")
    layers = reader.size("num_hidden_layers")
    if listed is None or len(listed) != layers:
        raise ConfigError(f"{label} = {shown(listed)}: one for each of {layers} layers")
    attention_bias = reader.flag("attention_bias")
    mlp_bias = reader.flag("mlp_bias")
    blocks = []
    for number, one in enumerate(listed):
        where = f"{label}[{number}]"
        parts = [_choice(one, where, name) for name in ("attention", "ffn")]
        a, m = parts
        attention: AnyAttention = Skipped(a.flag("replace_with_linear"), attention_bias)
        if not (a.flag("no_op") or a.flag("replace_with_linear")):
            group = a.size("n_heads_in_group")
            if heads % group:
                raise ConfigError(f"{where}: n_heads_in_group = {group} of {heads}")
            attention = grouped(reader, kind, hidden, heads, heads // group)(0)
        mlp = Mlp(0)
        if m.flag("replace_with_linear"):
            mlp = Mlp(hidden, bias=mlp_bias, linear=True)
        elif not m.flag("no_op"):
            mlp = Mlp(_searched_size(m, hidden), bias=mlp_bias)
        norms = sum(not part.flag("no_op") for part in parts)
        blocks.append(Block(attention, mlp, norms))
    return blocks


def _choice(one: object, where: str, name: str) -> Reader:
    part = one.get(name) if isinstance(one, dict) else None
    if not isinstance(part, dict):
        raise ConfigError(f"{where}.{name} = {shown(part)}: a JSON object is needed")
    for field, value in part.items():
        if field not in _NAS and field not in _NAS_UNCOUNTED and value:
            raise ConfigError(f"{where}.{name}.{field} = {shown(value)} is not known")
    return Reader(part, {}, {}, f"{where}.{name}.")


def _searched_size(part: Reader, hidden: int) -> int:
    """Two thirds of a multiple of the hidden size, rounded up to 256."""
    label, times = part.get("ffn_mult")
    fine = isinstance(times, (int, float)) and not isinstance(times, bool)
    if not fine or not math.isfinite(times) or not 0 < times <= 1000:
        raise ConfigError(f"{label} = {shown(times)}: a number above 0 is needed")
    return -(-int(2 * times * hidden / 3) // 256) * 256


# Kind.build of the types whose layers are read here
LAYERED: dict[str, Callable[[Reader, Kind, int], list[Block]]] = {
    "hybrid": hybrid,
    "searched": searched,
    "gemma4": gemma4,
    "two shapes": two_shapes,
    "best blocks": best_blocks,
}

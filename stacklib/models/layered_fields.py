"""Types whose layers differ in more than their windows, from the fields of a config.

Each function gives the blocks of the layers in order. Sizes are those of Hugging
Face transformers' classes, or of the code that ships with the release.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from .attention_fields import grouped, layer_windows
from .block import AnyAttention, Block
from .kinds import Kind
from .mlp_fields import experts_of, mlps_of
from .parts import Attention, Experts, Indexer, Mlp, Skipped
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
    """Nemotron-H: a layer is a state, an attention, an MLP or experts, with one norm."""
    letters = _letters(reader)
    for word in ("attention_bias", "sliding_window"):
        reader.refuse(word, (False,), "attention of this model_type has none")
    made: dict[str, tuple[AnyAttention, Mlp | Experts]] = {}
    for letter in letters:
        if letter in made:
            continue
        if letter == "M":
            heads = reader.size("mamba_num_heads")
            head = reader.size("mamba_head_dim")
            state = reader.size("ssm_state_size")
            made[letter] = selective_state(reader, heads, head, state), Mlp(0)
        elif letter == "*":
            heads = reader.size("num_attention_heads")
            kv_heads = reader.size("num_key_value_heads", heads)
            made[letter] = grouped(reader, kind, hidden, heads, kv_heads)(0), Mlp(0)
        elif letter == "-":
            bias, size = reader.flag("mlp_bias"), reader.size("intermediate_size")
            made[letter] = Skipped(), Mlp(size, gated=False, bias=bias)
        else:
            reader.refuse("mlp_bias", (False,), "experts with biases are not counted")
            made[letter] = Skipped(), experts_of(reader, kind)
    for unused in (
        *("mamba_num_heads", "mamba_head_dim", "ssm_state_size", "n_groups", "expand"),
        *("head_dim", "moe_intermediate_size", "n_routed_experts", "n_shared_experts"),
        *("moe_latent_size", "num_experts_per_tok", "time_step_rank"),
        "moe_shared_expert_intermediate_size",
    ):
        reader.get(unused)  # some releases give sizes of layers they have not
    return [Block(*made[letter], norms=1) for letter in letters]


def _letters(reader: Reader) -> str:
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


def gemma4(reader: Reader, kind: Kind, hidden: int) -> list[Block]:
    """Gemma 4: full layers have wider heads, the last borrow their keys and values."""
    layers = reader.size("num_hidden_layers", most=10_000)
    heads, kv_heads = reader.size("num_attention_heads"), reader.size(
        "num_key_value_heads"
    )
    reader.size("sliding_window")
    windows = layer_windows(reader, kind, layers)
    windows[-1] = 0  # the class makes the last layer a full one
    one_matrix = reader.flag("attention_k_eq_v")
    near = grouped(reader, kind, hidden, heads, kv_heads)
    wide_kv = reader.size("num_global_key_value_heads", kv_heads)
    far = near(0)
    assert isinstance(far, Attention)
    far = replace(
        far,
        head_dim=reader.size("global_head_dim", 512),
        kv_heads=wide_kv if one_matrix else kv_heads,
        keys="values too" if one_matrix else "",
    )
    if heads % far.kv_heads:
        raise ConfigError(f"num_global_key_value_heads = {wide_kv} of {heads} heads")
    borrowed = reader.size("num_kv_shared_layers", 0, least=0, most=layers)
    lenders = set(map(bool, windows[: layers - borrowed]))
    if borrowed and lenders != set(map(bool, windows)):
        raise ConfigError(
            f"num_kv_shared_layers = {borrowed}: no earlier layer of that kind"
        )
    double = reader.flag("use_double_wide_mlp")
    inner = reader.size("intermediate_size")
    experts = _beside_experts(reader, kind, inner)
    more = reader.size("hidden_size_per_layer_input", 256, least=0)
    norms = kind.norms + (4 if experts else 0) + (1 if more else 0)
    blocks = []
    for layer, window in enumerate(windows):
        attention, mlp = near(window) if window else far, experts or Mlp(inner)
        assert isinstance(attention, Attention)
        if layer >= layers - borrowed:
            attention = replace(attention, keys="borrowed")
            mlp = Mlp(2 * inner) if double and not experts else mlp
        blocks.append(Block(attention, mlp, norms, layer_input=more, scalars=1))
    return blocks


def _beside_experts(reader: Reader, kind: Kind, inner: int) -> Experts | None:
    """Experts beside the MLP, which every token passes like a shared one."""
    if reader.flag("enable_moe_block"):
        return replace(experts_of(reader, kind), shared=inner, router_bias=True)
    for size in ("num_experts", "top_k_experts", "moe_intermediate_size"):
        reader.get(size)
    return None


def two_shapes(reader: Reader, kind: Kind, hidden: int) -> list[Block]:
    """MiMo-V2: layers with a window have sinks and KV heads of their own."""
    layers = reader.size("num_hidden_layers", most=10_000)
    heads = reader.size("num_attention_heads")
    kv_heads = reader.size("num_key_value_heads")
    value = reader.size("v_head_dim")
    full = grouped(reader, kind, hidden, heads, kv_heads)(0)
    assert isinstance(full, Attention)
    near = Reader(reader.raw, {}, {}, reader.prefix)
    near_heads = near.size("swa_num_attention_heads", heads)
    near_kv = near.size("swa_num_key_value_heads", 2 * kv_heads)
    if near_heads % near_kv:
        raise ConfigError(f"swa_num_key_value_heads = {near_kv} of {near_heads} heads")
    reader.get("attention_chunk_size"), reader.get("sliding_window_size")
    window = replace(
        full,
        heads=near_heads,
        kv_heads=near_kv,
        head_dim=near.size("swa_head_dim", full.head_dim),
        window=reader.size("sliding_window"),
        value_dim=near.size("swa_v_head_dim", value),
        sinks=near.flag("add_swa_attention_sink_bias", True),
    )
    reader.used |= near.used
    full = replace(
        full, value_dim=value, sinks=reader.flag("add_full_attention_sink_bias")
    )
    words = reader.words(
        "layer_types", ("full_attention", "sliding_attention"), layers
    )
    slides = reader.switches("hybrid_layer_pattern", layers)
    if words:
        slides = [word == "sliding_attention" for word in words]
    if slides is None:
        raise ConfigError("config lacks 'hybrid_layer_pattern' or 'layer_types'")
    mlps = mlps_of(reader, kind, hidden, layers)
    return [
        Block(window if near_layer else full, mlp)
        for near_layer, mlp in zip(slides, mlps, strict=True)
    ]


def best_blocks(reader: Reader, kind: Kind, hidden: int) -> list[Block]:
    """MiniMax-M3: an indexer picks the blocks of tokens that a query sees."""
    layers = reader.size("num_hidden_layers", most=10_000)
    heads = reader.size("num_attention_heads")
    kv_heads = reader.size("num_key_value_heads")
    reader.refuse("qk_norm_type", ("per_head",), "this model_type has one a head")
    full = grouped(reader, kind, hidden, heads, kv_heads)(0)
    assert isinstance(full, Attention)
    raw = reader.raw.get("sparse_attention_config")
    reader.get("sparse_attention_config")
    sparse = [False] * layers
    if raw is not None:
        s = Reader(
            reader.table("sparse_attention_config"),
            {},
            {},
            f"{reader.prefix}sparse_attention_config.",
        )
        if s.flag("use_sparse_attention", True):
            sparse = s.switches("sparse_attention_freq", layers) or sparse
        s.refuse("sparse_init_block", (0,), "a first block for all is not counted")
        bare = s.switches("sparse_disable_index_value", layers) or [True] * layers
        if any(picks and not none for picks, none in zip(sparse, bare, strict=True)):
            raise ConfigError("sparse_disable_index_value has 0 where an indexer picks")
        indexer = Indexer(
            s.size("sparse_num_index_heads"),
            s.size("sparse_index_dim"),
            s.size("sparse_topk_blocks") * s.size("sparse_block_size"),
        )
        picked = replace(full, indexer=indexer)
    size = reader.size("intermediate_size")
    reader.refuse("moe_intermediate_size", (size,), f"intermediate_size is {size}")
    mlps = mlps_of(reader, kind, hidden, layers)
    return [
        Block(picked if chosen else full, mlp)
        for chosen, mlp in zip(sparse, mlps, strict=True)
    ]


# Kind.build of the types whose layers are read here
LAYERED: dict[str, Callable[[Reader, Kind, int], list[Block]]] = {
    "hybrid": hybrid,
    "searched": searched,
    "gemma4": gemma4,
    "two shapes": two_shapes,
    "best blocks": best_blocks,
}

"""Attention of every layer, from the fields of a config."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from .block import AnyAttention
from .compressed import CompressedAttention
from .kinds import Kind
from .mlp_fields import told
from .parts import Attention, Indexer, LatentAttention
from .reading import ConfigError, Reader, shown
from .recurrent_fields import STATES, full_layers, mamba2

_WINDOW_WORDS = ("full_attention", "sliding_attention")
_INDEXED_WORDS = ("indexed_attention", "deepseek_sparse_attention")
# what a layer of DeepSeek-V4 is called, and the rate configs give instead
_RATES = {
    "sliding_attention": 0,
    "compressed_sparse_attention": 4,
    "heavily_compressed_attention": 128,
}


def attention_kinds(
    reader: Reader, kind: Kind, hidden: int, layers: int
) -> tuple[list[AnyAttention], int, int]:
    """The attention of each layer, norms a layer, and residual streams."""
    if kind.build == "latent":
        return _latents(reader, kind, layers), kind.norms, 0
    if kind.build == "mamba2":
        return [mamba2(reader, hidden)] * layers, kind.norms, 0
    if kind.build == "compressed":
        streams = reader.size("hc_mult", 4, most=1000)
        return _compressed(reader, layers), kind.norms, streams
    heads = reader.size("num_attention_heads")
    norms, kv_heads = kind.norms, None
    if kind.build == "falcon":
        kv_heads, norms = _falcon(reader, heads)
    elif kind.build == "bigcode":
        default = 1 if reader.flag("multi_query", True) else heads
        kv_heads = reader.size("num_key_value_heads", default)
    elif (
        kind.kv_optional
        or reader.has("num_key_value_heads")
        or kind.defaults.get("num_key_value_heads")
    ):
        kv_heads = reader.size("num_key_value_heads", heads)
    else:
        kv_heads = reader.size("num_key_value_heads")  # says that it is missing
    if kind.parallel_flag and reader.flag(kind.parallel_flag):
        norms = 1
    make = grouped(reader, kind, hidden, heads, kv_heads)
    if kind.build in STATES:
        state = STATES[kind.build](reader, hidden)
        full = full_layers(reader, kind, layers)
        return [make(0) if softmax else state for softmax in full], norms, 0
    if not all(reader.switches("attn_type_list", layers) or [True]):
        raise ConfigError("attn_type_list has 0: this model_type keeps no state")
    return [make(w) for w in layer_windows(reader, kind, layers)], norms, 0


def grouped(
    reader: Reader, kind: Kind, hidden: int, heads: int, kv_heads: int
) -> Callable[[int], Attention]:
    """Attention of one shape, made with the window it is given."""
    if heads % kv_heads:
        raise ConfigError(
            f"num_attention_heads = {heads} is no multiple of "
            f"num_key_value_heads = {kv_heads}"
        )
    head_dim = reader.size("head_dim", 0)
    if not head_dim and hidden % heads:
        raise ConfigError(
            f"hidden_size = {hidden} is no multiple of num_attention_heads = {heads}"
        )
    head_dim = head_dim or hidden // heads
    qk_norm = kind.qk_norm
    if kind.qk_flag and not reader.flag(kind.qk_flag):
        qk_norm = ""
    elif qk_norm:  # a flag that says what the type always has
        reader.refuse("use_qk_norm", (True,), "this model_type has these norms")
    for gate in ("attn_output_gate", "attention_output_gate"):
        reader.refuse(gate, (kind.gate,), f"this model_type has {kind.gate}")
    qkv_bias, out_bias = told(reader, kind.qkv_bias), told(reader, kind.out_bias)

    def make(window: int) -> Attention:
        return Attention(
            heads, kv_heads, head_dim, window, qkv_bias, out_bias, qk_norm,
            kind.sinks, kind.gate,
        )  # fmt: skip

    return make


def _falcon(reader: Reader, heads: int) -> tuple[int, int]:
    """KV heads and norms a layer of Falcon's two architectures."""
    new = reader.flag("new_decoder_architecture")
    parallel = reader.flag("parallel_attn")
    multi = reader.flag("multi_query")
    norms = reader.size("num_ln_in_parallel_attn", 2 if new else 1, most=2)
    listed = reader.size("num_key_value_heads", heads)
    if new:
        return listed, norms
    return (1 if multi else heads), norms if parallel else 2


def layer_windows(reader: Reader, kind: Kind, layers: int) -> list[int]:
    """The sliding window of each layer, 0 for none."""
    if kind.window == "chunks":
        return _chunks(reader, layers)
    rule, words = kind.window, reader.words("layer_types", _WINDOW_WORDS, layers)
    if words is not None:
        reader.get("sliding_window_pattern")  # the list says which layers slide
    if not rule:
        reader.refuse("sliding_window", (), "this model_type has no windows")
    switched = rule.startswith("qwen") or rule == "refused"
    if switched and not reader.flag("use_sliding_window"):
        for ignored in ("sliding_window", "max_window_layers"):
            reader.get(ignored)
        size = 0
    else:
        size = reader.size("sliding_window", 0)
    if words is not None:
        if "sliding_attention" in words and not size:
            label = reader.prefix + "layer_types"
            raise ConfigError(f"{label} has sliding layers but there is no window size")
        return [size if w == "sliding_attention" else 0 for w in words]
    if not size:
        return [0] * layers
    # Releases of the class disagree on which layers slide.
    if rule == "refused":
        raise ConfigError("use_sliding_window = true needs layer_types")
    # Full attention first, windows from a layer on.
    if rule in ("qwen", "dots"):
        first = reader.size(
            "max_window_layers", layers if rule == "dots" else 28, least=0
        )
        return [size if i >= first else 0 for i in range(layers)]
    # Every n layers one without a window.
    if rule.startswith("every"):
        period = reader.size("sliding_window_pattern", int(rule.split()[1]))
        return [0 if (i + 1) % period == 0 else size for i in range(layers)]
    return [size] * layers


def _chunks(reader: Reader, layers: int) -> list[int]:
    """Llama 4: a layer that rotates positions looks back within its chunk only.

    A chunk counts as a window of its size, the most that a query of it sees.
    """
    reader.get("use_qk_norm")  # its norms have no weights
    words = reader.words("layer_types", ("full_attention", "chunked_attention"), layers)
    label, rotates = reader.items("no_rope_layers")
    period = reader.size("no_rope_layer_interval", 4)
    size = reader.size("attention_chunk_size", 8192)
    if rotates and len(rotates) != layers:
        raise ConfigError(f"{label} has {len(rotates)} entries for {layers} layers")
    chunked = [bool(r) for r in rotates or []]
    chunked = chunked or [(i + 1) % period != 0 for i in range(layers)]
    if words is not None:
        chunked = [word == "chunked_attention" for word in words]
    return [size if c else 0 for c in chunked]


def _latents(reader: Reader, kind: Kind, layers: int) -> list[AnyAttention]:
    """Latent attention of each layer, with an indexer where the type has them."""
    reader.get("num_key_value_heads")  # the expanded heads; the cache has none
    reader.get("head_dim")  # some releases write the rope part here
    if not reader.has("q_lora_rank"):
        raise ConfigError("config lacks 'q_lora_rank'; null for none")
    plain = LatentAttention(
        heads=reader.size("num_attention_heads"),
        q_lora_rank=reader.size("q_lora_rank", 0, least=0),
        kv_lora_rank=reader.size("kv_lora_rank"),
        nope_head_dim=reader.size("qk_nope_head_dim"),
        rope_head_dim=reader.size("qk_rope_head_dim"),
        v_head_dim=reader.size("v_head_dim"),
    )
    if not kind.indexed:
        return [plain] * layers
    if not plain.q_lora_rank:
        raise ConfigError("q_lora_rank = 0: the indexer's queries come from it")
    top = reader.size("index_topk")
    sizes = reader.size("index_n_heads"), reader.size("index_head_dim")
    own = replace(plain, selected=top, indexer=Indexer(*sizes, top))
    again = replace(plain, selected=top)
    return [own if has else again for has in _own_indexers(reader, layers)]


def _own_indexers(reader: Reader, layers: int) -> list[bool]:
    """Whether each layer picks its tokens itself, or takes those of one before."""
    words = reader.words("indexer_types", ("full", "shared"), layers)
    label, pattern = reader.get("index_topk_pattern")
    period = reader.size("index_topk_freq", 1)
    offset = reader.size("index_skip_topk_offset", 2, least=0)
    reader.get("index_share_for_mtp_iteration")
    reader.words("layer_types", _INDEXED_WORDS, layers)
    if words is None and pattern is not None:
        if not isinstance(pattern, str) or set(pattern) - {"F", "S"}:
            raise ConfigError(f"{label} = {shown(pattern)}: a text of F and S")
        if len(pattern) != layers:
            raise ConfigError(f"{label} has {len(pattern)} for {layers} layers")
        words = ["full" if letter == "F" else "shared" for letter in pattern]
    if words is not None:
        if words[0] != "full":
            raise ConfigError(f"{label}: the first layer has no choice to share")
        return [word == "full" for word in words]
    return [max(i - offset + 1, 0) % period == 0 for i in range(layers)]


def _compressed(reader: Reader, layers: int) -> list[AnyAttention]:
    for unused in (
        "qk_rope_head_dim",
        "qk_nope_head_dim",
        "kv_lora_rank",
        "first_k_dense_replace",
        "compress_rope_theta",
    ):
        reader.get(unused)
    heads, head_dim = reader.size("num_attention_heads"), reader.size("head_dim")
    groups = reader.size("o_groups")
    if heads * head_dim % groups:
        raise ConfigError(f"o_groups = {groups} does not divide {heads} heads")
    common = {
        "heads": heads,
        "head_dim": head_dim,
        "q_lora_rank": reader.size("q_lora_rank"),
        "o_lora_rank": reader.size("o_lora_rank"),
        "o_groups": groups,
        "window": reader.size("sliding_window"),
    }
    indexer = Indexer(
        reader.size("index_n_heads"),
        reader.size("index_head_dim"),
        reader.size("index_topk"),
    )
    made = {
        rate: CompressedAttention(
            **common,
            rate=rate,
            indexer=indexer if word.startswith("compressed") else None,
        )
        for word, rate in _RATES.items()
    }
    return [made[rate] for rate in _layer_rates(reader, layers)]


def _layer_rates(reader: Reader, layers: int) -> list[int]:
    """The compression rate of each layer, by name or by number."""
    rates = reader.get("compress_rates")[1]
    standard = {word: rate for word, rate in _RATES.items() if rate}
    if rates is not None and rates != standard:
        raise ConfigError(
            f"compress_rates = {shown(rates)}: only {standard} is counted"
        )
    words = reader.words("layer_types", tuple(_RATES), layers)
    label, numbers = reader.items("compress_ratios")
    if words is not None:
        return [_RATES[w] for w in words]
    if numbers is None:
        raise ConfigError("config lacks 'layer_types' or 'compress_ratios'")
    # one more for each multi-token-prediction layer
    extra = reader.size("num_nextn_predict_layers", 0, least=0)
    if len(numbers) not in (layers, layers + extra):
        raise ConfigError(f"{label} has {len(numbers)} entries for {layers} layers")
    for number in numbers:
        if isinstance(number, bool) or number not in _RATES.values():
            raise ConfigError(f"{label} has {shown(number)}; supported: 0, 4, 128")
    return [int(n) for n in numbers[:layers]]

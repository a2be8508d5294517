"""A GGUF file as a LanguageModel: its sizes from the facts, its bytes from the tensors.

An architecture of llama.cpp's is a Hugging Face type under another name; a row says
which, and which facts of the file that type reads. The type's own rules then count
(``config``), and the tensors of the file hold them to it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any

from stacklib.quantity import Source
from stacklib.quantity.stored import HALF, Stored

from ..config import from_hf_config
from ..language_model import LanguageModel
from ..parts import Experts
from ..reading import ConfigError, shown
from ..recurrent import Recurrent
from ..weights.kept import Kept
from ..weights.mixtures import Way
from ..weights.tensors import OUTSIDE, Tensor
from .gguf_header import Entry, Header, read_header
from .gguf_values import Listed

# facts of every architecture, and the fields of a config that they are
_ALWAYS = {
    "block_count": "num_hidden_layers",
    "embedding_length": "hidden_size",
    "context_length": "max_position_embeddings",
    "attention.head_count": "num_attention_heads",
    "feed_forward_length": "intermediate_size",
}
# facts that only some read, by a word for them
_SETS: dict[str, dict[str, str]] = {
    "kv": {"attention.head_count_kv": "num_key_value_heads"},
    "head": {"attention.key_length": "head_dim"},
    "window": {"attention.sliding_window": "sliding_window"},
    "experts": {
        "expert_count": "num_experts",
        "expert_used_count": "num_experts_per_tok",
    },
    "small": {"expert_feed_forward_length": "moe_intermediate_size"},
    "as mlp": {"expert_feed_forward_length": "intermediate_size"},
    "besides": {
        "feed_forward_length": "intermediate_size_mlp",
        "interleave_moe_layer_step": "interleave_moe_layer_step",
    },
    "shared": {"expert_shared_feed_forward_length": "shared_expert_intermediate_size"},
    "some shared": {"expert_shared_count": "n_shared_experts"},
    "dense first": {"leading_dense_block_count": "first_k_dense_replace"},
    "delta": {
        "ssm.group_count": "linear_num_key_heads",
        "ssm.time_step_rank": "linear_num_value_heads",
        "ssm.state_size": "linear_key_head_dim",
        "ssm.conv_kernel": "linear_conv_kernel_dim",
        "full_attention_interval": "full_attention_interval",
    },
    "mamba": {
        "ssm.group_count": "n_groups",
        "ssm.time_step_rank": "mamba_num_heads",
        "ssm.state_size": "ssm_state_size",
        "ssm.conv_kernel": "conv_kernel",
    },
    "routed": {
        "expert_count": "n_routed_experts",
        "expert_shared_feed_forward_length": "moe_shared_expert_intermediate_size",
        "moe_latent_size": "moe_latent_size",
    },
    "near and far": {
        "attention.key_length_swa": "head_dim",
        "attention.key_length": "global_head_dim",
        "attention.shared_kv_layers": "num_kv_shared_layers",
        "embedding_length_per_layer_input": "hidden_size_per_layer_input",
    },
    "latent": {
        "attention.q_lora_rank": "q_lora_rank",
        "attention.kv_lora_rank": "kv_lora_rank",
        "rope.dimension_count": "qk_rope_head_dim",
    },
}
# architecture: type, sets of facts, and what the type's config says besides
_NO_WINDOW: dict[str, Any] = {"sliding_window": None}
ARCHITECTURES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "llama": ("llama", "kv,head", {}),
    "mixtral": ("mixtral", "kv,experts", _NO_WINDOW),  # llama with experts
    "llama4": ("llama4_text", "kv,head,experts,as mlp,besides", {}),
    "mistral3": ("ministral3", "kv,head", _NO_WINDOW),
    "qwen2": ("qwen2", "kv", {}),
    "qwen2moe": ("qwen2_moe", "kv,experts,small,shared", {}),
    "qwen3": ("qwen3", "kv,head", {}),
    "qwen3moe": ("qwen3_moe", "kv,head,experts,small", {}),
    "qwen2vl": ("qwen2", "kv", {}),
    "qwen3vl": ("qwen3", "kv,head", {}),
    "qwen3vlmoe": ("qwen3_moe", "kv,head,experts,small", {}),
    "qwen3next": ("qwen3_next", "kv,head,experts,small,shared,delta", {}),
    "qwen35": ("qwen3_5_text", "kv,head,delta", {}),
    "qwen35moe": ("qwen3_5_moe_text", "kv,head,experts,small,shared,delta", {}),
    "gemma": ("gemma", "kv,head", {}),
    "gemma2": ("gemma2", "kv,head,window", {}),
    "gemma3": ("gemma3_text", "kv,head,window", {}),
    "gemma4": ("gemma4_text", "window,experts,small,near and far", {}),
    "phi3": ("phi3", "kv", _NO_WINDOW),
    "gpt-oss": ("gpt_oss", "kv,head,window,experts,as mlp", {}),
    "deepseek2": ("deepseek_v3", "experts,small,some shared,dense first,latent", {}),
    "glm4": ("glm4", "kv,head", {"attention_bias": True}),
    "glm4moe": (
        *("glm4_moe", "kv,head,experts,small,some shared,dense first"),
        {"attention_bias": True},
    ),
    "dots1": ("dots1", "kv,head,experts,small,some shared,dense first", {}),
    "minimax-m2": ("minimax_m2", "kv,head,experts,as mlp", {}),
    "olmo2": ("olmo2", "kv", {}),
    "olmoe": ("olmoe", "kv,experts", {}),
    "granite": ("granite", "kv", {}),
    "command-r": ("cohere", "kv", {}),
    "cohere2": ("cohere2", "kv,window", {}),
    "starcoder2": ("starcoder2", "kv", _NO_WINDOW),
    "seed_oss": ("seed_oss", "kv,head", {}),
    "smollm3": ("smollm3", "kv", {}),
    "exaone4": ("exaone4", "kv,window", {}),
    "internlm2": ("internlm2", "kv", {}),
    "arcee": ("arcee", "kv,head", {}),
    "nemotron_h": ("nemotron_h", "kv,head,mamba", {}),
    "nemotron_h_moe": (
        *("nemotron_h", "kv,head,mamba,experts,small,some shared,routed"),
        {},
    ),
    "gpt2": ("gpt2", "", {}),
}
# what llama.cpp calls the matrices of a layer
_LAYER = dict(
    pair.split(": ")
    for pair in (
        "attn_q: q, attn_k: k, attn_v: v, attn_output: o, attn_qkv: qkv, "
        "attn_q_a: q down, attn_q_b: q up, attn_kv_a_mqa: kv down, attn_kv_b: kv up, "
        "attn_k_b: kv up, attn_v_b: kv up, ffn_gate: gate, ffn_up: up, ffn_down: down, "
        "ffn_gate_inp: router, exp_probs_b: router, ffn_gate_exps: expert gate, "
        "ffn_up_exps: expert up, ffn_down_exps: expert down, "
        "ffn_gate_shexp: shared gate, ffn_up_shexp: shared up, "
        "ffn_down_shexp: shared down, ffn_gate_inp_shexp: shared weight, "
        "ssm_in: qkvz, ssm_ba: beta and decay, ssm_conv1d: convolution, ssm_out: o, "
        "attn_gate: qkvz, ssm_beta: beta and decay, ssm_alpha: beta and decay, "
        "ffn_gate_up_exps: expert up, inp_gate: gate layer input, "
        "proj: add layer input, attn_k_norm: key norm"
    ).split(", ")
)
_INPUT = "project layer input"  # one tensor in a file, of which each layer has a share
_WHOLE = {
    "token_embd": ("embedding", "embedding"),
    "per_layer_token_embd": ("tables", "tables"),
    "output": ("head", "output"),
    "position_embd": ("positions", "positions"),
    "per_layer_model_proj": ("matrix", _INPUT),
    "per_layer_proj_norm": ("tables", "tables"),  # with the table, as `tables` has it
}
_BLOCK = re.compile(r"blk\.(\d+)\.([a-z0-9_]+?)(?:\.(\d+))?\.(weight|bias|scale)")
_LATER = re.compile(r"-(\d{5})-of-(\d{5})\.gguf$")
_FEW = 1 << 12  # layers of a list that has an entry for each
# read with the model, but no parameters of it
_BOTH = (True, False)  # with a window, and without
_APART = ("rope_freqs", "rope_factors_long", "rope_factors_short")


@dataclass(frozen=True, slots=True)
class Piece:
    """A tensor of a file: what it is in the model, its format and bytes."""

    layer: int
    part: str
    name: str
    numbers: int
    row: Stored
    nbytes: float


def from_gguf(path: str | Path) -> LanguageModel:
    """A LanguageModel from the header of a GGUF file, its weights as the file has them.

    Parameters
    ----------
    path : path
        The file; of a split one the first, whose other parts lie beside it.

    Raises
    ------
    ConfigError
        For a file that is cut off or no GGUF, a part that is missing, an architecture
        or a fact that is not known (the key is named), and tensors that are not as
        many numbers as the architecture counts.
    """
    headers = _parts(read_header(path))
    first = headers[0]
    entries = [entry for header in headers for entry in header.tensors]
    names = {entry.name for entry in entries}
    try:
        pieces = [p for p in map(_piece, entries) if p]
    except ConfigError as wrong:  # a type that is not known
        raise ConfigError(f"{first.path}: {wrong}") from None
    config, facts = _config(first, entries)
    name = first.facts.get("general.name")
    if not isinstance(name, str) or not 0 < len(name) <= 200 or not name.isprintable():
        name = first.path.stem
    source = Source(first.path.name, "", date.today().isoformat(), "vendor")
    try:
        model = from_hf_config(config, key=first.path.stem, name=name, source=source)
    except ConfigError as wrong:
        raise ConfigError(f"{first.path}: {_by_key(str(wrong), facts)}") from None
    if model.unused and f"blk.{model.layers - 1}.attn_k.weight" not in names:
        model = replace(model, unused=0)  # left out of the file
    pieces = [part for p in pieces for part in _by_layer(p, model.layers)]
    extra = [p for p in pieces if p.layer >= model.layers]
    if extra:  # of a model that predicts several tokens, and read by none here
        arch = first.facts["general.architecture"]
        if not first.facts.get(f"{arch}.nextn_predict_layers"):
            raise ConfigError(
                f"{first.path}: {arch}.block_count = {model.layers}, but there are "
                f"tensors of layer {extra[0].layer}"
            )
        also = ("multi-token-prediction layers",)
        model = replace(model, left_out=model.left_out + also)
    words = f"every tensor as {first.path.name} has it"
    way = Way(first.path.stem, words, "", HALF)
    return kept_as(model, way, [p for p in pieces if p not in extra], str(first.path))


def kept_as(
    model: LanguageModel, way: Way, pieces: Iterable[Piece], where: str
) -> LanguageModel:
    """The model with its weights as a file has them.

    - raises ``ConfigError`` where the file's tensors are not as many numbers as the
      model has
    """
    pieces = [*pieces]
    rows = [(_tensor(model, p), p.row, p.nbytes) for p in pieces]
    there, counted = sum(p.numbers for p in pieces), int(model.parameters.si)
    without = counted - model.vision
    if not (0.999 * without <= there <= 1.001 * counted):
        raise ConfigError(
            f"{where}: its tensors hold {there:,} numbers, and a model of its sizes "
            f"has {counted:,}"
        )
    return replace(model, kept=Kept(way, tuple(rows)))


def _by_layer(p: Piece, layers: int) -> list[Piece]:
    """The piece, or a share of it for each layer."""
    if p.name != _INPUT:
        return [p]
    numbers, nbytes = p.numbers // layers, p.nbytes / layers
    return [replace(p, layer=n, numbers=numbers, nbytes=nbytes) for n in range(layers)]


def _tensor(model: LanguageModel, p: Piece) -> Tensor:
    name, experts = p.name, None
    if 0 <= p.layer < model.layers:
        block = model.kinds[model.pattern[p.layer]]
        keys = getattr(block.attention, "keys", "")
        if keys == "borrowed" and name in ("k", "v", "key norm"):  # no token passes
            return Tensor("unused", "unused", p.layer, p.numbers, 1, read=False)
        if block.scalars and p.part == "vectors":  # Gemma 4's router, and its experts'
            name = {"router": "norms", "expert down": "router"}.get(name, name)
        if keys == "values too" and name == "k":
            name = "k and v"
        if isinstance(block.mlp, Experts) and name in ("gate", "up", "down"):
            name = f"shared {name}"
        name = "norms" if name == "key norm" else name
        if name.startswith("expert ") and isinstance(block.mlp, Experts):
            experts = block.mlp
        if name == "q" and getattr(block.attention, "gate", False):
            name = "q and gate"
        if name in ("qkv", "qkvz") and isinstance(block.attention, Recurrent):
            name = block.attention.inputs[0][0]
    read = p.part not in ("positions", "vision", "tables")
    if p.part == "embedding":
        read = model.tied
    return Tensor(p.part, name, p.layer, p.numbers, 1, 1, experts, read)


def _piece(entry: Entry) -> Piece | None:
    """What a tensor is in a model, by its name."""
    size = (entry.numbers, entry.stored, entry.nbytes)
    found = _BLOCK.fullmatch(entry.name)
    if not found:
        word = entry.name.split(".")[0]
        if word in _APART:
            return None
        part, name = _WHOLE.get(word, ("vectors", "norms"))
        if entry.name.endswith(".bias"):
            part = "vectors"
        return Piece(OUTSIDE, part, name, *size)
    layer, word, expert, end = found.groups()
    if expert is not None:  # before experts were one tensor
        word += "_exps"
    name = _LAYER.get(word, word if end == "weight" else "norms")
    if word in _APART:
        return None
    small = end != "weight" or len(entry.shape) < 2
    if small and word not in _LAYER:
        name = "norms"
    return Piece(int(layer), "vectors" if small else "matrix", name, *size)


def _parts(first: Header) -> list[Header]:
    """The headers of all parts of a split file."""
    count = first.facts.get("split.count", 0)
    if not isinstance(count, int) or not 0 <= count <= 10_000:
        raise ConfigError(f"{first.path}: split.count = {shown(count)}: not a count")
    if count < 2:
        return [first]
    found = _LATER.search(first.path.name)
    if not found or int(found[2]) != count or first.facts.get("split.no") != 0:
        raise ConfigError(
            f"{first.path}: split.count = {count}: name the first part, "
            f"NAME-00001-of-{count:05}.gguf"
        )
    stem = first.path.name[: found.start()]
    rest = range(2, count + 1)
    names = (f"{stem}-{n:05}-of-{count:05}.gguf" for n in rest)
    return [first, *(read_header(first.path.with_name(name)) for name in names)]


def _config(
    header: Header, entries: Iterable[Entry]
) -> tuple[dict[str, Any], dict[str, str]]:
    """The facts as a config that ``from_hf_config`` reads, and what its fields were."""
    facts, shapes = header.facts, {e.name: e.shape for e in entries}
    arch = facts.get("general.architecture")
    if not isinstance(arch, str):
        raise ConfigError(f"{header.path}: general.architecture = {shown(arch)}")
    mixed = bool(facts.get(f"{arch}.expert_count"))
    row = ARCHITECTURES.get("mixtral" if arch == "llama" and mixed else arch)
    if row is None:
        known = ", ".join(ARCHITECTURES)
        raise ConfigError(
            f"{header.path}: general.architecture = {shown(arch)} is not known; "
            f"known are {known}"
        )
    kind, sets, besides = row
    config: dict[str, Any] = {"model_type": kind, **besides}
    wanted = dict(_ALWAYS)
    for name in filter(None, sets.split(",")):
        wanted |= _SETS[name]
    for key, field in wanted.items():
        if kind == "gemma4_text" and key == "feed_forward_length":
            continue  # may differ by layer
        value = _fact(header, f"{arch}.{key}", kind == "nemotron_h")
        if value is not None:
            config[field] = value
        elif key in _ALWAYS and not (key == "feed_forward_length" and "small" in sets):
            raise ConfigError(f"{header.path}: the file lacks {arch}.{key}")
    table = shapes.get("token_embd.weight")
    if not table or len(table) != 2:
        raise ConfigError(f"{header.path}: token_embd.weight = {shown(table)}")
    config["vocab_size"] = table[0]
    config["tie_word_embeddings"] = "output.weight" not in shapes
    if kind == "llama":
        config["attention_bias"] = "blk.0.attn_q.bias" in shapes
        config["mlp_bias"] = "blk.0.ffn_up.bias" in shapes
    later = _fact(header, f"{arch}.nextn_predict_layers") or 0
    if 0 < later < config["num_hidden_layers"]:
        config["num_hidden_layers"] -= later
    if kind == "deepseek_v3":
        config |= _latent(header, arch, config, shapes)
    if kind == "gemma4_text":
        config |= _near_and_far(header, arch, config, shapes)
    if heads := config.get("linear_num_value_heads"):
        wide = _fact(header, f"{arch}.ssm.inner_size") or 0
        config["linear_value_head_dim"] = wide // heads
    if kind == "nemotron_h":
        config["hybrid_override_pattern"] = _letters(header, arch, config)
        config["mamba_head_dim"] = (_fact(header, f"{arch}.ssm.inner_size") or 0) // (
            config.get("mamba_num_heads") or 1
        )
    if kind == "glm4_moe":
        config["use_qk_norm"] = "blk.0.attn_q_norm.weight" in shapes
    return config, wanted


def _latent(
    header: Header,
    arch: str,
    config: Mapping[str, Any],
    shapes: Mapping[str, tuple[int, ...]],
) -> dict[str, Any]:
    """Sizes of latent attention, which the files since 2025 give under other keys."""
    sizes = []
    for word in ("key", "value"):
        found = _fact(header, f"{arch}.attention.{word}_length_mla")
        found = found or _fact(header, f"{arch}.attention.{word}_length")
        if found is None:
            raise ConfigError(f"{header.path}: lacks {arch}.attention.{word}_length")
        sizes.append(found)
    chosen = any(".exp_probs_b." in name for name in shapes)
    return {
        "qk_nope_head_dim": sizes[0] - config.get("qk_rope_head_dim", 0),
        "v_head_dim": sizes[1],
        "topk_method": "noaux_tc" if chosen else "greedy",
        "q_lora_rank": config.get("q_lora_rank"),
    }


def _letters(header: Header, arch: str, config: Mapping[str, Any]) -> str:
    """What each layer of Nemotron-H is: a state where it has neither heads nor MLP."""
    kinds = [
        _each(header, f"{arch}.{key}", config["num_hidden_layers"], once=False)
        for key in ("feed_forward_length", "attention.head_count_kv")
    ]
    mlp = "E" if "n_routed_experts" in config else "-"
    return "".join(
        mlp if ff else "*" if kv else "M" for ff, kv in zip(*kinds, strict=True)
    )


def _near_and_far(
    header: Header,
    arch: str,
    config: Mapping[str, Any],
    shapes: Mapping[str, tuple[int, ...]],
) -> dict[str, Any]:
    """Gemma 4's layers with a window and without, and those that borrow keys."""
    layers = config["num_hidden_layers"]
    near = _each(header, f"{arch}.attention.sliding_window_pattern", layers)
    heads = _each(header, f"{arch}.attention.head_count_kv", layers)
    inner = _each(header, f"{arch}.feed_forward_length", layers)
    kinds = [
        {n for n, w in zip(heads, near, strict=True) if bool(w) is k} for k in _BOTH
    ]
    own = layers - config.get("num_kv_shared_layers", 0)
    wide = inner[-1] == 2 * inner[0]
    for key, fine in (
        ("attention.head_count_kv", all(len(k) == 1 for k in kinds)),
        (
            "feed_forward_length",
            inner[own:] == [(1 + wide) * inner[0]] * (layers - own),
        ),
        ("feed_forward_length", inner[:own] == inner[:1] * own),
    ):
        if not fine:
            listed = header.facts[f"{arch}.{key}"]
            need = "one for each kind of layer is needed"
            raise ConfigError(f"{header.path}: {arch}.{key} = {shown(listed)}: {need}")
    full = near.index(0)
    tables = shapes.get("per_layer_token_embd.weight", (config["vocab_size"],))
    return {
        "layer_types": [("full", "sliding")[bool(w)] + "_attention" for w in near],
        "num_key_value_heads": kinds[0].pop(),
        "num_global_key_value_heads": kinds[1].pop(),
        "attention_k_eq_v": f"blk.{full}.attn_v.weight" not in shapes,
        "intermediate_size": inner[0],
        "use_double_wide_mlp": wide,
        "enable_moe_block": bool(config.get("num_experts")),
        "vocab_size_per_layer_input": tables[0],
        "hidden_size_per_layer_input": config.get("hidden_size_per_layer_input", 0),
    }


def _each(header: Header, key: str, layers: int, once: bool = True) -> list[int]:
    """A fact's whole number, or truth, of each layer; ``once``: or one for all."""
    value = header.facts.get(key)
    if once and isinstance(value, int):
        return [value] * layers
    if not isinstance(value, Listed) or not layers <= len(value) <= _FEW:
        need = f"an entry for each of {layers} layers is needed"
        raise ConfigError(f"{header.path}: {key} = {shown(value)}: {need}")
    if not all(isinstance(entry, int) for entry in value):
        raise ConfigError(f"{header.path}: {key} = {shown(value)}: whole numbers")
    return value[:layers]


def _by_key(message: str, facts: Mapping[str, str]) -> str:
    """A message with the file's keys where the config's fields stand."""
    for key, field in facts.items():
        message = re.sub(rf"\b{field}\b", key, message)
    return message


def _fact(header: Header, key: str, some: bool = False) -> int | None:
    """A whole number; of a list with an entry a layer the one that all, or some, have.

    ``some``: whether layers without it have a 0 there.
    """
    value = header.facts.get(key)
    if value is None:
        return None
    if isinstance(value, Listed) and 0 < len(value) <= _FEW:
        first = next(filter(None, value), 0) if some else value[0]
        if all(v == first or (some and v == 0) for v in value):
            value = first
    if isinstance(value, bool) or not isinstance(value, int):
        need = "one whole number for all layers is needed"
        raise ConfigError(f"{header.path}: {key} = {shown(value)}: {need}")
    return value

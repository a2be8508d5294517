"""A Hugging Face ``config.json`` as a LanguageModel."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

from stacklib.quantity import Source
from stacklib.quantity.bounds import is_whole

from .attention_fields import attention_kinds
from .block import Block
from .files.released import as_released
from .kinds import (
    ALIASES,
    HARMLESS,
    KINDS,
    MULTIMODAL,
    RENAMED,
    STRUCTURAL,
    Kind,
)
from .language_model import LanguageModel
from .parts import Experts, Mlp
from .reading import ConfigError, Reader, load, shown
from .vision import tower

SUPPORTED = tuple(sorted([*KINDS, *MULTIMODAL, *RENAMED]))
_MOST_LAYERS = 10_000
ANY_TEXT = ("llava", "mistral3")  # built around a text model of several types
RENAMED_FALCON = tuple(old for old, new in RENAMED.items() if new == "falcon")
_EXPERT_FIELDS = ("n_routed_experts", "num_experts_per_tok")


def from_hf_config(
    config: str | Path | Mapping[str, Any],
    *,
    key: str = "",
    name: str = "",
    source: Source | None = None,
) -> LanguageModel:
    """A LanguageModel from a Hugging Face config.

    Fields that a type's own class has a value for may be absent where releases
    leave them out; the rest may not. ``quantization_config`` changes how numbers
    are stored, not how many there are: it is named in ``left_out``, as are
    multi-token-prediction layers (``num_nextn_predict_layers``), which no count
    includes.

    Parameters
    ----------
    config : path or dict
        ``config.json`` of one of the types in ``models.SUPPORTED``.
    key, name : str
        How the model is called; default: the file's name.
    source : Source
        Where the config was read; default: the file itself.

    Raises
    ------
    ConfigError
        For unreadable JSON, a missing field, a field of the wrong type or size,
        sizes that do not divide, more experts a token than there are, a list of
        the wrong length, a type that is not supported, or a field that would
        change the parameters in a way not counted. The message names the field.

    Examples
    --------
    >>> shape = {"model_type": "gpt2", "vocab_size": 50257, "n_embd": 768}
    >>> rest = {"n_layer": 12, "n_head": 12, "n_positions": 1024}
    >>> from_hf_config({**shape, **rest}).parameters.text()
    '124 million'
    """
    raw, origin = load(config)
    title = raw.get("_name_or_path")
    if not isinstance(title, str) or not 0 < len(title) <= 200:
        title = origin
    told = source or Source(origin, "", date.today().isoformat(), "vendor")
    try:
        return as_released(_read(raw, key or title, name or title, told), raw)
    except RecursionError:
        raise ConfigError(f"{origin}: nested too deeply") from None


def _read(raw: dict[str, Any], key: str, name: str, source: Source) -> LanguageModel:
    type_name = raw.get("model_type")
    if not isinstance(type_name, str):
        raise ConfigError(
            f"model_type = {shown(type_name)}: a name such as 'llama' is needed"
        )
    if type_name not in SUPPORTED:
        raise ConfigError(
            f"model_type = {shown(type_name)} is not supported; "
            f"supported: {', '.join(SUPPORTED)}"
        )
    outer, prefix, whole_type = None, "", type_name
    if type_name in MULTIMODAL:
        outer = Reader(raw, {}, {})
        raw, type_name, prefix = _text_part(outer, type_name)
    kind = KINDS[RENAMED.get(type_name, type_name)]
    reader = Reader(raw, kind.defaults, ALIASES, prefix)
    if type_name == "RefinedWeb":
        reader.defaults = {**kind.defaults, "new_decoder_architecture": True}
    model = _text_model(reader, kind, key, name, source)
    _refuse_unread(reader)
    if outer is None:
        return model
    left_out, vision = _left_out(outer), 0
    if whole_type == "gemma3":
        vision = tower(outer, model.hidden)
    elif outer.get("vision_config")[1]:
        left_out += ("vision tower and projector",)
    tied = outer.flag("tie_word_embeddings", whole_type == "gemma3" or model.tied)
    if prefix:
        _refuse_unread(outer)
    return replace(model, vision=vision, tied=tied, left_out=left_out)


def _text_part(outer: Reader, whole: str) -> tuple[dict[str, Any], str, str]:
    """The text model's own fields, its type, and where they stand.

    Older releases of Qwen's keep them beside those of the vision tower.
    """
    usual = MULTIMODAL[whole]
    if not outer.has("text_config") and outer.has("num_hidden_layers"):
        text = {k: v for k, v in outer.raw.items() if k != "vision_config"}
        return text, usual, ""
    raw = outer.table("text_config")
    kind = raw.get("model_type", usual)
    allowed = {usual, "llama", "mistral", "qwen2"} if whole in ANY_TEXT else {usual}
    if kind not in allowed:
        names = " or ".join(sorted(allowed))
        raise ConfigError(f"text_config.model_type = {shown(kind)}: not {names}")
    return raw, kind, "text_config."


def _flag(reader: Reader, flag: bool | str) -> bool:
    return reader.flag(flag) if isinstance(flag, str) else flag


def _text_model(
    reader: Reader, kind: Kind, key: str, name: str, source: Source
) -> LanguageModel:
    for field, harmless in kind.refuse.items():
        reader.refuse(field, (harmless,), f"only {harmless!r} is counted")
    hidden = reader.size("hidden_size")
    layers = reader.size("num_hidden_layers", most=_MOST_LAYERS)
    vocab = reader.size("vocab_size")
    context = reader.size("max_position_embeddings", least=0 if not kind.mlp else 1)
    if reader.size("word_embed_proj_dim", hidden) != hidden:
        raise ConfigError("word_embed_proj_dim differs from hidden_size: not supported")
    attentions, norms, streams = attention_kinds(reader, kind, hidden, layers)
    mlps = _mlps(reader, kind, hidden, layers)
    blocks = [
        Block(a, m, norms * kind.norm, streams)
        for a, m in zip(attentions, mlps, strict=True)
    ]
    kinds = tuple(dict.fromkeys(blocks))
    places = {block: number for number, block in enumerate(kinds)}
    return LanguageModel(
        key=key,
        name=name,
        vocab=vocab,
        hidden=hidden,
        kinds=kinds,
        pattern=tuple(places[block] for block in blocks),
        max_context=context,
        tied=reader.flag("tie_word_embeddings"),
        source=source,
        final_norm=kind.norm,
        embedding_norm=kind.norm if kind.embedding_norm else 0,
        positions=context + kind.positions if kind.positions >= 0 else 0,
        head_bias=_flag(reader, kind.head_bias),
        streams=streams,
        left_out=_left_out(reader),
    )


def _left_out(reader: Reader) -> tuple[str, ...]:
    found = []
    # Tied in every Falcon: huggingface/transformers#35715, vllm-project/vllm#3590.
    if reader.raw.get("model_type") in ("falcon", *RENAMED_FALCON):
        found.append("a second copy of the tied output matrix in the release's files")
    reader.get("use_mtp"), reader.get("mtp_transformer_layers")
    nextn = reader.size("num_nextn_predict_layers", 0, least=0)
    if nextn or reader.size("num_mtp_modules", 0, least=0):
        found.append("multi-token-prediction layers")
    if reader.get("quantization_config")[1]:
        found.append("block scales of the quantized release")
    return tuple(found)


def _mlps(reader: Reader, kind: Kind, hidden: int, layers: int) -> list[Mlp | Experts]:
    if not kind.mlp:
        reader.get(kind.dense_size)  # of nothing
        return [Mlp(0)] * layers
    sparse = _sparse_layers(reader, kind, layers)
    experts = _experts(reader, kind) if any(sparse) else None
    if kind.experts and experts is None:  # sizes of experts no layer has
        for field in (*_EXPERT_FIELDS, kind.expert_size, kind.shared_size):
            reader.get(field)
    dense = None
    if not all(sparse):
        default = {"default": kind.wide * hidden} if kind.wide else {}
        size = reader.size(kind.dense_size, **default)
        dense = Mlp(size, kind.gated, _flag(reader, kind.mlp_bias))
    else:
        reader.get(kind.dense_size)  # some releases name a size no layer has
    if kind.router_bias == "hash":
        return list(_hashed(reader, experts, layers))
    chosen: list[Mlp | Experts] = []
    for is_sparse in sparse:
        part = experts if is_sparse else dense
        assert part is not None
        chosen.append(part)
    return chosen


def _sparse_layers(reader: Reader, kind: Kind, layers: int) -> list[bool]:
    if not kind.experts:
        return [False] * layers
    if kind.experts == "all":
        return [True] * layers
    if kind.experts == "listed":
        return _listed(reader, layers)
    listed = reader.words("mlp_layer_types", ("dense", "sparse"), layers)
    if kind.experts == "step":
        only = _indices(reader, "mlp_only_layers", layers)
        step = reader.size("decoder_sparse_step", 1)
        ruled = [i not in only and (i + 1) % step == 0 for i in range(layers)]
    else:
        first = reader.size("first_k_dense_replace", least=0)
        step = reader.size("moe_layer_freq", 1)
        ruled = [i >= first and i % step == 0 for i in range(layers)]
    return [word == "sparse" for word in listed] if listed else ruled


def _listed(reader: Reader, layers: int) -> list[bool]:
    """Llama 4: the layers of a list, or every so many."""
    step = reader.size("interleave_moe_layer_step", 1)
    if reader.items("moe_layers")[1] is not None:
        only = _indices(reader, "moe_layers", layers)
        return [i in only for i in range(layers)]
    return [(i + 1) % step == 0 for i in range(layers)]


def _indices(reader: Reader, name: str, layers: int) -> set[int]:
    label, values = reader.items(name)
    for value in values or []:
        if not is_whole(value):
            raise ConfigError(f"{label} has {shown(value)}: whole numbers are needed")
        if not 0 <= value < layers:
            raise ConfigError(f"{label} has {shown(value)}: not one of {layers} layers")
    return set(values or [])


def _experts(reader: Reader, kind: Kind) -> Experts:
    experts = reader.size("n_routed_experts", most=10**6)
    top_k = reader.size("num_experts_per_tok")
    if top_k > experts:
        raise ConfigError(f"num_experts_per_tok = {top_k} of {experts} experts")
    size = reader.size(kind.expert_size)
    shared = 0
    if kind.shared_size == "n_shared_experts":
        if not reader.has("n_shared_experts"):
            raise ConfigError("config lacks 'n_shared_experts'; null for none")
        shared = size * reader.size("n_shared_experts", 0, least=0)
    elif kind.shared_size:
        shared = reader.size(kind.shared_size)
    bias = kind.router_bias is True or kind.router_bias == "hash"
    if kind.router_bias == "noaux_tc":
        method = reader.get("topk_method", "noaux_tc")[1]
        if method not in ("noaux_tc", "greedy", "group_limited_greedy"):
            raise ConfigError(f"topk_method = {shown(method)} is not supported")
        bias = method == "noaux_tc"
    return Experts(
        experts,
        top_k,
        size,
        bias=kind.sinks,  # gpt-oss has both
        router_bias=bias,
        shared=shared,
        shared_gate=kind.shared_size == "shared_expert_intermediate_size",
    )


def _hashed(reader: Reader, experts: Experts | None, layers: int) -> list[Experts]:
    """DeepSeek-V4: the first layers look their experts up, without a router bias."""
    assert experts is not None
    listed = reader.words("mlp_layer_types", ("hash_moe", "moe"), layers)
    first = reader.size("num_hash_layers", 3, least=0)
    if listed:
        hashed = [word == "hash_moe" for word in listed]
    else:
        hashed = [i < first for i in range(layers)]
    plain = replace(experts, router_bias=False)
    return [plain if h else experts for h in hashed]


def _refuse_unread(reader: Reader) -> None:
    """A field that would change the parameters, and was not read, is an error."""
    for field, value in reader.raw.items():
        if field in reader.used or field in HARMLESS or not _says_something(value):
            continue
        if re.search(STRUCTURAL, field):
            raise ConfigError(
                f"{reader.prefix}{shown(field)[1:-1]} = {shown(value)} is not known "
                f"for this model_type; it may change the parameters"
            )


def _says_something(value: Any) -> bool:
    if value is None or isinstance(value, (bool, int, float, str, list, tuple, dict)):
        return bool(value)
    return True

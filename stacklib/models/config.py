"""A Hugging Face ``config.json`` as a LanguageModel."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

from stacklib.quantity import Source

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
    UNCOUNTED,
    Kind,
)
from .language_model import LanguageModel
from .layered_fields import LAYERED
from .mixed_fields import tables, unused
from .mlp_fields import mlps_of, told
from .reading import ConfigError, Reader, load, shown
from .vision import audio, tower

SUPPORTED = tuple(sorted([*KINDS, *MULTIMODAL, *RENAMED]))
_MOST_LAYERS = 10_000
# what else the text part of a whole may be
OTHER_TEXTS = {
    "llava": ("mistral", "qwen2"),
    "mistral3": ("llama", "qwen2", "ministral3"),
    "kimi_k25": ("deepseek_v3",),
}
_TIED_WHOLE = ("gemma3", "gemma4")  # unless the whole says otherwise
RENAMED_FALCON = tuple(old for old, new in RENAMED.items() if new == "falcon")
# how many layers predict further tokens, and what else is said of them
_PREDICTING = ("num_nextn_predict_layers", "num_mtp_modules", "mtp_num_hidden_layers")
_PREDICTING_HOW = (
    *("use_mtp", "mtp_transformer_layers", "mtp_use_dedicated_embeddings"),
    *("mtp_hybrid_override_pattern", "mtp_layers_block_type"),
)


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
    are stored, not how many there are (``kept``). Multi-token-prediction layers
    (``num_nextn_predict_layers``), which no count includes, are named in ``left_out``.

    Parameters
    ----------
    config : path or dict
        ``config.json`` of one of the types in ``models.SUPPORTED``, or its folder.
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
    left_out, vision = (*model.left_out, *_left_out(outer)), 0
    if whole_type == "gemma3" or outer.get("vision_config")[1]:
        counted = tower(outer, whole_type, model.hidden)
        vision = counted or 0
        left_out += () if counted else ("vision tower and projector",)
    if outer.get("audio_config")[1]:
        vision += audio(outer, model.hidden)
    tied = outer.flag("tie_word_embeddings", whole_type in _TIED_WHOLE or model.tied)
    if prefix:
        _refuse_unread(outer)
    left_out = tuple(dict.fromkeys(left_out))
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
    kind = usual if raw.get("model_type") is None else raw["model_type"]
    allowed = {usual, *OTHER_TEXTS.get(whole, ())}
    if not isinstance(kind, str) or kind not in allowed:
        names = " or ".join(sorted(allowed))
        raise ConfigError(f"text_config.model_type = {shown(kind)}: not {names}")
    return raw, kind, "text_config."


def _text_model(
    reader: Reader, kind: Kind, key: str, name: str, source: Source
) -> LanguageModel:
    for field, harmless in kind.refuse.items():
        reader.refuse(field, (harmless,), f"only {harmless!r} is counted")
    hidden = reader.size("hidden_size")
    vocab = reader.size("vocab_size")
    absent = [0] if kind.positions < 0 else []  # a table of them needs its rows
    least = 1 if kind.mlp else 0
    context = reader.size("max_position_embeddings", *absent, least=least)
    if reader.size("word_embed_proj_dim", hidden) != hidden:
        raise ConfigError("word_embed_proj_dim differs from hidden_size: not supported")
    if kind.build in LAYERED:
        blocks = LAYERED[kind.build](reader, kind, hidden)
    else:
        blocks = _blocks(reader, kind, hidden)
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
        head_bias=told(reader, kind.head_bias),
        streams=blocks[0].streams,
        tables=tables(reader, len(blocks)) if kind.build == "gemma4" else 0,
        unused=unused(reader, blocks, hidden),
        left_out=_left_out(reader),
    )


def _blocks(reader: Reader, kind: Kind, hidden: int) -> list[Block]:
    layers = reader.size("num_hidden_layers", most=_MOST_LAYERS)
    attentions, norms, streams = attention_kinds(reader, kind, hidden, layers)
    mlps = mlps_of(reader, kind, hidden, layers)
    return [
        Block(a, m, norms * kind.norm, streams)
        for a, m in zip(attentions, mlps, strict=True)
    ]


def _left_out(reader: Reader) -> tuple[str, ...]:
    found = []
    # Tied in every Falcon: huggingface/transformers#35715, vllm-project/vllm#3590.
    if reader.raw.get("model_type") in ("falcon", *RENAMED_FALCON):
        found.append("a second copy of the tied output matrix in the release's files")
    counts = [reader.size(name, 0, least=0) for name in _PREDICTING]
    for detail in _PREDICTING_HOW:
        reader.get(detail)
    if any(counts):
        found.append("multi-token-prediction layers")
    return tuple(found)


def _refuse_unread(reader: Reader) -> None:
    """A field that would change the parameters, and was not read, is an error."""
    for field, value in reader.raw.items():
        if field in reader.used or field in HARMLESS or not _says_something(value):
            continue
        if re.search(UNCOUNTED, field):
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

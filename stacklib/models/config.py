"""Reading a Hugging Face ``config.json`` without trusting it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any

from stacklib.quantity import Source

from .language_model import LanguageModel

SUPPORTED = ("llama", "mistral", "qwen2", "qwen3")
_MOST = 10**9  # no size of a real model is larger
_FILE_LIMIT = 1_000_000  # bytes; real configs have a few thousand


class ConfigError(ValueError):
    """A config that cannot be read or is not supported; names the field."""


def _size(raw: Mapping[str, Any], name: str, default: int | None = None) -> int:
    value = raw.get(name)
    if value is None:
        if default is None:
            raise ConfigError(f"config lacks {name!r}")
        return default
    if isinstance(value, bool) or not isinstance(value, int):
        raise ConfigError(f"{name} = {value!r}: a whole number is needed")
    if not 0 < value <= _MOST:
        raise ConfigError(f"{name} = {value!r}: not between 1 and {_MOST}")
    return value


def _flag(raw: Mapping[str, Any], name: str, default: bool) -> bool:
    value = raw.get(name, default)
    if not isinstance(value, bool):
        raise ConfigError(f"{name} = {value!r}: true or false is needed")
    return value


def _load(config: str | Path | Mapping[str, Any]) -> tuple[Mapping[str, Any], str]:
    if isinstance(config, Mapping):
        return config, "config given as a dict"
    if not isinstance(config, (str, Path)):
        raise ConfigError(f"a path or a dict is needed, not {config!r}")
    path = Path(config)
    try:
        if path.stat().st_size > _FILE_LIMIT:
            raise ConfigError(f"{path}: larger than {_FILE_LIMIT} bytes")
        raw = json.loads(path.read_text(encoding="utf-8"))
    except OSError as wrong:
        raise ConfigError(f"{path}: {wrong.strerror}") from None
    except (ValueError, RecursionError) as wrong:
        if isinstance(wrong, ConfigError):
            raise
        reason = str(wrong) or "nested too deeply"
        raise ConfigError(f"{path}: not readable JSON: {reason}") from None
    if not isinstance(raw, dict):
        raise ConfigError(f"{path}: a JSON object is needed, not {type(raw).__name__}")
    return raw, path.name


def _check_kind(raw: Mapping[str, Any]) -> str:
    kind = raw.get("model_type")
    if not isinstance(kind, str):
        raise ConfigError(f"model_type = {kind!r}: a name such as 'llama' is needed")
    if kind not in SUPPORTED:
        raise ConfigError(
            f"model_type = {kind!r} is not supported; "
            f"supported: {', '.join(SUPPORTED)}"
        )
    if raw.get("mlp_bias"):
        raise ConfigError("mlp_bias = true is not supported")
    return kind


def from_hf_config(
    config: str | Path | Mapping[str, Any],
    *,
    key: str = "",
    name: str = "",
    source: Source | None = None,
) -> LanguageModel:
    """A LanguageModel from a Hugging Face config.

    Parameters
    ----------
    config : path or dict
        ``config.json`` of a dense Llama, Mistral or Qwen model.
    key, name : str
        How the model is called; default: the file's name.
    source : Source
        Where the config was read; default: the file itself.

    Raises
    ------
    ConfigError
        For unreadable JSON, a missing field, a field of the wrong type or size,
        heads that do not divide, or an architecture that is not supported. The
        message names the field.
    """
    raw, origin = _load(config)
    kind = _check_kind(raw)
    heads = _size(raw, "num_attention_heads")
    kv_heads = _size(raw, "num_key_value_heads", heads)
    hidden = _size(raw, "hidden_size")
    if heads % kv_heads:
        raise ConfigError(
            f"num_attention_heads = {heads} is no multiple of "
            f"num_key_value_heads = {kv_heads}"
        )
    if raw.get("head_dim") is None and hidden % heads:
        raise ConfigError(
            f"hidden_size = {hidden} is no multiple of num_attention_heads = {heads}"
        )
    title = raw.get("_name_or_path") or origin
    return LanguageModel(
        key=key or str(title),
        name=name or str(title),
        vocab=_size(raw, "vocab_size"),
        hidden=hidden,
        intermediate=_size(raw, "intermediate_size"),
        layers=_size(raw, "num_hidden_layers"),
        heads=heads,
        kv_heads=kv_heads,
        head_dim=_size(raw, "head_dim", hidden // heads),
        max_context=_size(raw, "max_position_embeddings"),
        tied=_flag(raw, "tie_word_embeddings", False),
        attention_bias=_flag(raw, "attention_bias", kind == "qwen2"),
        qk_norm=kind == "qwen3",
        source=source or Source(origin, "", date.today().isoformat(), "vendor"),
    )

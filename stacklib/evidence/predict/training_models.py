"""The model and its sizes that a row of published training names."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from functools import cache, lru_cache

from stacklib import models
from stacklib.interconnect.parallelism.megatron import gpt
from stacklib.models.language_model import LanguageModel
from stacklib.models.parts import Attention

from ..measurements import Measurement, Refusal

# Layers, hidden size, heads, vocabulary, and whether the MLP is gated, as published.
_SHAPES = {
    "gpt 22b": (48, 6144, 64, 51200, False),  # V. Korthikanti et al., 2022, table 3
    "gpt 175b": (96, 12288, 96, 51200, False),
    "gpt 530b": (105, 20480, 128, 51200, False),
    "gpt 1t": (128, 25600, 160, 51200, False),
    "palm 540b": (118, 18432, 48, 256000, True),  # A. Chowdhery et al., 2022, table 1
    "llama 7b": (32, 4096, 32, 32000, True),  # H. Touvron et al., 2023, table 2
    "llama 13b": (40, 5120, 40, 32000, True),
    "llama 33b": (60, 6656, 52, 32000, True),
    "llama 65b": (80, 8192, 64, 32000, True),
}
_INNER = {6656: 17920, 8192: 22016, 4096: 11008, 5120: 13824}  # of LLaMA's MLPs
_ASPECT = 128  # hidden numbers a layer of a model of which a size alone is known
SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*(m|b|t)\b", re.IGNORECASE)


def words(row: Measurement) -> str:
    return f"{row.software};{row.settings};{row.notes}".lower()


@cache
def plain(text: str) -> str:
    """A setting's name without case, blanks, hyphens and underscores."""
    return re.sub(r"[\s_-]", "", text.lower())


def key(row: Measurement, *keys: str) -> str | None:
    """How a row spells the first of some settings that it gives."""
    spelled = {plain(k): k for k, v in row.config.items() if v is not True}
    return next((spelled[plain(k)] for k in keys if plain(k) in spelled), None)


def first(row: Measurement, *keys: str) -> int | None:
    held = key(row, *keys)
    return None if held is None else row.integer(held)


def _size(text: str) -> float | None:
    """Parameters that a text names, in billions."""
    said = SIZE.search(text)
    if not said:
        return None
    return float(said[1]) * {"m": 1e-3, "b": 1.0, "t": 1e3}[said[2].lower()]


def _made(name: str, shape: tuple[int, int, int, int, bool]) -> LanguageModel:
    layers, hidden, heads, vocab, gated = shape
    made = gpt(
        name, layers, hidden, heads, vocab, _INNER.get(hidden, 4 * hidden) * gated
    )
    if "palm" not in name:
        return made
    one = replace(made.kinds[0], attention=Attention(heads, 1, 256))
    return replace(made, kinds=(one,))


def _of_size(billions: float) -> LanguageModel:
    """A plain transformer of a size: twelve hidden squares a layer."""
    whole = billions * 1e9
    layers = max(1, round((whole / 12 / _ASPECT**2) ** (1 / 3)))
    # 12 layers hidden^2 + vocabulary hidden = whole
    table = 51200.0
    root = (math.sqrt(table**2 + 48 * layers * whole) - table) / (24 * layers)
    hidden = 128 * max(1, round(root / 128))
    heads = hidden // 128
    return _made(f"gpt {billions:g}b", (layers, hidden, heads, 51200, False))


@lru_cache(maxsize=512)
def _named(subject: str) -> LanguageModel:
    """The model that a subject names."""
    text = re.sub(r"[^a-z0-9.]+", " ", subject.lower()).strip()
    text = text.replace("gpt gpt 3 ", "gpt ").replace("mt nlg", "gpt")
    text = text.replace("gpt 3 175b", "gpt 175b").replace("megatron ", "gpt ")
    for key, shape in _SHAPES.items():
        if text == key or text.startswith(key + " "):
            return _made(key, shape)
    said = text
    known = {re.sub(r"[^a-z0-9.]+", " ", key): key for key in models.names()}
    for name in (said, said.split(" 671b")[0], said.replace("3.1", "3"), _short(said)):
        longer = [key for text, key in known.items() if text.startswith(f"{name} ")]
        if name in known or len(longer) == 1:
            return models.get(known.get(name) or longer[0])
    billions = _size(text)
    active = re.search(r"a\d+b|active|moe|x\d+b", text)
    if billions is None or active:
        raise Refusal(
            f"no shape of model {subject!r}: config does not give 'hidden', 'layers' "
            "and 'heads', and no known model has the name"
        )
    return _of_size(billions)


def _short(text: str) -> str:
    """A name without words that say how it was tuned or which release it is."""
    return re.sub(r" (v0\.\d|instruct|base|hf|chat)\b", "", text).replace(" v", "-v")


def model_of(row: Measurement) -> LanguageModel:
    """The model of a row: by its sizes where it gives them, by its name elsewhere."""
    if key(row, "hidden") and key(row, "layers"):
        sizes = [row.integer(k) for k in ("layers", "hidden", "heads")]
        vocab = row.integer("vocab", 51200)
        return _made(row.subject.lower(), (*sizes, vocab, False))  # type: ignore[arg-type]
    if row.subject.lower() in ("gpt", "transformer"):
        billions = _size(row.settings)
        if billions is None:
            raise Refusal("model_or_kernel and config name no model size")
        return _of_size(billions)
    return _named(row.subject)

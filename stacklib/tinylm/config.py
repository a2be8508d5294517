"""The shape of the book's models, read from a Hugging Face `config.json`."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any

from stacklib.models import ConfigError, LanguageModel, from_hf_config
from stacklib.quantity import Source
from stacklib.quantity.bounds import is_whole
from stacklib.quantizers import checkpoints

DATA = Path(__file__).parent / "data"
NAMES = ("tiny", "draft", "draft_plain")

KIND = "LlamaForCausalLM"  # the one architecture that the forward pass runs


@dataclass(frozen=True, slots=True)
class Config:
    """Sizes of a LLaMA-style decoder with tied embeddings, by their config names.

    Parameters
    ----------
    vocab_size, hidden_size, intermediate_size : int
        Ids, width of the residual stream, width inside the feed-forward.
    num_hidden_layers : int
        Blocks.
    num_attention_heads, num_key_value_heads, head_dim : int
        Query heads, the heads of keys and values they share, numbers in each.
    max_position_embeddings : int
        Longest sequence, in tokens.
    rms_norm_eps, rope_theta : float
        Added under the root of the norm; base of the rotary angles.
    rope_turns : tuple of float
        By what each plane of a head turns more slowly; none: as the base says.
    """

    vocab_size: int
    hidden_size: int
    intermediate_size: int
    num_hidden_layers: int
    num_attention_heads: int
    num_key_value_heads: int
    head_dim: int
    max_position_embeddings: int
    rms_norm_eps: float
    rope_theta: float
    rope_turns: tuple[float, ...] = ()

    @property
    def groups(self) -> int:
        """Query heads that share one head of keys and values."""
        return self.num_attention_heads // self.num_key_value_heads


def read_config(path: Path) -> Config:
    """The sizes in a `config.json`."""
    try:
        table = json.loads(path.read_text())
    except ValueError as error:
        raise ConfigError(f"{path.name}: not JSON: {error}") from None
    if not isinstance(table, dict):
        raise ConfigError(f"{path.name}: a table is needed, not {table!r:.40}")
    if table.get("architectures") != [KIND] or not table.get("tie_word_embeddings"):
        raise ConfigError(f"{path.name}: a {KIND} with tied embeddings is needed")
    sizes: dict[str, Any] = {}
    for name in (each.name for each in fields(Config) if each.name != "rope_turns"):
        value: Any = table.get(name)
        if not (is_whole(value) or isinstance(value, float)) or value <= 0:
            raise ConfigError(f"{path.name}: {name} = {value!r}: it must be positive")
        sizes[name] = value
    config = Config(**sizes)
    if config.num_attention_heads % config.num_key_value_heads or config.head_dim % 2:
        raise ConfigError(
            f"{path.name}: {config.num_attention_heads} query heads over "
            f"{config.num_key_value_heads} key-value heads of {config.head_dim}: "
            "heads must divide evenly and be even in size"
        )
    return config


@cache
def architecture(name: str) -> LanguageModel:
    """One of the book's models, its config read as every other model's is."""
    source = Source(
        "the book's own model", f"stacklib/tinylm/data/{name}", "2026-11-21", "vendor"
    )
    path = DATA / name / "config.json"
    return from_hf_config(path, key=f"tinylm-{name}", source=source)


def shapes(config: Config) -> dict[str, tuple[int, ...]]:
    """Every weight by its Hugging Face name, in the order of the forward pass."""
    return checkpoints.shapes(asdict(config))

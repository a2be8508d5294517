"""Language models by shape: parameters, KV bytes and work follow by counting.

``get("llama-3-70b")`` finds a model of the database; ``from_hf_config`` reads
any supported ``config.json``, ``from_file`` whatever there is of a release (a GGUF,
safetensors, a folder), its weights as they are stored; ``operations`` and
``work_per_token`` count the work of prefill and decode layer by layer; ``audit`` holds
every counted parameter to the published count.
"""

from __future__ import annotations

from .block import Block
from .compressed import CompressedAttention
from .config import SUPPORTED, from_hf_config
from .database import audit, get, names, published, published_parameters
from .files.gguf import from_gguf
from .files.opened import from_file
from .files.safetensors import from_safetensors
from .language_model import LanguageModel
from .parts import (
    Attention,
    Experts,
    Indexer,
    LatentAttention,
    Matrix,
    Mlp,
)
from .reading import ConfigError
from .recurrent import Recurrent
from .work import Operation, operations, work_per_token

__all__ = [
    "Attention",
    "Block",
    "CompressedAttention",
    "ConfigError",
    "Experts",
    "Indexer",
    "LanguageModel",
    "LatentAttention",
    "Matrix",
    "Mlp",
    "Operation",
    "Recurrent",
    "SUPPORTED",
    "audit",
    "from_file",
    "from_gguf",
    "from_hf_config",
    "from_safetensors",
    "get",
    "names",
    "operations",
    "published",
    "published_parameters",
    "work_per_token",
]


def __dir__() -> list[str]:
    return sorted(__all__)

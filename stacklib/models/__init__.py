"""Language models by shape: parameters, KV bytes and work follow by counting.

``get("llama-3-70b")`` finds a model of the database; ``from_hf_config`` reads
any supported ``config.json``; ``operations`` and ``work_per_token`` count the
work of prefill and decode layer by layer; ``audit`` holds every counted
parameter to the published count.
"""

from __future__ import annotations

from .block import Block
from .compressed import CompressedAttention
from .config import SUPPORTED, from_hf_config
from .database import (
    AuditRow,
    Published,
    audit,
    get,
    names,
    published,
    published_parameters,
)
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
from .work import LayerWork, Operation, operations, work_per_token

__all__ = [
    "Attention",
    "AuditRow",
    "Block",
    "CompressedAttention",
    "ConfigError",
    "Experts",
    "Indexer",
    "LanguageModel",
    "LatentAttention",
    "LayerWork",
    "Matrix",
    "Mlp",
    "Operation",
    "Published",
    "Recurrent",
    "SUPPORTED",
    "audit",
    "from_hf_config",
    "get",
    "names",
    "operations",
    "published",
    "published_parameters",
    "work_per_token",
]


def __dir__() -> list[str]:
    return sorted(__all__)

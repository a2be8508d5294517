"""Language models by shape: parameters, KV bytes and work follow by counting.

``get("llama-3-70b")`` finds a model of the database; ``from_hf_config`` reads
any supported ``config.json``, ``from_file`` whatever there is of a release (a GGUF,
safetensors, a folder), its weights as they are stored; ``operations`` and
``work_per_token`` count the work of prefill and decode layer by layer; ``audit`` holds
every counted parameter to the published count.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stacklib import offer

if TYPE_CHECKING:
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
else:
    __all__, __getattr__, __dir__ = offer(__name__)

"""The book's own small language model: weights, tokenizer, NumPy forward, training.

``load`` gives the model, ``generate`` text from it. Trained by
``python -m stacklib.tinylm.train_torch`` on text that comes with every CPython and on
this book's own prose.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from .config import Config
from .tokenizer import Tokenizer, load_tokenizer

if TYPE_CHECKING:
    from .forward import KVCache
    from .model import TinyLM, generate, load
    from .sampling import Sampling
    from .weights import CorruptWeights

# What needs NumPy is imported when it is first asked for.
_LATER = {
    "CorruptWeights": "weights",
    "KVCache": "forward",
    "Sampling": "sampling",
    "TinyLM": "model",
    "generate": "model",
    "load": "model",
}


def __getattr__(name: str) -> Any:
    if name in _LATER:
        module = importlib.import_module(f"{__name__}.{_LATER[name]}")
        return getattr(module, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})  # also what is imported later


__all__ = [
    "Config",
    "CorruptWeights",
    "KVCache",
    "Sampling",
    "TinyLM",
    "Tokenizer",
    "generate",
    "load",
    "load_tokenizer",
]

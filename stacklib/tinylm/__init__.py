"""The book's own small language model: weights, tokenizer, NumPy forward, training.

``load`` gives the model, ``generate`` text from it. Trained by
``python -m stacklib.tinylm.train_torch`` on text that comes with every CPython and on
this book's own prose.
"""

from __future__ import annotations

from .config import Config
from .forward import KVCache
from .model import NAMES, TinyLM, generate, load
from .sampling import Sampling
from .tokenizer import Tokenizer, load_tokenizer
from .weights import CorruptWeights

__all__ = [
    "Config",
    "CorruptWeights",
    "KVCache",
    "NAMES",
    "Sampling",
    "TinyLM",
    "Tokenizer",
    "generate",
    "load",
    "load_tokenizer",
]

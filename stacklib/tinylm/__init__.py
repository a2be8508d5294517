"""The book's own small language model: weights, tokenizer, NumPy forward, training.

``load`` gives the model, ``generate`` text from it. Trained by
``python -m stacklib.tinylm.train_torch`` on text that comes with every CPython and on
this book's own prose.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stacklib import offer

if TYPE_CHECKING:
    from .config import Config
    from .forward import KVCache
    from .model import TinyLM, generate, load
    from .sampling import Sampling
    from .tokenizer import Tokenizer, load_tokenizer
    from .weights import CorruptWeights
else:
    __all__, __getattr__, __dir__ = offer(__name__)

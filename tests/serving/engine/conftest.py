"""A decoder with every mechanism of the real one and few numbers."""

from __future__ import annotations

import numpy as np
import pytest

from stacklib.tinylm import Config, TinyLM, load_tokenizer
from stacklib.tinylm.config import shapes

SIZES = Config(
    vocab_size=2048,
    hidden_size=16,
    intermediate_size=16,
    num_hidden_layers=2,
    num_attention_heads=4,
    num_key_value_heads=2,
    head_dim=4,
    max_position_embeddings=64,
    rms_norm_eps=1e-5,
    rope_theta=10000.0,
)


@pytest.fixture(scope="session")
def small() -> TinyLM:
    draw = np.random.default_rng(0)
    weights = {
        name: draw.normal(len(shape) == 1, 0.4, shape).astype(np.float32)
        for name, shape in shapes(SIZES).items()
    }
    return TinyLM("draft", SIZES, weights, load_tokenizer())

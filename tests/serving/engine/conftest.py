"""A decoder with every mechanism of the real one and few numbers."""

from __future__ import annotations

import pytest

from stacklib.tinylm import Config, TinyLM

from ...tinylm.conftest import random_model

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
    return random_model(SIZES, seed=1, scale=0.4)

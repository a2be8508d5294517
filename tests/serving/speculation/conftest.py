"""Models of five tokens with drawn weights, whose distributions can be written out."""

from __future__ import annotations

from dataclasses import replace

import pytest

from stacklib.tinylm import Config, TinyLM

from ...tinylm.conftest import random_model

FIVE = Config(
    vocab_size=5,
    hidden_size=8,
    intermediate_size=8,
    num_hidden_layers=1,
    num_attention_heads=2,
    num_key_value_heads=1,
    head_dim=4,
    max_position_embeddings=24,
    rms_norm_eps=1e-5,
    rope_theta=10000.0,
)


@pytest.fixture(scope="session")
def large() -> TinyLM:
    return random_model(FIVE, seed=3, scale=0.5)


@pytest.fixture(scope="session")
def little() -> TinyLM:
    """Its draft: narrower, and of another opinion."""
    return random_model(replace(FIVE, num_attention_heads=1), seed=8, scale=0.5)

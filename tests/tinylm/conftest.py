"""Small models with random weights: what a test of mechanism needs."""

import numpy as np
import pytest

from stacklib.tinylm import Config, TinyLM, load_tokenizer
from stacklib.tinylm.config import shapes


def random_model(config: Config, seed: int = 0, scale: float = 0.3) -> TinyLM:
    """A model of any size whose weights are drawn, not trained."""
    draw = np.random.default_rng(seed)
    weights = {
        name: (
            draw.normal(1, 0.1, shape)
            if len(shape) == 1
            else draw.normal(0, scale * (64 / shape[1]) ** 0.5 / 2, shape)
        ).astype(np.float32)
        for name, shape in shapes(config).items()
    }
    return TinyLM("draft", config, weights, load_tokenizer())


@pytest.fixture
def small_config() -> Config:
    """A decoder with every mechanism of the real one and few numbers."""
    return Config(
        vocab_size=2048,
        hidden_size=32,
        intermediate_size=48,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=8,
        max_position_embeddings=64,
        rms_norm_eps=1e-5,
        rope_theta=10000.0,
    )


@pytest.fixture
def build():
    """The function that builds random models."""
    return random_model


@pytest.fixture
def small(small_config) -> TinyLM:
    """A random model of that size."""
    return random_model(small_config)

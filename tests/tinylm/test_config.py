"""Configs: what the forward pass can run, and what it refuses by name."""

import json

import pytest

from stacklib.models import ConfigError
from stacklib.tinylm.config import DATA, read_config, shapes

GOOD = json.loads((DATA / "tiny" / "config.json").read_text())


def written(folder, text):
    """A config file of some text."""
    path = folder / "config.json"
    path.write_text(text if isinstance(text, str) else json.dumps(text))
    return path


def test_names_and_shapes_follow_the_sizes(tmp_path):
    config = read_config(written(tmp_path, GOOD))
    named = shapes(config)
    assert named["model.embed_tokens.weight"] == (2048, 256)
    assert named["model.layers.3.self_attn.k_proj.weight"] == (64, 256)
    assert config.groups == 4 and len(named) == 2 + 9 * 4


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not JSON"),
        ("[]", "a table is needed"),
        ("7", "a table is needed"),
        ({}, "tied embeddings"),
        ({**GOOD, "tie_word_embeddings": False}, "tied"),
        ({**GOOD, "architectures": ["GPT2LMHeadModel"]}, "LlamaForCausalLM"),
        ({**GOOD, "hidden_size": 0}, "hidden_size = 0"),
        ({**GOOD, "head_dim": None}, "head_dim = None"),
        ({**GOOD, "num_key_value_heads": 3}, "8 query heads over 3"),
        ({**GOOD, "head_dim": 31}, "even in size"),
    ],
)
def test_what_cannot_be_run_is_refused(tmp_path, text, message):
    with pytest.raises(ConfigError, match=message):
        read_config(written(tmp_path, text))
